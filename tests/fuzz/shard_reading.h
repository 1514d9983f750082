/// Reads everything that a shard holds, as loaders, `convoy info` and `convoy check` do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/features.h"
#include "convoy/io/dataset.h"
#include "convoy/io/inspect.h"

#include "fuzz/fuzz.h"
#include "unit/io/temporary_directory.h"

namespace convoy::fuzz {

inline void read_sample(const io::Dataset& dataset, std::int64_t sample) {
  const io::DatasetInfo& info = dataset.info();
  std::vector<std::byte> memory;
  std::vector<std::int32_t> tokens;
  require(dataset.label(sample) < std::ssize(info.class_names), "a label is one of the classes");
  dataset.name(sample);
  if (info.kind == input_kinds::kText) {
    require(std::ssize(dataset.read_tokens(sample, tokens)) == dataset.num_tokens(sample), "no token is missing");
  } else if (info.kind == input_kinds::kArrays) {
    for (std::size_t i = 0; i < info.arrays.size(); ++i)
      require(std::ssize(dataset.read_array(sample, i, memory)) == info.arrays[i].bytes(), "no value is missing");
    std::vector<float> target(static_cast<std::size_t>(info.num_target_values()));
    if (!target.empty()) dataset.read_target(sample, target);
  } else if (info.encoded) {
    dataset.read_file(sample, memory);
  } else {
    memory.resize(static_cast<std::size_t>(info.image.count()));
    dataset.read_pixels(sample, memory);
  }
}

inline void read_shard(std::span<const std::byte> file) {
  static const test::TemporaryDirectory kDirectory;
  constexpr std::int64_t kMaxSamples = 100;
  const std::string path = kDirectory / "train.h5";
  test::write_bytes(path, file);
  read_or_refuse([&] { io::describe_file(path); });
  read_or_refuse([&] { io::verify_file(path); });
  read_or_refuse([&] {
    const io::Dataset dataset(path, "data.train", VerifyKind::kNone);
    dataset.content_hash();
    for (std::int64_t i = 0; i < std::min(dataset.info().num_samples, kMaxSamples); ++i)
      read_or_refuse([&] { read_sample(dataset, i); });
  });
}

}  // namespace convoy::fuzz
