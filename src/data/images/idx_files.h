/// Reads MNIST-like data in the IDX format (LeCun's), plain or gzipped: a magic number, big-endian dimensions, then
/// bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/io/sample_store.h"

#include "data/images/image_source.h"

namespace convoy {

/// One split in memory. `info` has the image shape, number, classes and source.
struct IdxSplit {
  io::DatasetInfo info;
  std::vector<std::uint8_t> images;  ///< (N,H,W,C)
  std::vector<std::int32_t> labels;  ///< (N)
};

/// Reads one split from its two files. Throws RequestError naming the file and what is wrong: it is missing, not gzip,
/// has another magic number, dimensions that do not multiply to the file's length (truncated or too long, with both
/// byte counts), images and labels of different number, or sizes beyond what memory could hold (checked before any
/// allocation).
IdxSplit read_idx(const std::string& images_path, const std::string& labels_path);

struct IdxSplits {
  IdxSplit train, test;
};

/// Reads the four files of a folder: train-images-idx3-ubyte[.gz], train-labels-idx1-ubyte[.gz], t10k-... Both splits
/// need the same image shape. The class count is the largest label of both + 1.
IdxSplits read_idx_folder(const std::string& folder);

/// Opens the folder as a source of images. Names of samples are FILE:NUMBER.
std::unique_ptr<ImageSource> open_idx(const std::string& folder);

}  // namespace convoy
