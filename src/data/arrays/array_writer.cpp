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
  const std::span<const std::byte> stored = samples_.read_array(sample, input_.number, memory_);
  const std::span<float> row = row_of(i, buffer);
  if (!input_.editor.edits()) return input_.converter.convert(stored, row);
  unchanged_.resize(row.size());
  input_.converter.convert(stored, unchanged_);
  input_.editor.edit(batch.epoch, sample, unchanged_, row);
}

void ArrayWriter::finish(const BatchSamples& batch, std::byte* buffer) {
  if (!mixing_.params.mixes()) return;
  const auto count = static_cast<std::size_t>(input_.shape.count());
  const float* const rows = row_of(0, buffer).data();
  unchanged_.assign(rows, rows + batch.samples.size() * count);
  for (std::int64_t i = 0; i < std::ssize(batch.samples); ++i) {
    const ops::ImageMix mix = mixing_.draw(batch, i).image;
    if (mix.share == 0) continue;
    const auto first = static_cast<std::size_t>(mix.partner) * count;
    mix_values(mix.share, row_of(i, buffer), std::span(unchanged_).subspan(first, count));
  }
}

void ArrayWriter::write_padding(std::int64_t i, std::byte* buffer) {
  std::ranges::fill(row_of(i, buffer), 0.0f);
}

}  // namespace convoy
