/// Extents and loops for kernels with a thread for every kWidth neighbouring channels of every pixel.
#pragma once

#include <algorithm>
#include <cstdint>

#include "convoy/base/shape.h"

#include "ops/cuda/launch.h"

namespace convoy::ops::cuda {

/// The extents of an (N,H,W,C) array. One image has fewer than 2^31 values.
struct ImageExtents {
  explicit ImageExtents(const Shape& shape)
      : n(static_cast<int>(shape.n)),
        h(static_cast<int>(shape.h)),
        w(static_cast<int>(shape.w)),
        c(static_cast<int>(shape.c)) {}

  int n, h, w, c;

  __device__ std::int64_t at(int image, int row, int column) const {
    return ((std::int64_t{image} * h + row) * w + column) * c;
  }
};

inline constexpr int kPixelThreads = 256;
inline constexpr int kMaxGridHeight = 65535;

/// Returns a launch whose blockIdx.x counts thread blocks within an image, and whose blockIdx.y counts images. A kernel
/// must loop over images, since the grid covers at most kMaxGridHeight of them at a time.
inline LaunchShape shape_over_images(int num_images, std::int64_t threads_per_image, int block = kPixelThreads) {
  return {{static_cast<unsigned>(ceil_div(threads_per_image, block)),
           static_cast<unsigned>(std::min(num_images, kMaxGridHeight)), 1},
          {static_cast<unsigned>(block), 1, 1}};
}

/// Returns the launch of a kernel that calls for_my_pixels<kWidth>().
template <int kWidth>
LaunchShape shape_over(const ImageExtents& extents) {
  return shape_over_images(extents.n, std::int64_t{extents.h} * extents.w * (extents.c / kWidth));
}

/// Calls body(image, row, column, channel) for each image of the calling thread, with its pixel and the first of its
/// kWidth channels.
template <int kWidth, typename Body>
__device__ void for_my_pixels(const ImageExtents& extents, Body&& body) {
  const unsigned index = blockIdx.x * kPixelThreads + threadIdx.x, packs = static_cast<unsigned>(extents.c / kWidth);
  const unsigned pixel = index / packs, row = pixel / static_cast<unsigned>(extents.w);
  if (row >= static_cast<unsigned>(extents.h)) return;
  const int column = static_cast<int>(pixel - row * static_cast<unsigned>(extents.w));
  const int channel = static_cast<int>(index - pixel * packs) * kWidth;
  for (int image = static_cast<int>(blockIdx.y); image < extents.n; image += static_cast<int>(gridDim.y)) {
    body(image, static_cast<int>(row), column, channel);
  }
}

}  // namespace convoy::ops::cuda
