/// Data sets of arrays to test with: every byte of every sample is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "convoy/io/sample_store.h"
#include "convoy/io/shard_files.h"
#include "convoy/io/shard_writer.h"

namespace convoy::test {

inline constexpr std::int64_t kNumArraySamples = 6;
inline constexpr float kNotKnown = std::numeric_limits<float>::quiet_NaN();

/// An array whose statistics differ from channel to channel.
inline io::ArrayInfo make_array(std::string name, ElementType type, std::vector<std::int64_t> dims) {
  io::ArrayInfo array{.name = std::move(name), .type = type, .dims = std::move(dims)};
  for (std::int64_t c = 0; c < array.channels(); ++c) {
    array.mean.push_back(0.5 * static_cast<double>(c) - 1.0 / 3);
    array.stddev.push_back(1.0 / static_cast<double>(c + 1));
  }
  return array;
}

/// Arrays called a, b and c with 8, 12 and 6 bytes, and three classes, labels or numbers.
inline io::DatasetInfo arrays_info(TargetKind kind = TargetKind::kClass) {
  io::DatasetInfo info{
      .kind = input_kinds::kArrays,
      .num_samples = kNumArraySamples,
      .class_names = {"x", "y", "z"},
      .arrays = {make_array("a", ElementType::kFloat32, {2}), make_array("b", ElementType::kInt16, {3, 2}),
                 make_array("c", ElementType::kUint8, {1, 2, 3})},
      .target = {.kind = kind},
      .source = "made for a test"};
  info.arrays[0].channel_names = {"height", "mass"};
  info.arrays[1].source = "scans/b";
  info.target.source = "answers";
  if (kind == TargetKind::kClass) {
    info.class_counts = {2, 2, 2};
    return info;
  }
  info.target.shape = Shape::vectors(1, 3);
  if (kind == TargetKind::kLabels) info.class_counts = {2, 3, 2};
  if (kind == TargetKind::kNumbers) info.target.mean = {1, -2, 1e9}, info.target.stddev = {0, 3, 1.0 / 3};
  return info;
}

/// The same arrays; the numbers are a field, or a long row of one channel for each of `dims`.back() names.
inline io::DatasetInfo field_info(const std::vector<std::int64_t>& dims, const Shape& shape) {
  io::DatasetInfo info = arrays_info(TargetKind::kNumbers);
  info.target.dims = dims;
  info.target.shape = shape;
  info.target.channel_axis = ChannelAxis::kFirst;
  info.class_names.clear();
  for (std::int64_t k = 0; k < dims.back(); ++k) info.class_names.push_back("y" + std::to_string(k));
  info.target.mean.assign(info.class_names.size(), 0.25);
  info.target.stddev.assign(info.class_names.size(), 4);
  return info;
}

inline std::vector<std::byte> known_record(const io::DatasetInfo& info, std::int64_t sample) {
  std::vector<std::byte> record(static_cast<std::size_t>(info.record_bytes()));
  for (std::size_t i = 0; i < record.size(); ++i) record[i] = static_cast<std::byte>(sample * 37 + 11 * i + i * i);
  return record;
}

/// The labels or numbers of a sample; those of sample 4 are partly not known.
inline std::vector<float> known_target(TargetKind kind, std::int64_t sample) {
  if (kind == TargetKind::kClass) return {};
  const auto s = static_cast<float>(sample);
  std::vector<float> target = {s / 3, -s, 1e9f * s};
  if (kind == TargetKind::kLabels)
    for (std::int64_t k = 0; k < 3; ++k) target[static_cast<std::size_t>(k)] = (sample + k) % 3 == 0 ? 1 : 0;
  if (sample == 4) target[0] = target[2] = kNotKnown;
  return target;
}

/// Writes these samples to DIRECTORY/train.h5, or train-000.h5 and so on.
inline void write_arrays(const std::string& directory, const io::DatasetInfo& info, std::int64_t num_shards = 1,
                         const std::vector<std::int64_t>& samples = {0, 1, 2, 3, 4, 5}) {
  std::int64_t i = 0;
  for (std::int64_t s = 0; s < num_shards; ++s) {
    io::ShardWriter writer({io::shard_path(directory, "train", s, num_shards), s, num_shards}, info);
    for (; i < std::ssize(samples) * (s + 1) / num_shards; ++i) {
      const std::int64_t sample = samples[static_cast<std::size_t>(i)];
      const std::vector<float> target =
          info.target.is_in_record() ? std::vector<float>() : known_target(info.target.kind, sample);
      writer.append(known_record(info, sample),
                    {.label = static_cast<std::int32_t>(sample % 3),
                     .target = target,
                     .fold = info.num_folds == 0 ? 0 : sample % info.num_folds + 1},
                    "row " + std::to_string(sample));
    }
    writer.end_samples();
    writer.finish(info);
    writer.commit();
  }
}

}  // namespace convoy::test
