-- ConvNeXts for photographs. Liu et al. 2022, "A ConvNet for the 2020s", figure 4 and section 2. The names of parameters are
-- those of torchvision. The smallest is of Woo et al. 2023, "ConvNeXt V2", table 9, with the blocks of the first paper.
local name = network{
  names = {"convnext_atto", "convnext_tiny", "convnext_small", "convnext_base"},
  reads = "images", image_size = 224, classes = 1000,
  about = "Liu et al. 2022, for photographs of at least 32 x 32; model.stochastic_depth is 0.1 in the paper's training of " ..
          "tiny, 0.4 of small, 0.5 of base. atto: Woo et al. 2023. Names of parameters and their counts are those of torchvision",
}
local sizes = {
  convnext_atto = {2, 2, 6, 2, channels = 40},
  convnext_tiny = {3, 3, 9, 3, channels = 96},
  convnext_small = {3, 3, 27, 3, channels = 96},
  convnext_base = {3, 3, 27, 3, channels = 128},
}
local size = sizes[name]
local last_drop = parameter("stochastic_depth", 0.0, "share of samples that skip the last block; it falls to 0 at the first",
                            {min = 0, max = 0.999999})
if math.min(input.height, input.width) < 32 then
  refuse(("the data holds %dx%dx%d images; each side must be at least 32 pixels. Import larger ones (import.size), or " ..
          "take a network for small images."):format(input.height, input.width, input.channels))
end

local weights = normal(0.02)

local function norm(name, x) return layer_norm(name, x, 1e-6) end
local function fully_connected(name, x, outputs)
  return linear(name, x, {outputs, initial_weight = weights, initial_bias = constant(0)})
end
-- Makes one pixel of each patch of side x side pixels.
local function patches(name, x, side, channels)
  return conv(name, x, {channels, kernel = side, stride = side, padding = 0, bias = true, initial_weight = weights})
end

local function block(x, drop)
  local c = x.channels
  local depthwise = conv("block.0", x, {c, kernel = 7, groups = c, bias = true, initial_weight = weights})
  local a = gelu(fully_connected("block.3", norm("block.2", depthwise), 4 * c))
  return x + stochastic_depth(layer_scale("layer_scale", fully_connected("block.5", a, c), 1e-6), drop)
end

local x = cell("features.0", function() return norm("1", patches("0", feature("image"), 4, size.channels)) end)
local last = size[1] + size[2] + size[3] + size[4] - 1
local index = 0
for stage = 1, 4 do
  if stage > 1 then
    x = cell(("features.%d"):format(2 * stage - 2), function(x)
      return patches("1", norm("0", x), 2, 2 * x.channels)
    end, x)
  end
  for i = 0, size[stage] - 1 do
    local drop = last_drop * index / last
    x = cell(("features.%d.%d"):format(2 * stage - 1, i), function(x) return block(x, drop) end, x)
    index = index + 1
  end
end
return cell("classifier", function(x) return logits("2", norm("0", global_average_pool(x)), num_classes) end, x)
