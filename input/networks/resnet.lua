-- ResNets for photographs. He et al. 2015, "Deep residual learning for image recognition", table 1, with the stride in the
-- 3 x 3 convolution (v1.5). The names of parameters are those of torchvision.
-- Wide: Zagoruyko & Komodakis 2016, "Wide residual networks". ResNeXt: Xie et al. 2016, "Aggregated residual
-- transformations", figure 3 (c).
local name = network{
  names = {"resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "wide_resnet50_2", "wide_resnet101_2",
           "resnext50_32x4d", "resnext101_32x8d"},
  reads = "images", image_size = 224, classes = 1000,
  about = "He et al. 2015 for photographs; v1.5: the stride is in the 3 x 3 convolution. Wide: Zagoruyko & Komodakis 2016. " ..
          "ResNeXt: Xie et al. 2016. Names of parameters and their counts are those of torchvision",
}
local sizes = {
  resnet18 = {2, 2, 2, 2, basic = true},
  resnet34 = {3, 4, 6, 3, basic = true},
  resnet50 = {3, 4, 6, 3},
  resnet101 = {3, 4, 23, 3},
  resnet152 = {3, 8, 36, 3},
  wide_resnet50_2 = {3, 4, 6, 3, filters = 128},
  wide_resnet101_2 = {3, 4, 23, 3, filters = 128},
  resnext50_32x4d = {3, 4, 6, 3, filters = 32 * 4, groups = 32},
  resnext101_32x8d = {3, 4, 23, 3, filters = 32 * 8, groups = 32},
}
local size = sizes[name]

local function shortcut(x, y, stride)
  if x.channels == y.channels and stride == 1 then return x end
  return batch_norm("downsample.1", conv("downsample.0", x, {y.channels, stride = stride}))
end

local function basic_block(x, filters, stride)
  local b = relu(batch_norm("bn1", conv("conv1", x, {filters, kernel = 3, stride = stride})))
  local c = batch_norm("bn2", conv("conv2", b, {filters, kernel = 3}))
  return relu(c + shortcut(x, c, stride))
end

local function bottleneck(x, filters, outputs, stride)
  local b = relu(batch_norm("bn1", conv("conv1", x, {filters})))
  local c = relu(batch_norm("bn2", conv("conv2", b, {filters, kernel = 3, stride = stride, groups = size.groups or 1})))
  local d = batch_norm("bn3", conv("conv3", c, {outputs}))
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
      return bottleneck(x, (size.filters or 64) * scale, 256 * scale, stride)
    end, x)
  end
end
return cell("head", {prefix = ""}, function(x) return logits("fc", global_average_pool(x), num_classes) end, x)
