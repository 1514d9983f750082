/// Defines shapes with named extents N,H,W,C, so that no function takes a list of unnamed ints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convoy {

/// The shape of an activation, (N,D,H,W,C): samples, slices of a volume, rows, columns, channels; channels vary
/// fastest. All but volumes have one slice, and are written as (N,H,W,C). A sequence of T tokens has one per row:
/// (N,T,1,C).
struct Shape {
  /// Fields are given by name, as in Shape{.n = 8, .h = 1, .w = 1, .c = 10}: this empty first member refuses numbers.
  struct NamesOnly {
    explicit constexpr NamesOnly() = default;
    bool operator==(const NamesOnly&) const = default;
  };
  [[no_unique_address]] NamesOnly names_only{};
  std::int64_t n = 0, d = 1, h = 0, w = 0, c = 0;

  static constexpr Shape images(std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
    return {.n = n, .h = h, .w = w, .c = c};
  }
  static constexpr Shape sequences(std::int64_t n, std::int64_t t, std::int64_t c) { return images(n, t, 1, c); }
  static constexpr Shape vectors(std::int64_t n, std::int64_t c) { return images(n, 1, 1, c); }

  /// T: the pixels of one sample, which operations on sequences read as tokens, slice by slice and row by row.
  constexpr std::int64_t length() const { return d * h * w; }
  constexpr std::int64_t pixels() const { return n * length(); }
  constexpr std::int64_t count() const { return pixels() * c; }
  bool operator==(const Shape&) const = default;
};

/// The extents of one sample, without those of 1 that say nothing: {1024}, {3, 32}, {64, 64, 7}.
std::vector<std::int64_t> extents_of_sample(const Shape& s);
std::string in_brackets(std::span<const std::int64_t> extents);  ///< "(64, 64, 7)"
std::string to_string(const Shape& s);  ///< "32x224x224x3"; with more than one slice "32x16x224x224x3"

/// The shape of one image: rows, columns, channels.
struct ImageShape {
  std::int64_t h = 0, w = 0, c = 0;

  std::int64_t count() const { return h * w * c; }
  Shape batch(std::int64_t n) const { return Shape::images(n, h, w, c); }
  bool operator==(const ImageShape&) const = default;
};

std::string to_string(const ImageShape& s);  ///< "224x224x3"

inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace convoy
