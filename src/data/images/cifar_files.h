/// Reads CIFAR-10 and CIFAR-100 in their binary version (Krizhevsky's): records of labels and 32 x 32 pixels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/images/image_source.h"

namespace convoy {

/// Opens the folder as a source of images. CIFAR-10 is in data_batch_*.bin and test_batch.bin; a record is the label,
/// then 1024 bytes each of red, green and blue. CIFAR-100 is in train.bin and test.bin; a record begins with the coarse
/// and the fine label, of which the fine one is used. The names of classes are in batches.meta.txt or
/// fine_label_names.txt; without this file they are numbers. Names of samples are FILE:NUMBER. Throws RequestError
/// naming the file if it is missing, empty or cut off, or has a label out of range.
std::unique_ptr<ImageSource> open_cifar(const std::string& folder);

/// Returns the names of the files of CIFAR-10 that this folder lacks or, if it has no data_batch_*.bin, of those of
/// CIFAR-100.
std::vector<std::string> missing_cifar_files(const std::string& folder);

}  // namespace convoy
