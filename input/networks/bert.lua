-- BERT: pre-training on masked words and next sentences, and a classifier that begins with the weights of pre-training.
-- Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding". Both networks use
-- the same names for the parameters that they share.
local name = network{
  names = {"bert", "bert_classifier"},
  reads = "text",
  about = "Devlin et al. 2018, BERT; its size is given by the same keys as transformer's. bert predicts masked words and " ..
          "whether one span of a text follows another; bert_classifier starts from the weights of bert (init.weights) and " ..
          "predicts classes",
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

local classifies = name == "bert_classifier"
local samples = classifies and "marked" or "pair"  -- the first part of the names of the features
if input.length < 8 then
  refuse(("model.length = %d is too short for %s, which reads two spans and their special tokens. Allowed: 8 and more."):format(
    input.length, name))
end
if input.vocabulary <= input.special_tokens then
  refuse(("%s has no words to predict: the data's vocabulary has %d tokens, %d of which are special tokens."):format(
    name, input.vocabulary, input.special_tokens))
end

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

local x = cell("embedding", {prefix = ""}, function()
  local words = embed(feature(samples .. "_tokens"))
  local parts = embedding("segment_embedding", feature(samples .. "_segments"), {2, width = width, stddev = 0.02})
  return dropout(layer_norm("embedding_norm", words + parts), drop)
end)
for i = 0, layers - 1 do
  x = cell(("layers.%d"):format(i), function(x) return encoder_layer(x, feature(samples .. "_length")) end, x)
end

-- The output of [CLS], the first word, represents the whole text.
local function pooled(x) return tanh(linear("pooler", first_word(x), x.channels)) end
local function body(x) return norm == "before" and layer_norm("norm", x) or x end

if classifies then
  return cell("classifier", {prefix = ""}, function(x)
    return logits("classifier", dropout(pooled(body(x)), drop), num_classes)
  end, x)
end
-- The layer that gives the words' logits has its own weights, not those of the embedding, which may be on another stage.
return cell("heads", {prefix = ""}, function(x)
  x = body(x)
  local masked = gather(x, feature("masked_positions"))
  local h = layer_norm("word_norm", activate(linear("word_transform", masked, width)))
  local words = linear_cross_entropy("word_decoder", h, feature("masked_words"), input.vocabulary)
  local next_sentence = linear_cross_entropy("next_sentence", pooled(x), feature("next_sentence"), 2)
  return objectives(words, next_sentence, {{"masked words", "next sentence"}})
end, x)
