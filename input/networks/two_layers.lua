-- Two fully connected layers with a ReLU between them, each a cell, so that each can have a processor of its own: the
-- network of many first pages about training on several GPUs. They are applied to the last axis: of each of the 3 rows
-- of an array (3,32) they make 64 numbers, so a sample has 3 x 64 outputs.
network{
  names = {"two_layers"},
  reads = "arrays",
  about = "two fully connected layers of the last axis of an array. model.set=hidden=64 sets the values between them",
  values = {3, 32},
  classes = 192,
}
local hidden = parameter("hidden", 32, "values between the layers, for each row", {min = 1, max = 65536})

if #input.names > 1 then refuse("two_layers reads one array, and the data holds " .. #input.names) end
local x = cell("layer1", function() return relu(linear("linear", feature(input.names[1]), hidden)) end)
return cell("layer2", function(x) return logits("linear", x, {num_classes, each_row = true}) end, x)
