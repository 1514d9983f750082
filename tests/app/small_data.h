/// A small data set that can be learnt, and the parameters that tests train with.
#pragma once

#include <string>
#include <vector>

namespace convoy::test {

struct SmallData {
  int num_train = 640, num_test = 96;
  int num_classes = 4;  ///< up to 12
};

/// Writes the four IDX files of a made-up set: 12 x 12 grey images, a bright bar at the class's height.
void write_small_idx(const std::string& folder, const SmallData& data = {});

/// Imports it with the program itself; returns the arguments that train on it: resnet20, 64 samples per step in
/// micro-batches of 8, crop and flip, on the CPU with one thread per rank.
std::vector<std::string> import_small_data(const std::string& folder, const SmallData& data = {});

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b);

}  // namespace convoy::test
