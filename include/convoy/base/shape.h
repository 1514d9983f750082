/// Defines shapes with named extents N,H,W,C, so that no function takes a list of unnamed ints.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace convoy {

/// The shape of an activation: samples, rows, columns, channels; channels vary fastest (NHWC).
struct Shape {
  std::int64_t n = 0, h = 0, w = 0, c = 0;

  std::int64_t count() const { return n * h * w * c; }
  std::int64_t pixels() const { return n * h * w; }
  bool operator==(const Shape&) const = default;
};

inline std::string to_string(const Shape& s) {
  return fmt::format("{}x{}x{}x{}", s.n, s.h, s.w, s.c);
}

/// The shape of one image: rows, columns, channels.
struct ImageShape {
  std::int64_t h = 0, w = 0, c = 0;

  std::int64_t count() const { return h * w * c; }
  Shape batch(std::int64_t n) const { return {n, h, w, c}; }
  bool operator==(const ImageShape&) const = default;
};

inline std::string to_string(const ImageShape& s) {
  return fmt::format("{}x{}x{}", s.h, s.w, s.c);
}

inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace convoy
