-- A network that answers at each pixel: two numbers for an image of the same size.
network{about = "a field of numbers", reads = "arrays"}
local x = cell("first", function()
  return relu(batch_norm("bn", conv("conv", feature("image"), {12, kernel = 3})))
end)
x = cell("second", function(x) return relu(conv("conv", x, {12, kernel = 3, dilation = 2, bias = true}) + x) end, x)
return cell("head", {prefix = ""}, function(x) return logits("fc", conv("conv", x, {8, kernel = 3}), num_classes) end, x)
