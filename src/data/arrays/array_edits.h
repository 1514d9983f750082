/// Random changes of arrays in training: they are moved, multiplied and disturbed.
#pragma once

#include <cstdint>
#include <span>

#include "convoy/base/shape.h"
#include "convoy/params/data_parameters.h"

namespace convoy {

/// Whether these parameters move the rows and columns of arrays.
bool moves_pixels(const AugmentParams& params);
/// Whether these parameters change values, whatever the shape of the array.
bool changes_values(const AugmentParams& params);

/// How the pixels of an array move in one epoch: first a shift, then flips, then turns.
struct PixelMoves {
  std::int64_t dy = 0, dx = 0;  ///< pixel (y, x) gets the value of (y + dy, x + dx)
  bool flips_columns = false, flips_rows = false;
  std::int64_t quarter_turns = 0;  ///< 0 to 3, counterclockwise, as numpy.rot90 turns; only of square arrays
};

/// Changes one array of the samples. Random numbers depend on (seed, epoch, sample) and on the number of the array, so
/// they are the same on every number of ranks.
class ArrayEditor {
 public:
  /// `shape` is that of a sample (n = 1), `number` the array's among those of the network. `moves`: whether its pixels
  /// are moved if the parameters say so. `outside` is the value of pixels from outside the array.
  ArrayEditor(const AugmentParams& params, std::uint64_t seed, const Shape& shape, std::uint64_t number, bool moves,
              float outside = 0);

  /// Whether edit() changes anything.
  bool edits() const { return moves_ || changes_values(params_); }
  /// Writes the changed array to `to`. Both have the normalised values of all pixels and do not overlap.
  ///   crop: pixels from outside the array are `outside`, for inputs the mean of normalised values, or reflected
  ///   (augment.border)
  ///   factor, noise: value * factor + stddev * normal, each operation rounded to float32
  void edit(std::int64_t epoch, std::int64_t sample, std::span<const float> from, std::span<float> to) const;

 private:
  PixelMoves draw_moves(std::int64_t epoch, std::int64_t sample) const;
  void move(const PixelMoves& moves, std::span<const float> from, std::span<float> to) const;
  void multiply(std::int64_t epoch, std::int64_t sample, std::span<float> values) const;
  void add_noise(std::int64_t epoch, std::int64_t sample, std::span<float> values) const;

  AugmentParams params_;
  std::uint64_t seed_;
  Shape shape_;
  std::uint64_t number_;
  bool moves_;
  float outside_;
};

/// Writes (1 - share) * own + share * partner to `own`; each operation is rounded to float32.
void mix_values(float share, std::span<float> own, std::span<const float> partner);

}  // namespace convoy
