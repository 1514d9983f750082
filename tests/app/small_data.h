/// Small data sets that can be learnt, of images and of texts, and the parameters that tests train with.
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

/// Imports write_small_idx() data with the program itself; returns the arguments that train on it: resnet20, 64 samples
/// per step in micro-batches of 8, crop and flip, on the CPU with one thread per rank.
std::vector<std::string> import_small_data(const std::string& folder, const SmallData& data = {});

/// Writes train.csv and test.csv of a made-up set of two classes: texts of 1 to 40 words, with a word of their class
/// among them.
void write_small_tables(const std::string& folder);

/// Imports write_small_tables() data; returns the arguments that train on it: an encoder of eight cells, with dropout,
/// that reads 16 words, 64 texts per step in micro-batches of 8, AdamW, on the CPU with one thread per rank.
std::vector<std::string> import_small_texts(const std::string& folder);

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b);

}  // namespace convoy::test
