/// The sinusoidal positions of Vaswani et al. 2017, section 3.5, for every device.
#pragma once

#include <cstdint>
#include <vector>

namespace convoy::ops {

/// Returns the position encodings (T,C), with T = length and C = width: row t has sin(t / 10000^(2i/C)) in column 2i
/// and the cosine of the same angle in column 2i + 1, each rounded once to float32.
std::vector<float> sinusoids(std::int64_t length, std::int64_t width);

}  // namespace convoy::ops
