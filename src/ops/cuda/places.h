/// Kernels with a thread for every kWidth neighbouring channels of every pixel.
#pragma once

#include <algorithm>
#include <cstdint>

#include "convoy/base/shape.h"

#include "ops/cuda/launch.h"

namespace convoy::ops::cuda {

/// The places of an (N,H,W,C) array. One image has fewer than 2^31 values.
struct Places {
  explicit Places(const Shape& shape)
      : n(static_cast<int>(shape.n)),
        h(static_cast<int>(shape.h)),
        w(static_cast<int>(shape.w)),
        c(static_cast<int>(shape.c)) {}

  int n, h, w, c;

  __device__ std::int64_t at(int image, int row, int column) const {
    return ((std::int64_t{image} * h + row) * w + column) * c;
  }
};

inline constexpr int kPlaceThreads = 256;
inline constexpr int kMaxGridHeight = 65535;

/// blockIdx.x goes along an image, blockIdx.y over the images.
template <int kWidth>
LaunchShape shape_over(const Places& places) {
  const std::int64_t packs = std::int64_t{places.h} * places.w * (places.c / kWidth);
  return {{static_cast<unsigned>(ceil_div(packs, kPlaceThreads)),
           static_cast<unsigned>(std::min(places.n, kMaxGridHeight)), 1},
          {kPlaceThreads, 1, 1}};
}

/// Calls body(image, row, column, channel) for the thread's places.
template <int kWidth, typename Body>
__device__ void for_my_places(const Places& places, Body&& body) {
  const unsigned index = blockIdx.x * kPlaceThreads + threadIdx.x, packs = static_cast<unsigned>(places.c / kWidth);
  const unsigned pixel = index / packs, row = pixel / static_cast<unsigned>(places.w);
  if (row >= static_cast<unsigned>(places.h)) return;
  const int column = static_cast<int>(pixel - row * static_cast<unsigned>(places.w));
  const int channel = static_cast<int>(index - pixel * packs) * kWidth;
  for (int image = static_cast<int>(blockIdx.y); image < places.n; image += static_cast<int>(gridDim.y)) {
    body(image, static_cast<int>(row), column, channel);
  }
}

}  // namespace convoy::ops::cuda
