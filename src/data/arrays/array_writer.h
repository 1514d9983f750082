/// Fills the loader's buffers with arrays, as the network reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/shape.h"
#include "convoy/data/sample_path.h"
#include "convoy/io/sample_store.h"

#include "data/arrays/array_edits.h"
#include "data/arrays/convert_values.h"
#include "data/draw_mix.h"

namespace convoy {

/// An array that a network reads.
struct ArrayInput {
  std::size_t number = 0;  ///< its number among the arrays of the store
  Shape shape;             ///< n = 1
  ValueConverter converter;
  ArrayEditor editor;
};

/// How the samples of a micro-batch are mixed in pairs.
struct ArrayMixing {
  AugmentParams params = {};  ///< the default mixes nothing
  std::uint64_t seed = 0;

  SampleMix draw(const BatchSamples& batch, std::int64_t i) const { return draw_mix(params, seed, {}, batch, i); }
};

/// Writes buffers of float32 values (N,D,H,W,C). Values of padding samples are 0, which is the mean of normalised ones.
class ArrayWriter final : public BufferWriter {
 public:
  /// The arguments must outlive the writer.
  ArrayWriter(const io::SampleStore& samples, const ArrayInput& input, const ArrayMixing& mixing)
      : samples_(samples), input_(input), mixing_(mixing) {}

  void write(const BatchSamples& batch, std::int64_t i, std::byte* buffer) override;
  void write_padding(std::int64_t i, std::byte* buffer) override;
  void finish(const BatchSamples& batch, std::byte* buffer) override;

 private:
  std::span<float> row_of(std::int64_t i, std::byte* buffer) const;

  const io::SampleStore& samples_;
  const ArrayInput& input_;
  const ArrayMixing& mixing_;
  std::vector<std::byte> memory_;  ///< for the stored bytes of a sample
  std::vector<float> unchanged_;   ///< a sample before it is edited, or all samples before they are mixed
};

}  // namespace convoy
