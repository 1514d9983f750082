/// Defines shapes with named extents N,H,W,C, so that no function takes a list of unnamed ints.
#pragma once

#include <cstdint>
#include <string>

namespace convoy {

/// The shape of an activation: samples, rows, columns, channels; channels vary fastest (NHWC).
struct Shape {
  std::int64_t n = 0, h = 0, w = 0, c = 0;

  std::int64_t count() const { return n * h * w * c; }
  std::int64_t pixels() const { return n * h * w; }
  bool operator==(const Shape&) const = default;
};

std::string to_string(const Shape& s);  ///< "32x224x224x3"

/// The shape of one image: rows, columns, channels.
struct ImageShape {
  std::int64_t h = 0, w = 0, c = 0;

  std::int64_t count() const { return h * w * c; }
  Shape batch(std::int64_t n) const { return {n, h, w, c}; }
  bool operator==(const ImageShape&) const = default;
};

std::string to_string(const ImageShape& s);  ///< "224x224x3"

inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace convoy
