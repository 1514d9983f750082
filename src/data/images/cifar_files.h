/// Reads CIFAR-10 and CIFAR-100 in their binary version (Krizhevsky's): records of labels and 32 x 32 pixels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/images/image_source.h"

namespace convoy {

/// Opens data_batch_*.bin and test_batch.bin (a record: label, then 1024 bytes each of red, green, blue), or train.bin
/// and test.bin (coarse label, fine label, the same pixels; the fine label is kept). Classes are named by
/// batches.meta.txt or fine_label_names.txt, else by number. Names of samples are FILE:NUMBER. Throws RequestError
/// naming the file if it is missing, empty or cut off, or has a label out of range.
std::unique_ptr<ImageSource> open_cifar(const std::string& folder);

/// Returns the files of CIFAR-10 or CIFAR-100 that a download has and this folder lacks, if it holds others of them.
std::vector<std::string> missing_cifar_files(const std::string& folder);

}  // namespace convoy
