/// Layers without parameters that copy channels: concatenations, slices, and padding with zero channels; and
/// flattening, which copies nothing.
#pragma once

#include <cstdint>
#include <span>

#include "model/cell_builder.h"

namespace convoy {

/// Adds y, the channels of all values, one after the other. The values have equal heights and widths.
/// values (N,H,W,C1), (N,H,W,C2), ...   y (N,H,W,C1 + C2 + ...)
Value concat(std::span<const Value> values);

/// Adds y: `count` channels of x from channel `first` on.    x (N,H,W,C)   y (N,H,W,count)
Value slice_channels(const Value& x, std::int64_t first, std::int64_t count);

/// Returns all values of each sample as channels, in the order of memory: slices, rows, columns, channels. Adds no
/// layer. x (N,H,W,C)   y (N,1,1,H*W*C)
Value flatten(const Value& x);

/// Adds y = x, in memory of its own.
Value copy(const Value& x);

struct ChannelPadding {
  std::int64_t num_channels = 0;     ///< K, number of channels of y, at least C
  std::int64_t channels_before = 0;  ///< number of the K - C zero channels that come before x's; the others come after
  std::int64_t stride = 1;           ///< takes every stride-th pixel in each direction
};

/// Adds y: the pixels of x that the stride takes, with zero channels added.    x (N,H,W,C)   y (N,P,Q,K)
Value pad_channels(const Value& x, const ChannelPadding& padding);

}  // namespace convoy
