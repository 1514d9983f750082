/// The sinusoidal positions of Vaswani et al. 2017, section 3.5, for every device.
#pragma once

#include <cstdint>
#include <vector>

namespace convoy::ops {

/// (T,C): sin(t / 10000^(2i/C)) at 2i and the cosine at 2i + 1, each rounded once.
std::vector<float> sinusoids(std::int64_t length, std::int64_t width);

}  // namespace convoy::ops
