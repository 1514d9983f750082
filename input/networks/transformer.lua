-- The Transformer's encoder for classes of texts, with a mean over the words. Vaswani et al. 2017, "Attention is all you
-- need", figure 1 (left). The names of parameters are those of torch.nn.TransformerEncoder.
network{
  names = {"transformer"},
  reads = "text",
  about = "Vaswani et al. 2017: the encoder, with a mean over the words, for texts. model.layers, model.heads, model.width " ..
          "and model.feedforward set its size",
}
local layers = parameter("layers", 2, "layers of attention and feed-forward network, each a cell", {min = 1, max = 1000})
local heads = parameter("heads", 4, "heads of each attention; they share the width evenly", {min = 1, max = 1024})
local width = parameter("width", 128, "values that represent a word between layers", {min = 1, max = 65536})
local feedforward = parameter("feedforward", 512, "values that represent a word inside the feed-forward network",
                              {min = 1, max = 1048576})
local drop = parameter("dropout", 0.1, "share of values, and of attention weights, set to 0 in training",
                       {min = 0, max = 0.999999})
local activation = parameter("activation", "relu", "function inside the feed-forward network",
                             {"relu", "gelu", "gelu_tanh", "tanh"})
local positions = parameter("positions", "sinusoids", "encoding of a word's position", {"sinusoids", "learned"})
local norm = parameter("norm", "after", "layer norms after the sums of a layer, or before its parts", {"after", "before"})
if width % heads ~= 0 then
  refuse(("model.heads = %d does not divide model.width = %d: each head has the same share of the width."):format(heads,
                                                                                                                  width))
end
local activate = ({relu = relu, gelu = gelu, gelu_tanh = gelu_tanh, tanh = tanh})[activation]

-- The sum of the embedding of each token and of that of its position.
local function embed(tokens)
  if positions == "learned" then
    return embedding("embedding", tokens, {input.vocabulary, width = width, stddev = 0.02}) +
           position_embedding("position_embedding", tokens, {input.length, width = width, stddev = 0.02})
  end
  -- Vaswani et al. 2017, section 3.4: rows are multiplied by sqrt(C), so that words are as large as the sinusoids.
  local root = math.sqrt(width)
  return embedding("embedding", tokens, {input.vocabulary, width = width, stddev = 1 / root, scale = root,
                                         sinusoids = true})
end

local function encoder_layer(x, lengths)
  local function attend(v)
    return dropout(self_attention("self_attn", v, lengths, {heads, dropout = drop}), drop)
  end
  local function feed_forward(v)
    local h = activate(linear("linear1", v, feedforward))
    return dropout(linear("linear2", dropout(h, drop), width), drop)
  end
  if norm == "before" then
    local a = x + attend(layer_norm("norm1", x))
    return a + feed_forward(layer_norm("norm2", a))
  end
  local a = layer_norm("norm1", x + attend(x))
  return layer_norm("norm2", a + feed_forward(a))
end

local x = cell("embedding", {prefix = ""}, function() return dropout(embed(feature("tokens")), drop) end)
for i = 0, layers - 1 do
  x = cell(("layers.%d"):format(i), function(x) return encoder_layer(x, feature("length")) end, x)
end
return cell("classifier", {prefix = ""}, function(x)
  local lengths = feature("length")
  if norm == "before" then x = layer_norm("norm", x) end
  return logits("classifier", sequence_mean(x, lengths), num_classes)
end, x)
