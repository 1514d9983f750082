/// Draws the changes of a sample and makes them.
#include "data/arrays/array_edits.h"

#include <algorithm>
#include <array>
#include <utility>

#include "convoy/base/random.h"

namespace convoy {

namespace {

RandomKey key_of(std::uint64_t seed, Purpose purpose, std::int64_t epoch, std::int64_t sample) {
  return {seed, purpose, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(sample)};
}

// The index in [0, count) that a mirror at the first and at the last one shows for an index outside.
std::int64_t reflected(std::int64_t index, std::int64_t count) {
  if (index < 0) return -index;
  return index < count ? index : 2 * (count - 1) - index;
}

}  // namespace

bool moves_pixels(const AugmentParams& params) {
  return params.flip || params.flip_rows || params.turn || params.crop_padding > 0;
}

bool changes_values(const AugmentParams& params) {
  return params.factor > 0 || params.noise > 0;
}

ArrayEditor::ArrayEditor(const AugmentParams& params, std::uint64_t seed, const Shape& shape, std::uint64_t number,
                         bool moves, float outside)
    : params_(params),
      seed_(seed),
      shape_(shape),
      number_(number),
      moves_(moves && moves_pixels(params)),
      outside_(outside) {}

void ArrayEditor::edit(std::int64_t epoch, std::int64_t sample, std::span<const float> from,
                       std::span<float> to) const {
  if (moves_)
    move(draw_moves(epoch, sample), from, to);
  else
    std::ranges::copy(from, to.begin());
  if (params_.factor > 0) multiply(epoch, sample, to);
  if (params_.noise > 0) add_noise(epoch, sample, to);
}

PixelMoves ArrayEditor::draw_moves(std::int64_t epoch, std::int64_t sample) const {
  const auto below = [&](Purpose purpose, std::uint64_t index, std::int64_t bound) {
    const auto limit = static_cast<std::uint64_t>(bound);
    return static_cast<std::int64_t>(random_below(key_of(seed_, purpose, epoch, sample), index, limit));
  };
  PixelMoves moves;
  if (const std::int64_t padding = params_.crop_padding; padding > 0) {
    moves.dy = below(Purpose::kCrop, 0, 2 * padding + 1) - padding;
    moves.dx = below(Purpose::kCrop, 1, 2 * padding + 1) - padding;
  }
  moves.flips_columns = params_.flip && below(Purpose::kFlip, 0, 2) == 1;
  moves.flips_rows = params_.flip_rows && below(Purpose::kFlipRows, 0, 2) == 1;
  if (params_.turn) moves.quarter_turns = below(Purpose::kQuarterTurn, 0, 4);
  return moves;
}

// Follows each pixel back to where it was: before the turns, before the flips, before the shift.
void ArrayEditor::move(const PixelMoves& moves, std::span<const float> from, std::span<float> to) const {
  const std::int64_t height = shape_.h, width = shape_.w, channels = shape_.c;
  const bool reflects = params_.border == BorderKind::kReflect;
  float* pixel = to.data();
  for (std::int64_t row = 0; row < height; ++row)
    for (std::int64_t column = 0; column < width; ++column, pixel += channels) {
      std::int64_t y = row, x = column;
      for (std::int64_t turn = 0; turn < moves.quarter_turns; ++turn) y = std::exchange(x, width - 1 - y);
      if (moves.flips_rows) y = height - 1 - y;
      if (moves.flips_columns) x = width - 1 - x;
      y += moves.dy, x += moves.dx;
      if (reflects) y = reflected(y, height), x = reflected(x, width);
      if (y < 0 || y >= height || x < 0 || x >= width)
        std::fill_n(pixel, channels, outside_);
      else
        std::copy_n(from.data() + (y * width + x) * channels, channels, pixel);
    }
}

// All arrays of a sample get one factor.
void ArrayEditor::multiply(std::int64_t epoch, std::int64_t sample, std::span<float> values) const {
  const double u = random_uniform(key_of(seed_, Purpose::kValueFactor, epoch, sample), 0);
  const auto factor = static_cast<float>(1 + params_.factor * (2 * u - 1));
  for (float& value : values) value *= factor;
}

// A block of random numbers is for four values; an array has fewer than 2^32 blocks.
void ArrayEditor::add_noise(std::int64_t epoch, std::int64_t sample, std::span<float> values) const {
  const RandomKey key = key_of(seed_, Purpose::kNoise, epoch, sample);
  for (std::size_t i = 0; i < values.size(); i += 4) {
    const std::array<double, 4> normals = random_normals(key, (number_ << 32) + i / 4);
    for (std::size_t k = 0; k < std::min<std::size_t>(4, values.size() - i); ++k)
      values[i + k] += static_cast<float>(params_.noise * normals[k]);
  }
}

void mix_values(float share, std::span<float> own, std::span<const float> partner) {
  const float rest = 1 - share;
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = rest * own[i] + share * partner[i];
}

}  // namespace convoy
