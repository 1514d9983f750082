/// Small data sets of arrays that can be learnt, and the parameters that tests train with: 64 samples per step in
/// micro-batches of 8, on the CPU with one thread per rank.
#pragma once

#include <string>
#include <vector>

namespace convoy::test {

// Each function writes 640 samples to train, in three shards, and 96 to test, and returns the arguments that train on
// them.

/// Samples of two arrays: 'spectrum', 20 float32 numbers with a peak at the class's place, and 'patch', 6 x 5 pixels of
/// 7 channels in int16, of which the class's is brighter. The target is one of four classes, and the network mlp with
/// three hidden layers, batch norms and dropout.
std::vector<std::string> write_small_classes(const std::string& folder);
/// The same arrays and network. The target is four labels: that of the class, and others at random; some are not known.
std::vector<std::string> write_small_labels(const std::string& folder);
/// The same arrays. The target is two numbers: 10 times the class with noise, and the brightness of the patch.
std::vector<std::string> write_small_numbers(const std::string& folder);
/// Samples of one array, 'values' (3,32) float32. The target is 3 x 64 numbers, and the network two_layers.
std::vector<std::string> write_small_rows(const std::string& folder);
/// Samples of one array, 'image' (8,8,3) int16. The target is a field (8,8,2), whose files had their channels first: of
/// each pixel a product of two channels, and the difference from the pixel below it, which the last row does not have.
/// The network is tests/golden/field.lua.
std::vector<std::string> write_small_fields(const std::string& folder);

}  // namespace convoy::test
