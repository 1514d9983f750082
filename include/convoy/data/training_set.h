/// Opens what a training reads. data.limit keeps a part of it: the same samples for every command, rank and restart.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/io/dataset.h"

namespace convoy {

struct Parameters;
struct SampleLimit;

/// Opens data.train, and keeps the samples that data.limit asks for. Throws RequestError if the data set cannot be
/// opened (io::Dataset says why), or as limited_count() does.
io::Dataset open_training_set(const Parameters& params);

/// Returns how many of `num_samples` samples the limit keeps, at least 1. Throws RequestError if it asks for more
/// samples than there are, or for a share of them that is less than a half sample.
std::int64_t limited_count(const SampleLimit& limit, std::int64_t num_samples);

/// Draws `count` samples, and returns their indices in ascending order. Each class keeps the same share of its samples,
/// to within one sample; labels and numbers are not looked at. Samples that are drawn with a smaller `count` are among those that are drawn with a larger
/// one.
std::vector<std::int64_t> draw_stratified(const io::SampleStore& samples, std::int64_t count, std::uint64_t seed);

}  // namespace convoy
