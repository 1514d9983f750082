-- Vision Transformers. Dosovitskiy et al. 2020, "An image is worth 16x16 words", figure 1 and table 1. The names of
-- parameters are those of torchvision. The two smaller sizes: Touvron et al. 2020, "Training data-efficient image
-- transformers", table 1.
network{
  form = "vit_{size}_{patch}",
  reads = "images", image_size = 224, classes = 1000,
  about = "Dosovitskiy et al. 2020, SIZE b or l, and Touvron et al. 2020, SIZE ti or s; PATCH divides the image's sides. " ..
          "vit_b_16, vit_b_32 and vit_l_16 have torchvision's names of parameters and counts; vit_ti_4 is for small images",
}
local size = parameter("size", "b", "layers and width: ti 12 x 192, s 12 x 384, b 12 x 768, l 24 x 1024",
                       {"ti", "s", "b", "l"})
local patch = parameter("patch", 16, "side of a patch in pixels", {min = 1, max = 64})
local last_drop = parameter("stochastic_depth", 0.0, "share of samples that skip the last block; it falls to 0 at the first",
                            {min = 0, max = 0.999999})
local layers = size == "l" and 24 or 12
local width = ({ti = 192, s = 384, b = 768, l = 1024})[size]
if input.height % patch ~= 0 or input.width % patch ~= 0 then
  refuse(("patches of %d x %d pixels do not divide the data's %dx%dx%d images. Give augment.size a multiple of %d, or take " ..
          "other patches."):format(patch, patch, input.height, input.width, input.channels, patch))
end

local function norm(name, x) return layer_norm(name, x, 1e-6) end
-- Initial weights: Glorot & Bengio 2010. Initial biases are almost 0.
local function fully_connected(name, x, outputs)
  local bound = math.sqrt(6 / (x.channels + outputs))
  return linear(name, x, {outputs, initial_weight = uniform(bound), initial_bias = normal(1e-6)})
end

local function encoder_layer(x, drop)
  local attention = self_attention("self_attention", norm("ln_1", x), width // 64)
  local a = x + stochastic_depth(attention, drop)
  local h = gelu(fully_connected("mlp.0", norm("ln_2", a), 4 * width))
  return a + stochastic_depth(fully_connected("mlp.3", h, width), drop)
end

local x = cell("embedding", {prefix = ""}, function()
  local fan_in = patch * patch * input.channels
  local patches = conv("conv_proj", feature("image"), {width, kernel = patch, stride = patch, padding = 0, bias = true,
                                                        initial_weight = normal(math.sqrt(1 / fan_in))})
  local words = class_token("class_token", patches)
  return words + position_table("encoder.pos_embedding", words, 0.02)
end)
for i = 0, layers - 1 do
  local drop = last_drop * i / (layers - 1)
  x = cell(("encoder.layers.encoder_layer_%d"):format(i), function(x) return encoder_layer(x, drop) end, x)
end
-- The output of the class token represents the image.
return cell("head", {prefix = ""}, function(x)
  return logits("heads.head", norm("encoder.ln", first_word(x)), num_classes)
end, x)
