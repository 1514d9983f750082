/// Reads and converts the arrays of samples.
#include "data/arrays/array_writer.h"

#include <algorithm>

namespace convoy {

std::span<float> ArrayWriter::row_of(std::int64_t i, std::byte* buffer) const {
  const std::int64_t count = input_.shape.count();
  return {reinterpret_cast<float*>(buffer) + i * count, static_cast<std::size_t>(count)};
}

void ArrayWriter::write(const BatchSamples& batch, std::int64_t i, std::byte* buffer) {
  const std::int64_t sample = batch.samples[static_cast<std::size_t>(i)];
  input_.converter.convert(samples_.read_array(sample, input_.number, memory_), row_of(i, buffer));
}

void ArrayWriter::write_padding(std::int64_t i, std::byte* buffer) {
  std::ranges::fill(row_of(i, buffer), 0.0f);
}

}  // namespace convoy
