/// Makes the features of texts, the inputs of a network: their tokens, cut or padded to the length that the network
/// reads, plain or in the form that BERT reads.
#pragma once

#include <memory>

#include "convoy/data/make_sample_path.h"
#include "convoy/data/sample_path.h"

namespace convoy {

/// Makes the sample path of texts, which gives their features (convoy/base/features.h). Threads read the features that
/// contain words ahead of the step; the others are computed from the texts' lengths, which are in memory. A text that
/// is longer than the network reads is cut at its end; for BERT's pairs, a random part of it is taken. Past the end of
/// the data, the length of a text is 1. Throws RequestError if the parameters ask for augmentation, which only images
/// allow.
std::unique_ptr<SamplePath> make_text_path(const SamplePathSpec& spec);

}  // namespace convoy
