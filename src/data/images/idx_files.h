/// Reads data sets like MNIST in LeCun's IDX format, plain or gzipped: a magic number, the dimensions (big-endian),
/// then the values as bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/base/shape.h"

#include "data/images/image_source.h"

namespace convoy {

/// One split of an IDX data set, in memory.
struct IdxSplit {
  ImageShape image;                  ///< shape of each image
  std::vector<std::uint8_t> images;  ///< pixels of all images, (N,H,W,C)
  std::vector<std::int32_t> labels;  ///< label of each image, (N)
};

/// Reads one split from its two files. Throws RequestError naming the file and what is wrong: it is missing, not gzip,
/// has another magic number, dimensions that do not multiply to the file's length (truncated or too long, with both
/// byte counts), images and labels of different number, or sizes beyond what memory could hold (checked before any
/// allocation).
IdxSplit read_idx(const std::string& images_path, const std::string& labels_path);

/// Opens the folder as a source of images, from four files: train-images-idx3-ubyte[.gz], train-labels-idx1-ubyte[.gz],
/// and two that begin with t10k for the test split. The number of classes is the largest label of both splits + 1.
/// Names of samples are FILE:NUMBER. Throws RequestError as read_idx() does, and if the images of the splits differ in
/// shape.
std::unique_ptr<ImageSource> open_idx(const std::string& folder);

}  // namespace convoy
