-- ResNets whose blocks weigh their channels. Hu et al. 2018, "Squeeze-and-excitation networks", figure 3 and table 1; the
-- ResNets are those of resnet.lua. The names of parameters are those of torchvision's ResNets and of its
-- SqueezeExcitation, which is named se.
local name = network{
  names = {"se_resnet18", "se_resnet34", "se_resnet50", "se_resnet101", "se_resnet152"},
  reads = "images", image_size = 224, classes = 1000,
  about = "Hu et al. 2018 for photographs: ResNets with squeeze-and-excitation in each block",
}
local reduction = parameter("reduction", 16, "number of channels of a block, divided by that between its two layers of " ..
                            "squeeze-and-excitation", {min = 1, max = 64})
local sizes = {
  se_resnet18 = {2, 2, 2, 2, basic = true},
  se_resnet34 = {3, 4, 6, 3, basic = true},
  se_resnet50 = {3, 4, 6, 3},
  se_resnet101 = {3, 4, 23, 3},
  se_resnet152 = {3, 8, 36, 3},
}
local size = sizes[name]

local function squeeze_and_excite(x)
  local a = relu(conv("se.fc1", global_average_pool(x), {x.channels // reduction, bias = true}))
  return x * sigmoid(conv("se.fc2", a, {x.channels, bias = true}))
end

local function shortcut(x, y, stride)
  if x.channels == y.channels and stride == 1 then return x end
  return batch_norm("downsample.1", conv("downsample.0", x, {y.channels, stride = stride}))
end

local function basic_block(x, filters, stride)
  local b = relu(batch_norm("bn1", conv("conv1", x, {filters, kernel = 3, stride = stride})))
  local c = squeeze_and_excite(batch_norm("bn2", conv("conv2", b, {filters, kernel = 3})))
  return relu(c + shortcut(x, c, stride))
end

local function bottleneck(x, filters, outputs, stride)
  local b = relu(batch_norm("bn1", conv("conv1", x, {filters})))
  local c = relu(batch_norm("bn2", conv("conv2", b, {filters, kernel = 3, stride = stride})))
  local d = squeeze_and_excite(batch_norm("bn3", conv("conv3", c, {outputs})))
  return relu(d + shortcut(x, d, stride))
end

local x = cell("stem", {prefix = ""}, function()
  local a = conv("conv1", feature("image"), {64, kernel = 7, stride = 2})
  return max_pool(relu(batch_norm("bn1", a)), {3, stride = 2, padding = 1})
end)
for stage = 1, 4 do
  local scale = 2 ^ (stage - 1)
  for block = 0, size[stage] - 1 do
    local stride = stage > 1 and block == 0 and 2 or 1
    x = cell(("layer%d.%d"):format(stage, block), function(x)
      if size.basic then return basic_block(x, 64 * scale, stride) end
      return bottleneck(x, 64 * scale, 256 * scale, stride)
    end, x)
  end
end
return cell("head", {prefix = ""}, function(x) return logits("fc", global_average_pool(x), num_classes) end, x)
