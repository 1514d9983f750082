-- ResNets for small images. He et al. 2015, "Deep residual learning for image recognition", section 4.2: three stages of n
-- blocks with 16, 32 and 64 filters, shortcuts without parameters.
local name = network{
  names = {"resnet20", "resnet32", "resnet44", "resnet56", "resnet110"},
  reads = "images",
  about = "He et al. 2015, section 4.2, for small images",
}
local depth = tonumber(name:sub(7))  -- "resnet20": 20 = 6 n + 2

local function shortcut(x, y, stride)
  if x.channels == y.channels and stride == 1 then return x end
  return pad_channels(x, {y.channels, before = (y.channels - x.channels) // 2, stride = stride})
end

local function basic_block(x, filters, stride)
  local b = relu(batch_norm("bn1", conv("conv1", x, {filters, kernel = 3, stride = stride})))
  local c = batch_norm("bn2", conv("conv2", b, {filters, kernel = 3}))
  return relu(c + shortcut(x, c, stride))
end

local x = cell("stem", {prefix = ""}, function()
  return relu(batch_norm("bn1", conv("conv1", feature("image"), {16, kernel = 3})))
end)
for stage, filters in ipairs{16, 32, 64} do
  for block = 0, (depth - 2) // 6 - 1 do
    local stride = stage > 1 and block == 0 and 2 or 1
    x = cell(("layer%d.%d"):format(stage, block), function(x) return basic_block(x, filters, stride) end, x)
  end
end
return cell("head", {prefix = ""}, function(x) return logits("fc", global_average_pool(x), num_classes) end, x)
