-- Multilayer perceptrons: hidden layers of one width, then the linear layer of the classes. Each hidden layer is a linear
-- layer, a norm, an activation and a dropout, in this order. Without hidden layers: multinomial logistic regression.
network{
  names = {"mlp"},
  about = "fully connected layers of all values of a sample. model.set=layers=2,width=128 sets its size",
}
local layers = parameter("layers", 1, "hidden layers, each a cell", {min = 0, max = 1000})
local width = parameter("width", 64, "values between layers", {min = 1, max = 65536})
local drop = parameter("dropout", 0.0, "share of values after each hidden layer set to 0 in training",
                       {min = 0, max = 0.999999})
local functions = {relu = relu, leaky_relu = leaky_relu, gelu = gelu, gelu_tanh = gelu_tanh, silu = silu, tanh = tanh,
                   sigmoid = sigmoid}
local activation = parameter("activation", "relu", "function of each hidden layer",
                             {"relu", "leaky_relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid"})
local norm = parameter("norm", "none", "norm before the function of each hidden layer", {"none", "batch", "layer"})
local norms = {none = function(_, x) return x end, batch = batch_norm, layer = layer_norm}

local function hidden_layer(x)
  local y = functions[activation](norms[norm]("norm", linear("linear", x, width)))
  return drop > 0 and dropout(y, drop) or y
end

-- All values of a sample: of its image, or of its arrays, one after the other.
local function sample()
  local values = {}
  for i, name in ipairs(input.kind == "arrays" and input.names or {"image"}) do values[i] = flatten(feature(name)) end
  return #values > 1 and concat(table.unpack(values)) or values[1]
end

-- The first cell has no input: it reads the samples.
local x
for i = 1, layers do
  x = cell("layer" .. i, function(x) return hidden_layer(x or sample()) end, x)
end
return cell("head", {prefix = ""}, function(x) return logits("fc", x or sample(), num_classes) end, x)
