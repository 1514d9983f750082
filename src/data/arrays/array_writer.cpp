/// Reads and converts the arrays of samples.
#include "data/arrays/array_writer.h"

#include <algorithm>

namespace convoy {

std::span<float> ArrayWriter::row_of(std::int64_t i, std::byte* buffer) const {
  const std::int64_t count = part_.shape.count();
  return {reinterpret_cast<float*>(buffer) + i * count, static_cast<std::size_t>(count)};
}

void ArrayWriter::read(std::int64_t sample, std::span<float> values) {
  if (part_.is_target) return samples_.read_target(sample, values);
  part_.converter.convert(samples_.read_array(sample, part_.number, memory_), values);
}

void ArrayWriter::write(const BatchSamples& batch, std::int64_t i, std::byte* buffer) {
  const std::int64_t sample = batch.samples[static_cast<std::size_t>(i)];
  const std::span<float> row = row_of(i, buffer);
  if (!part_.editor.edits()) return read(sample, row);
  unchanged_.resize(row.size());
  read(sample, unchanged_);
  part_.editor.edit(batch.epoch, sample, unchanged_, row);
}

void ArrayWriter::finish(const BatchSamples& batch, std::byte* buffer) {
  if (!mixing_.params.mixes()) return;
  const auto count = static_cast<std::size_t>(part_.shape.count());
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
  std::ranges::fill(row_of(i, buffer), part_.padding);
}

}  // namespace convoy
