-- PyramidNets for small images: basic blocks that widen by a few channels each. Han et al. 2017, "Deep pyramidal residual
-- networks", section 4.1, the block of figure 6 (d) with the shortcut of figure 5 (b).
network{
  form = "pyramidnet{depth}-a{alpha}",
  reads = "images",
  about = "Han et al. 2017, for small images; DEPTH is 6n + 2. For example pyramidnet110-a270",
}
local depth = parameter("depth", 110, "number of convolutions and linear layers: 6 n + 2", {min = 8, max = 2000})
local alpha = parameter("alpha", 270, "channels added from the first block's input (16) to the last block's output",
                        {min = 1, max = 100000})
if (depth - 2) % 6 ~= 0 then
  refuse(("a PyramidNet has a depth of 6 n + 2, not %d. Nearest: %d"):format(depth, (depth + 1) // 6 * 6 + 2))
end
if input.height % 4 ~= 0 or input.width % 4 ~= 0 then
  refuse(("the data holds %dx%d images; a PyramidNet halves them twice, so both sides must be divisible by 4."):format(
    input.height, input.width))
end

-- Rounds to the nearest whole number; halves go to the even one.
local function round(x)
  local below = math.floor(x)
  local rest = x - below
  if rest > 0.5 or (rest == 0.5 and below % 2 == 1) then return below + 1 end
  return below
end

-- The shortcut is x with channels of zeros after its own, averaged over 2 x 2 pixels at stride 2. No ReLU follows the sum.
local function block(x, filters, stride)
  local a = batch_norm("bn1", x)
  local b = relu(batch_norm("bn2", conv("conv1", a, {filters, kernel = 3, stride = stride})))
  local c = batch_norm("bn3", conv("conv2", b, {filters, kernel = 3}))
  local padded = pad_channels(x, filters)
  return c + (stride > 1 and average_pool(padded, 2) or padded)
end

local x = cell("stem", {prefix = ""}, function()
  return batch_norm("bn1", conv("conv1", feature("image"), {16, kernel = 3}))
end)
local blocks = (depth - 2) // 6
local channels = 16.0
for stage = 1, 3 do
  for i = 0, blocks - 1 do
    local stride = stage > 1 and i == 0 and 2 or 1
    channels = channels + alpha / (3 * blocks)
    x = cell(("layer%d.%d"):format(stage, i), function(x) return block(x, round(channels), stride) end, x)
  end
end
return cell("head", {prefix = ""}, function(x)
  return logits("fc", global_average_pool(relu(batch_norm("bn_final", x))), num_classes)
end, x)
