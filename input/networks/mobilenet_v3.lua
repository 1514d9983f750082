-- MobileNets, version 3, for photographs. Howard et al. 2019, "Searching for MobileNetV3", tables 1 and 2. The names of
-- parameters are those of torchvision.
local name = network{
  names = {"mobilenet_v3_small", "mobilenet_v3_large"},
  reads = "images", image_size = 224, classes = 1000,
  about = "Howard et al. 2019, for photographs. Torchvision trains with classifier_dropout = 0.2. Names of parameters and " ..
          "their counts are those of torchvision",
}
local share = parameter("classifier_dropout", 0.0, "probability that training sets a value before the last layer to 0",
                        {min = 0, max = 0.999999})

-- A block: kernel, channels inside, channels of the result, stride, whether it has squeeze-and-excitation, activation.
local blocks = ({
  mobilenet_v3_small = {
    {3, 16, 16, 2, true, relu},
    {3, 72, 24, 2, false, relu},
    {3, 88, 24, 1, false, relu},
    {5, 96, 40, 2, true, hard_swish},
    {5, 240, 40, 1, true, hard_swish},
    {5, 240, 40, 1, true, hard_swish},
    {5, 120, 48, 1, true, hard_swish},
    {5, 144, 48, 1, true, hard_swish},
    {5, 288, 96, 2, true, hard_swish},
    {5, 576, 96, 1, true, hard_swish},
    {5, 576, 96, 1, true, hard_swish},
  },
  mobilenet_v3_large = {
    {3, 16, 16, 1, false, relu},
    {3, 64, 24, 2, false, relu},
    {3, 72, 24, 1, false, relu},
    {5, 72, 40, 2, true, relu},
    {5, 120, 40, 1, true, relu},
    {5, 120, 40, 1, true, relu},
    {3, 240, 80, 2, false, hard_swish},
    {3, 200, 80, 1, false, hard_swish},
    {3, 184, 80, 1, false, hard_swish},
    {3, 184, 80, 1, false, hard_swish},
    {3, 480, 112, 1, true, hard_swish},
    {3, 672, 112, 1, true, hard_swish},
    {5, 672, 160, 2, true, hard_swish},
    {5, 960, 160, 1, true, hard_swish},
    {5, 960, 160, 1, true, hard_swish},
  },
})[name]
local last_width = ({mobilenet_v3_small = 1024, mobilenet_v3_large = 1280})[name]

-- A convolution with its batch norm, named NAME.0 and NAME.1.
local function convolution(name, x, arguments)
  return batch_norm(name .. ".1", conv(name .. ".0", x, arguments), {epsilon = 1e-3, momentum = 0.01})
end

-- A quarter of the channels, as a multiple of 8 that is not more than a tenth below.
local function squeezed(channels)
  local wanted = channels // 4
  local nearest = math.max(8, (wanted + 4) // 8 * 8)
  return nearest < 0.9 * wanted and nearest + 8 or nearest
end

local function squeeze_and_excite(name, x)
  local a = relu(conv(name .. ".fc1", global_average_pool(x), {squeezed(x.channels), bias = true}))
  return x * hard_sigmoid(conv(name .. ".fc2", a, {x.channels, bias = true}))
end

local function block(x, kernel, wide, channels, stride, is_excited, activation)
  local index, y = 0, x
  local function next_name()
    index = index + 1
    return ("block.%d"):format(index - 1)
  end
  if wide ~= x.channels then y = activation(convolution(next_name(), y, {wide})) end
  y = activation(convolution(next_name(), y, {wide, kernel = kernel, stride = stride, groups = wide}))
  if is_excited then y = squeeze_and_excite(next_name(), y) end
  y = convolution(next_name(), y, {channels})
  return stride == 1 and x.channels == channels and x + y or y
end

local x = cell("features.0", {prefix = "features."}, function()
  return hard_swish(convolution("0", feature("image"), {16, kernel = 3, stride = 2}))
end)
for index, settings in ipairs(blocks) do
  x = cell(("features.%d"):format(index), function(x) return block(x, table.unpack(settings)) end, x)
end
local last = ("%d"):format(#blocks + 1)
x = cell("features." .. last, {prefix = "features."}, function(x)
  return hard_swish(convolution(last, x, {6 * x.channels}))
end, x)
return cell("classifier", function(x)
  local a = linear("0", global_average_pool(x),
                   {last_width, initial_weight = normal(0.01), initial_bias = constant(0)})
  return logits("3", dropout(hard_swish(a), share), num_classes)
end, x)
