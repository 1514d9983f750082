/// Opens what a training reads. data.fold and data.limit keep a part of it: the same samples for every command, rank
/// and restart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/io/dataset.h"

namespace convoy {

struct Parameters;
struct SampleLimit;

/// Opens data.train, and keeps the samples outside data.fold and, of these, those that data.limit asks for. Throws
/// RequestError if the data set cannot be opened (io::Dataset says why), or as keep_fold() and limited_count() do.
io::Dataset open_training_set(const Parameters& params);

/// Keeps the samples of a fold, or only the others; in both cases with the statistics of the others. Throws
/// RequestError if the data set at `path`, the value of `key`, has no such fold.
enum class FoldPart { kInside, kOutside };
void keep_fold(io::Dataset& data, std::int64_t fold, FoldPart part, const std::string& path);

/// Returns how many of `num_samples` samples the limit keeps, at least 1. Throws RequestError if it asks for more
/// samples than there are, or for a share of them that is less than a half sample.
std::int64_t limited_count(const SampleLimit& limit, std::int64_t num_samples);

/// Draws `count` samples, and returns their indices in ascending order. Each class keeps the same share of its samples,
/// to within one sample; labels and numbers are not looked at. Samples that are drawn with a smaller `count` are among
/// those that are drawn with a larger one.
std::vector<std::int64_t> draw_stratified(const io::SampleStore& samples, std::int64_t count, std::uint64_t seed);

}  // namespace convoy
