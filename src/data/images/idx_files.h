/// Reads data sets like MNIST in LeCun's IDX format, plain or gzipped: a magic number, the dimensions (big-endian),
/// then the values as bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/io/sample_store.h"

#include "data/images/image_source.h"

namespace convoy {

/// One split of an IDX data set, in memory. `info` has the shape and the number of the images, the classes and the
/// source.
struct IdxSplit {
  io::DatasetInfo info;
  std::vector<std::uint8_t> images;  ///< pixels of all images, (N,H,W,C)
  std::vector<std::int32_t> labels;  ///< label of each image, (N)
};

/// Reads one split from its two files. Throws RequestError naming the file and what is wrong: it is missing, not gzip,
/// has another magic number, dimensions that do not multiply to the file's length (truncated or too long, with both
/// byte counts), images and labels of different number, or sizes beyond what memory could hold (checked before any
/// allocation).
IdxSplit read_idx(const std::string& images_path, const std::string& labels_path);

struct IdxSplits {
  IdxSplit train, test;
};

/// Reads the four files of a folder: train-images-idx3-ubyte[.gz], train-labels-idx1-ubyte[.gz], and two that begin
/// with t10k for the test split. The number of classes is the largest label of both splits + 1. Throws RequestError as
/// read_idx() does, and if the images of the splits differ in shape.
IdxSplits read_idx_folder(const std::string& folder);

/// Reads the folder by read_idx_folder() and returns it as a source of images. Names of samples are FILE:NUMBER.
std::unique_ptr<ImageSource> open_idx(const std::string& folder);

}  // namespace convoy
