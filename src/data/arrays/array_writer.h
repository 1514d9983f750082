/// Fills the loader's buffers with arrays, as the network reads them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "convoy/base/shape.h"
#include "convoy/data/sample_path.h"
#include "convoy/io/sample_store.h"

#include "data/arrays/convert_values.h"

namespace convoy {

/// An array that a network reads.
struct ArrayInput {
  std::size_t number = 0;  ///< its number among the arrays of the store
  Shape shape;             ///< n = 1
  ValueConverter converter;
};

/// Writes buffers of float32 values (N,D,H,W,C). Values of padding samples are 0, which is the mean of normalised ones.
class ArrayWriter final : public BufferWriter {
 public:
  /// samples and input must outlive the writer.
  ArrayWriter(const io::SampleStore& samples, const ArrayInput& input) : samples_(samples), input_(input) {}

  void write(const BatchSamples& batch, std::int64_t i, std::byte* buffer) override;
  void write_padding(std::int64_t i, std::byte* buffer) override;
  void finish(const BatchSamples&, std::byte*) override {}

 private:
  std::span<float> row_of(std::int64_t i, std::byte* buffer) const;

  const io::SampleStore& samples_;
  const ArrayInput& input_;
  std::vector<std::byte> memory_;  ///< for the stored bytes of a sample
};

}  // namespace convoy
