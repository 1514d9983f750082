/// Data sets to test with: every byte of every image is known.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoy/io/dataset.h"
#include "convoy/io/shard_files.h"
#include "convoy/io/shard_writer.h"

#include "io/shard.h"
#include "unit/mutations.h"

namespace convoy::test {

/// The samples of a data set in memory.
struct DatasetContent {
  io::DatasetInfo info;
  std::vector<std::uint8_t> images;  ///< (N,H,W,C)
  std::vector<std::int32_t> labels;  ///< (N)

  std::span<const std::byte> image(std::int64_t sample) const {
    const auto size = static_cast<std::size_t>(info.image.count());
    return std::as_bytes(std::span(images)).subspan(static_cast<std::size_t>(sample) * size, size);
  }
};

struct ContentSpec {
  ImageShape image = {5, 4, 3};
  std::int64_t num_samples = 20;
  std::int32_t num_classes = 4;
};

inline std::uint8_t known_byte(std::int64_t sample, std::int64_t i) {
  return static_cast<std::uint8_t>((sample * 37 + i * 11 + i * i) % 256);
}

inline std::int32_t known_label(std::int64_t sample, std::int32_t num_classes) {
  return static_cast<std::int32_t>((sample * 7 + 1) % num_classes);
}

inline DatasetContent make_content(const ContentSpec& spec = {}) {
  DatasetContent content;
  content.info.image = spec.image;
  content.info.num_samples = spec.num_samples;
  for (int k = 0; k < spec.num_classes; ++k) content.info.class_names.push_back("class " + std::to_string(k));
  content.info.source = "made for a test";
  for (std::int64_t n = 0; n < spec.num_samples; ++n) {
    for (std::int64_t i = 0; i < spec.image.count(); ++i) content.images.push_back(known_byte(n, i));
    content.labels.push_back(known_label(n, spec.num_classes));
  }
  return content;
}

/// Sets mean, deviation and counts from all samples.
inline void describe(DatasetContent& content) {
  io::ChannelCounts counts(content.info.image.c);
  counts.add(content.images);
  counts.describe(content.info);
  content.info.class_counts.assign(content.info.class_names.size(), 0);
  for (const std::int32_t label : content.labels) ++content.info.class_counts[static_cast<std::size_t>(label)];
}

/// Writes a shard under its temporary name to the disk.
inline io::ShardWriter write_shard(const io::ShardLocation& location, const DatasetContent& content) {
  const std::int64_t begin = content.info.num_samples * location.index / location.num_shards;
  const std::int64_t end = content.info.num_samples * (location.index + 1) / location.num_shards;
  io::DatasetInfo info = content.info;
  info.num_samples = end - begin;
  io::ShardWriter writer(location, info);
  for (std::int64_t i = begin; i < end; ++i)
    writer.append(content.image(i), {.label = content.labels[static_cast<std::size_t>(i)]}, "");
  writer.end_samples();
  writer.finish(info);
  return writer;
}

/// Writes DIRECTORY/NAME.h5 or NAME-000.h5 ..., of nearly equal size, in order, as an import does.
inline void write_dataset(const std::string& directory, const std::string& name, int num_shards,
                          DatasetContent& content) {
  describe(content);
  std::vector<io::ShardWriter> shards;
  for (int i = 0; i < num_shards; ++i)
    shards.push_back(write_shard({io::shard_path(directory, name, i, num_shards), i, num_shards}, content));
  for (io::ShardWriter& shard : shards) shard.commit();
  io::remove_earlier_shards(directory, name, num_shards);
}

/// The pixels of a sample.
inline std::vector<std::uint8_t> read_sample(const io::SampleStore& store, std::int64_t sample) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(store.info().image.count()));
  store.read_pixels(sample, std::as_writable_bytes(std::span(pixels)));
  return pixels;
}

/// The length fields of a shard, in its trailer: format, offset and size of the body.
inline std::vector<LengthField> lengths_in_shard(const Bytes& file) {
  const std::size_t trailer = file.size() - io::kShardTrailerBytes;
  return {{trailer + 8, 8}, {trailer + 16, 8}, {trailer + 24, 8}};
}

}  // namespace convoy::test
