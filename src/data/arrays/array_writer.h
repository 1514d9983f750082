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

/// An array of the samples that is read ahead of the step: an input of the network, or the target.
struct ArrayPart {
  bool is_target = false;
  std::size_t number = 0;    ///< number of an input among the arrays of the store
  Shape shape;               ///< n = 1
  ValueConverter converter;  ///< of an input; targets stay as they are
  ArrayEditor editor;
  float padding = 0;  ///< the values of padding samples
};

/// How the samples of a micro-batch are mixed in pairs.
struct ArrayMixing {
  AugmentParams params = {};  ///< the default mixes nothing
  std::uint64_t seed = 0;

  SampleMix draw(const BatchSamples& batch, std::int64_t i) const { return draw_mix(params, seed, {}, batch, i); }
};

/// Writes buffers of float32 values (N,D,H,W,C).
class ArrayWriter final : public BufferWriter {
 public:
  /// The arguments must outlive the writer.
  ArrayWriter(const io::SampleStore& samples, const ArrayPart& part, const ArrayMixing& mixing)
      : samples_(samples), part_(part), mixing_(mixing) {}

  void write(const BatchSamples& batch, std::int64_t i, std::byte* buffer) override;
  void write_padding(std::int64_t i, std::byte* buffer) override;
  void finish(const BatchSamples& batch, std::byte* buffer) override;

 private:
  std::span<float> row_of(std::int64_t i, std::byte* buffer) const;
  void read(std::int64_t sample, std::span<float> values);

  const io::SampleStore& samples_;
  const ArrayPart& part_;
  const ArrayMixing& mixing_;
  std::vector<std::byte> memory_;  ///< for the stored bytes of a sample
  std::vector<float> unchanged_;   ///< a sample before it is edited, or all samples before they are mixed
};

}  // namespace convoy
