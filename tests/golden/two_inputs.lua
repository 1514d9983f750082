-- A network of a spectrum and a position: its second cell reads the position, so that another stage may load it.
network{about = "a spectrum and a position"}
local x = cell("spectrum", function() return relu(linear("linear", flatten(feature("spectrum")), 16)) end)
x = cell("position", function(x) return relu(linear("linear", concat(x, feature("position")), 24)) end, x)
return cell("head", {prefix = ""}, function(x) return logits("fc", x, num_classes) end, x)
