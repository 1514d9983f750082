/// The mean over the words of a sequence in plain loops: the oracle of SequenceMeanOp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "convoy/ops/sequence_mean.h"

#include "reference/array.h"

namespace convoy::reference {

/// Calls body(x's index, y's index, length) for every value of the words below the lengths.
template <typename Body>
void for_each_word_there(const ops::SequenceMeanSpec& spec, const std::vector<std::int32_t>& lengths, Body&& body) {
  for (std::int64_t n = 0; n < spec.n; ++n) {
    const std::int64_t length = std::clamp<std::int64_t>(lengths[index(n)], 1, spec.length);
    for (std::int64_t t = 0; t < length; ++t)
      for (std::int64_t c = 0; c < spec.width; ++c)
        body(index((n * spec.length + t) * spec.width + c), index(n * spec.width + c), static_cast<double>(length));
  }
}

inline Array sequence_mean(const ops::SequenceMeanSpec& spec, const std::vector<std::int32_t>& lengths,
                           const Array& x) {
  Array y(index(spec.n * spec.width));
  for_each_word_there(spec, lengths, [&](std::size_t ix, std::size_t iy, double length) { y[iy] += x[ix] / length; });
  return y;
}

inline Array sequence_mean_gradient(const ops::SequenceMeanSpec& spec, const std::vector<std::int32_t>& lengths,
                                    const Array& dy) {
  Array dx(index(spec.n * spec.length * spec.width));
  for_each_word_there(spec, lengths, [&](std::size_t ix, std::size_t iy, double length) { dx[ix] = dy[iy] / length; });
  return dx;
}

}  // namespace convoy::reference
