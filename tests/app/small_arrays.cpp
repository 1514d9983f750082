/// Makes arrays of random numbers that depend on a class, and writes them to shards.
#include "app/small_arrays.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>

#include <fmt/core.h>

#include "convoy/base/random.h"
#include "convoy/io/shard_files.h"
#include "convoy/io/shard_writer.h"

namespace convoy::test {

namespace {

constexpr int kNumClasses = 4;
constexpr int kNumSpectrum = 20, kNumPixels = 30, kNumChannels = 7;
constexpr int kFieldSide = 8, kFieldColours = 3;
constexpr int kNumRows = 3, kNumColumns = 32, kNumOutputs = 64;

struct Sample {
  std::vector<std::byte> record;
  std::int32_t label = -1;
  std::vector<float> target = {};
};
using MakeSample = std::function<Sample(const RandomKey& key, int label)>;

float normal(const RandomKey& key, int index) {
  return static_cast<float>(random_normal(key, static_cast<std::uint64_t>(index)));
}

io::ArrayInfo array_of(const std::string& name, ElementType type, const std::vector<std::int64_t>& dims) {
  io::ArrayInfo array{.name = name, .type = type, .dims = dims};
  for (std::int64_t c = 0; c < array.channels(); ++c) {
    array.mean.push_back(0.25 * static_cast<double>(c % 8));
    array.stddev.push_back(2 + 0.5 * static_cast<double>(c % 8));
  }
  return array;
}

template <typename T>
void append(std::vector<std::byte>& record, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  record.insert(record.end(), bytes.begin(), bytes.end());
}

Sample sample_of_class(const RandomKey& key, int label) {
  std::vector<float> spectrum;
  for (int i = 0; i < kNumSpectrum; ++i)
    spectrum.push_back(normal(key, i) + (i / (kNumSpectrum / kNumClasses) == label ? 3 : 0));
  std::vector<std::int16_t> patch;
  for (int i = 0; i < kNumPixels * kNumChannels; ++i) {
    const auto noise = static_cast<int>(random_below(key, 100 + static_cast<std::uint64_t>(i), 9));
    patch.push_back(static_cast<std::int16_t>(noise + (i % kNumChannels == label ? 5 : -2)));
  }
  Sample sample{.record = {}, .label = label};
  append(sample.record, spectrum);
  append(sample.record, patch);
  return sample;
}

Sample sample_of_labels(const RandomKey& key, int label) {
  Sample sample = sample_of_class(key, label);
  for (int k = 0; k < kNumClasses; ++k)
    sample.target.push_back(k == label || random_below(key, 2000 + static_cast<std::uint64_t>(k), 5) == 0 ? 1 : 0);
  if (key.item % 10 == 7) sample.target[(key.item / 10) % kNumClasses] = std::numeric_limits<float>::quiet_NaN();
  return sample;
}

Sample sample_of_numbers(const RandomKey& key, int label) {
  Sample sample = sample_of_class(key, label);
  sample.target = {10 * static_cast<float>(label) + normal(key, 1000),
                   std::to_integer<int>(sample.record.back()) * 0.5f};
  return sample;
}

// Output k of a row is the difference of two of its values.
Sample sample_of_rows(const RandomKey& key, int /*label*/) {
  std::vector<float> values;
  for (int i = 0; i < kNumRows * kNumColumns; ++i) values.push_back(normal(key, i));
  Sample sample;
  for (int row = 0; row < kNumRows; ++row)
    for (int k = 0; k < kNumOutputs; ++k) {
      const float* const of_row = values.data() + row * kNumColumns;
      sample.target.push_back(of_row[k % kNumColumns] - of_row[(k * k + 1) % kNumColumns]);
    }
  append(sample.record, values);
  return sample;
}

Sample sample_of_fields(const RandomKey& key, int label) {
  constexpr int kRow = kFieldSide * kFieldColours;
  std::vector<std::int16_t> image;
  for (int i = 0; i < kFieldSide * kRow; ++i) {
    const auto noise = static_cast<int>(random_below(key, static_cast<std::uint64_t>(i), 9));
    image.push_back(static_cast<std::int16_t>(noise - 3 + label));
  }
  std::vector<float> field;
  for (int p = 0; p < kFieldSide * kFieldSide; ++p) {
    const std::int16_t* const pixel = image.data() + p * kFieldColours;
    const bool is_last_row = p >= (kFieldSide - 1) * kFieldSide;
    field.push_back(static_cast<float>(pixel[0] * pixel[1]) * 0.25f + 100);
    field.push_back(is_last_row ? std::numeric_limits<float>::quiet_NaN()
                                : static_cast<float>(pixel[2] - pixel[kRow + 2]));
  }
  Sample sample;
  append(sample.record, image);
  append(sample.record, field);
  return sample;
}

struct ArraySplit {
  std::string name;
  int count = 0, num_shards = 1;
  std::uint64_t seed = 0;
};

void write_shards(const std::string& folder, const ArraySplit& split, io::DatasetInfo info, const MakeSample& make) {
  info.num_samples = split.count;
  info.source = "made for a test";
  const bool has_classes = info.target.kind == TargetKind::kClass;
  if (info.target.kind != TargetKind::kNumbers) info.class_counts.assign(kNumClasses, split.count / kNumClasses);
  for (int s = 0, i = 0; s < split.num_shards; ++s) {
    io::ShardWriter writer({io::shard_path(folder, split.name, s, split.num_shards), s, split.num_shards}, info);
    for (; i < split.count * (s + 1) / split.num_shards; ++i) {
      const Sample sample = make({.seed = split.seed, .item = static_cast<std::uint64_t>(i)}, i % kNumClasses);
      writer.append(sample.record, {.label = has_classes ? sample.label : -1, .target = sample.target},
                    fmt::format("row {}", i));
    }
    writer.end_samples();
    writer.finish(info);
    writer.commit();
  }
}

std::vector<std::string> write_splits(const std::string& folder, const io::DatasetInfo& info, const MakeSample& make) {
  std::filesystem::create_directories(folder);
  write_shards(folder, {.name = "train", .count = 640, .num_shards = 3, .seed = 1}, info, make);
  write_shards(folder, {.name = "test", .count = 96, .seed = 2}, info, make);
  return {"train",
          "--data.train=" + folder + "/train",
          "--data.test=" + folder + "/test",
          "--batch.global=64",
          "--batch.micro=8",
          "--optimizer.lr=0.05",
          "--train.epochs=3",
          "--run.device=cpu",
          "--run.threads=1",
          "--run.fingerprint_every=3",
          "--model.name=mlp",
          "--model.set=layers=3,width=32,dropout=0.25,norm=batch"};
}

io::DatasetInfo spectra_and_patches() {
  return {.kind = input_kinds::kArrays,
          .class_names = {"a", "b", "c", "d"},
          .arrays = {array_of("spectrum", ElementType::kFloat32, {kNumSpectrum}),
                     array_of("patch", ElementType::kInt16, {6, 5, kNumChannels})}};
}

Target numbers(std::size_t count, double mean, double stddev) {
  return {.kind = TargetKind::kNumbers,
          .shape = Shape::vectors(1, static_cast<std::int64_t>(count)),
          .mean = std::vector<double>(count, mean),
          .stddev = std::vector<double>(count, stddev)};
}

}  // namespace

std::vector<std::string> write_small_classes(const std::string& folder) {
  return write_splits(folder, spectra_and_patches(), sample_of_class);
}

// The stored counts are those of the classes: only balanced class weights read them.
std::vector<std::string> write_small_labels(const std::string& folder) {
  io::DatasetInfo info = spectra_and_patches();
  info.target = {.kind = TargetKind::kLabels, .shape = Shape::vectors(1, kNumClasses)};
  return write_splits(folder, info, sample_of_labels);
}

std::vector<std::string> write_small_numbers(const std::string& folder) {
  io::DatasetInfo info = spectra_and_patches();
  info.class_names = {"place", "light"};
  info.target = numbers(2, 15, 11);
  return write_splits(folder, info, sample_of_numbers);
}

std::vector<std::string> write_small_fields(const std::string& folder) {
  io::DatasetInfo info{.kind = input_kinds::kArrays,
                       .class_names = {"product", "slope"},
                       .arrays = {array_of("image", ElementType::kInt16, {kFieldSide, kFieldSide, kFieldColours})},
                       .target = {.kind = TargetKind::kNumbers,
                                  .shape = Shape::images(1, kFieldSide, kFieldSide, 2),
                                  .dims = {kFieldSide, kFieldSide, 2},
                                  .channel_axis = ChannelAxis::kFirst,
                                  .mean = {102, 0.5},
                                  .stddev = {4, 3.5}}};
  std::vector<std::string> arguments = write_splits(folder, info, sample_of_fields);
  arguments.pop_back();
  arguments.back() = "--model.file=" CONVOY_TEST_FILES "/golden/field.lua";
  return arguments;
}

std::vector<std::string> write_small_rows(const std::string& folder) {
  io::DatasetInfo info{.kind = input_kinds::kArrays,
                       .arrays = {array_of("values", ElementType::kFloat32, {kNumRows, kNumColumns})},
                       .target = numbers(kNumRows * kNumOutputs, 0, 1.5)};
  for (int k = 0; k < kNumRows * kNumOutputs; ++k) info.class_names.push_back(fmt::format("y{}", k));
  std::vector<std::string> arguments = write_splits(folder, info, sample_of_rows);
  arguments[arguments.size() - 2] = "--model.name=two_layers";
  arguments.back() = "--model.set=hidden=48";
  return arguments;
}

}  // namespace convoy::test
