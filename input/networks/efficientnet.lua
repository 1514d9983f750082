-- EfficientNets for photographs. Tan & Le 2019, "EfficientNet: Rethinking model scaling for convolutional neural networks",
-- table 1, scaled as in section 3.3. The names of parameters are those of torchvision.
local name = network{
  names = {"efficientnet_b0", "efficientnet_b1", "efficientnet_b2", "efficientnet_b3", "efficientnet_b4", "efficientnet_b5",
           "efficientnet_b6", "efficientnet_b7"},
  reads = "images", image_size = 224, classes = 1000,
  about = "Tan & Le 2019, for photographs. Torchvision trains with stochastic_depth = 0.2 and with classifier_dropout = 0.2 " ..
          "(b0, b1), 0.3 (b2, b3), 0.4 (b4, b5) or 0.5. Names of parameters and their counts are those of torchvision",
}
local last_drop = parameter("stochastic_depth", 0.0, "share of samples that would skip a block after the last one; it is 0 at " ..
                            "the first, and grows from block to block", {min = 0, max = 0.999999})
local share = parameter("classifier_dropout", 0.0, "probability that training sets a value before the last layer to 0",
                        {min = 0, max = 0.999999})

-- Factors of channels and of blocks. From b5 on, torchvision has other settings of batch norm.
local scales = {
  efficientnet_b0 = {width = 1.0, depth = 1.0},
  efficientnet_b1 = {width = 1.0, depth = 1.1},
  efficientnet_b2 = {width = 1.1, depth = 1.2},
  efficientnet_b3 = {width = 1.2, depth = 1.4},
  efficientnet_b4 = {width = 1.4, depth = 1.8},
  efficientnet_b5 = {width = 1.6, depth = 2.2, epsilon = 1e-3, momentum = 0.01},
  efficientnet_b6 = {width = 1.8, depth = 2.6, epsilon = 1e-3, momentum = 0.01},
  efficientnet_b7 = {width = 2.0, depth = 3.1, epsilon = 1e-3, momentum = 0.01},
}
local scale = scales[name]
local stages = {
  {expansion = 1, kernel = 3, stride = 1, channels = 16, blocks = 1},
  {expansion = 6, kernel = 3, stride = 2, channels = 24, blocks = 2},
  {expansion = 6, kernel = 5, stride = 2, channels = 40, blocks = 2},
  {expansion = 6, kernel = 3, stride = 2, channels = 80, blocks = 3},
  {expansion = 6, kernel = 5, stride = 1, channels = 112, blocks = 3},
  {expansion = 6, kernel = 5, stride = 2, channels = 192, blocks = 4},
  {expansion = 6, kernel = 3, stride = 1, channels = 320, blocks = 1},
}

-- The nearest multiple of 8 that is not more than a tenth below.
local function scaled(channels)
  local wanted = channels * scale.width
  local nearest = math.max(8, (wanted + 4) // 8 * 8)
  return math.tointeger(nearest < 0.9 * wanted and nearest + 8 or nearest)
end

local function norm(name, x)
  return batch_norm(name, x, {epsilon = scale.epsilon, momentum = scale.momentum})
end

-- A convolution with its batch norm, named NAME.0 and NAME.1.
local function convolution(name, x, arguments)
  return norm(name .. ".1", conv(name .. ".0", x, arguments))
end

local function squeeze_and_excite(name, x, channels)
  local a = silu(conv(name .. ".fc1", global_average_pool(x), {channels, bias = true}))
  return x * sigmoid(conv(name .. ".fc2", a, {x.channels, bias = true}))
end

local function block(x, stage, stride, drop)
  local channels, wide = scaled(stage.channels), x.channels * stage.expansion
  local index, y = 0, x
  local function next_name()
    index = index + 1
    return ("block.%d"):format(index - 1)
  end
  if wide ~= x.channels then y = silu(convolution(next_name(), y, {wide})) end
  y = silu(convolution(next_name(), y, {wide, kernel = stage.kernel, stride = stride, groups = wide}))
  y = squeeze_and_excite(next_name(), y, math.max(1, x.channels // 4))
  y = convolution(next_name(), y, {channels})
  if stride == 1 and x.channels == channels then return x + stochastic_depth(y, drop) end
  return y
end

local x = cell("features.0", {prefix = "features."}, function()
  return silu(convolution("0", feature("image"), {scaled(32), kernel = 3, stride = 2}))
end)
local num_blocks, index = 0, 0
for _, stage in ipairs(stages) do
  stage.blocks = math.ceil(stage.blocks * scale.depth)
  num_blocks = num_blocks + stage.blocks
end
for number, stage in ipairs(stages) do
  for i = 0, stage.blocks - 1 do
    local stride, drop = i == 0 and stage.stride or 1, last_drop * index / num_blocks
    x = cell(("features.%d.%d"):format(number, i), function(x) return block(x, stage, stride, drop) end, x)
    index = index + 1
  end
end
x = cell("features.8", {prefix = "features."}, function(x) return silu(convolution("8", x, {4 * x.channels})) end, x)
return cell("classifier", function(x) return logits("1", dropout(global_average_pool(x), share), num_classes) end, x)
