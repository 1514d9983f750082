/// Means and standard deviations of channels, which have the same bits whatever the number of ranks: each shard has
/// sums of its own, of more than 100 bits, and the sums of shards are added in the order of the shards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/element_type.h"

namespace convoy {

/// A number as the sum of two doubles, the second of which is at most half a unit in the last place of the first.
struct DoubleDouble {
  double high = 0, low = 0;

  bool operator==(const DoubleDouble&) const = default;
};

/// Number of values of a channel, their sum and the sum of their squares.
struct ChannelSums {
  std::int64_t count = 0;
  DoubleDouble sum, squares;

  /// Adds the sums of the shard that follows.
  void add(const ChannelSums& next);
  double mean() const;
  /// sqrt(sum (v - mean)^2 / count); 0 without values.
  double stddev() const;
};

/// Returns the sums over the samples outside each fold: (folds, channels), as those of the folds are given. Folds are
/// added, never subtracted, so that no digit is lost.
std::vector<ChannelSums> sums_outside_folds(std::span<const ChannelSums> of_folds, std::size_t num_folds);

/// Adds up the values of one array over the samples of one shard, separately for each fold. 64-bit integers count as
/// the nearest doubles.
class ChannelMoments {
 public:
  ChannelMoments(ElementType type, std::int64_t channels, std::int64_t num_folds = 1);

  /// Adds a sample of a fold (from 0), whose channels vary fastest. A NaN does not count; other values must be finite.
  void add(std::span<const std::byte> sample, std::int64_t fold = 0);
  /// The sums of each channel over the samples of a fold.
  std::vector<ChannelSums> sums(std::int64_t fold = 0) const;

 private:
  template <bool kHasExactSquares>
  void add_doubles(std::span<const double> values, std::size_t fold);
  void leave_out_missing(std::span<double> values, std::size_t fold);

  ElementType type_;
  std::size_t channels_, num_lanes_;
  std::vector<double> doubles_;
  std::vector<std::int64_t> counts_;  ///< (folds, channels) values that are not NaN
  // (folds, num_lanes, channels): sums over the pixels of each sample whose indices are equal modulo num_lanes. Lanes
  // let any processor add several pixels at once; their number is fixed, since it could change the last bit.
  std::vector<double> sum_high_, sum_low_, square_high_, square_low_;
};

}  // namespace convoy
