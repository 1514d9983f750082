/// Makes the features of samples that are arrays.
#pragma once

#include <memory>

#include "convoy/data/make_sample_path.h"
#include "convoy/data/sample_path.h"

namespace convoy {

/// Makes the sample path of arrays. Threads read the arrays of the network ahead of the step, each a feature with its
/// name; the only array is also called features::kImage, unless a network's file gives it that name anyway. A target
/// that is stored with the arrays is read ahead, too; other targets and labels are looked up. Throws RequestError if
/// the parameters ask for augmentation that only images allow, and Error if the samples lack an array that the network
/// reads.
std::unique_ptr<SamplePath> make_array_path(const SamplePathSpec& spec);

}  // namespace convoy
