-- Wide residual networks for small images. Zagoruyko & Komodakis 2016, "Wide residual networks", table 1, with blocks of
-- two 3 x 3 convolutions that begin with batch norm and ReLU, without dropout.
network{
  form = "wrn{depth}-{width}",
  reads = "images",
  about = "Zagoruyko & Komodakis 2016, for small images, without dropout; DEPTH is 6n + 4. For example wrn28-10",
}
local depth = parameter("depth", 28, "number of convolutions and linear layers: 6 n + 4", {min = 10, max = 2000})
local width = parameter("width", 10, "factor of 16, 32 and 64 filters", {min = 1, max = 1000})
if (depth - 4) % 6 ~= 0 then
  refuse(("a wide residual network has a depth of 6 n + 4, not %d. Nearest: %d"):format(depth, (depth - 1) // 6 * 6 + 4))
end

-- If the shapes differ, the shortcut is a convolution of the output of the first batch norm and ReLU; else it is x.
local function block(x, filters, stride)
  local a = relu(batch_norm("bn1", x))
  local b = relu(batch_norm("bn2", conv("conv1", a, {filters, kernel = 3, stride = stride})))
  local c = conv("conv2", b, {filters, kernel = 3})
  if x.channels == filters and stride == 1 then return c + x end
  return c + conv("downsample", a, {filters, stride = stride})
end

local x = cell("stem", {prefix = ""}, function() return conv("conv1", feature("image"), {16, kernel = 3}) end)
for stage, filters in ipairs{16 * width, 32 * width, 64 * width} do
  for i = 0, (depth - 4) // 6 - 1 do
    local stride = stage > 1 and i == 0 and 2 or 1
    x = cell(("layer%d.%d"):format(stage, i), function(x) return block(x, filters, stride) end, x)
  end
end
return cell("head", {prefix = ""}, function(x)
  return logits("fc", global_average_pool(relu(batch_norm("bn_final", x))), num_classes)
end, x)
