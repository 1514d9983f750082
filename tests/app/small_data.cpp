/// Makes bars with noise, and texts with one word of their class.
#include "app/small_data.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/base/random.h"
#include "convoy/io/shard_files.h"
#include "convoy/io/shard_writer.h"

#include "app/program.h"
#include "unit/data/idx_files.h"

namespace convoy::test {

namespace {

constexpr int kSide = 12;

struct Split {
  std::string name;
  int count = 0, num_classes = 0;
  std::uint64_t seed = 0;
};

void write_split(const std::string& folder, const Split& split) {
  const auto count = static_cast<std::uint32_t>(split.count);
  std::string images = idx_header({count, kSide, kSide}), labels = idx_header({count});
  for (int i = 0; i < split.count; ++i) {
    const int label = i % split.num_classes;
    labels.push_back(static_cast<char>(label));
    for (int row = 0; row < kSide; ++row)
      for (int column = 0; column < kSide; ++column) {
        const RandomKey key{.seed = split.seed, .item = static_cast<std::uint64_t>(i)};
        const int pixel = row * kSide + column;
        const auto noise = random_below(key, static_cast<std::uint64_t>(pixel), 90);
        const int bar = row * split.num_classes / kSide == label ? 150 : 0;
        images.push_back(static_cast<char>(bar + static_cast<int>(noise)));
      }
  }
  write_text(folder + "/" + split.name + "-images-idx3-ubyte", images);
  write_text(folder + "/" + split.name + "-labels-idx1-ubyte", labels);
}

constexpr const char* kJudgements[] = {"wonderful", "terrible"};  // one per class
constexpr int kNumOtherWords = 40, kMaxWords = 40;
constexpr int kNumTrainTexts = 640, kNumTestTexts = 96;

void write_table(const std::string& path, int count, std::uint64_t seed) {
  std::string table = "label,text\n";
  for (int i = 0; i < count; ++i) {
    const RandomKey key{.seed = seed, .item = static_cast<std::uint64_t>(i)};
    const auto num_words = 1 + random_below(key, 0, kMaxWords), telling = random_below(key, 1, num_words);
    const char* const judgement = kJudgements[i % 2];
    table += judgement;
    for (std::uint64_t word = 0; word < num_words; ++word) {
      table += word == 0 ? ',' : ' ';
      table += word == telling ? judgement : fmt::format("word{}", random_below(key, 2 + word, kNumOtherWords));
    }
    table += '\n';
  }
  write_text(path, table);
}

constexpr std::int64_t kNumSpectrum = 20, kNumPixels = 30, kNumChannels = 7;
constexpr int kNumArrayClasses = 4;

io::ArrayInfo array_of(const std::string& name, ElementType type, const std::vector<std::int64_t>& dims) {
  io::ArrayInfo array{.name = name, .type = type, .dims = dims};
  for (std::int64_t c = 0; c < array.channels(); ++c) {
    array.mean.push_back(0.25 * static_cast<double>(c));
    array.stddev.push_back(2 + 0.5 * static_cast<double>(c));
  }
  return array;
}

/// The record of a sample: its spectrum, then its patch.
std::vector<std::byte> record_of(int label, const RandomKey& key) {
  std::vector<float> spectrum;
  for (int i = 0; i < kNumSpectrum; ++i)
    spectrum.push_back(static_cast<float>(random_normal(key, static_cast<std::uint64_t>(i)) +
                                          (i / (kNumSpectrum / kNumArrayClasses) == label ? 3 : 0)));
  std::vector<std::int16_t> patch;
  for (int i = 0; i < kNumPixels * kNumChannels; ++i)
    patch.push_back(
        static_cast<std::int16_t>(static_cast<int>(random_below(key, 100 + static_cast<std::uint64_t>(i), 9)) +
                                  (i % kNumChannels == label ? 5 : -2)));
  std::vector<std::byte> record;
  for (const auto bytes : {std::as_bytes(std::span(spectrum)), std::as_bytes(std::span(patch))})
    record.insert(record.end(), bytes.begin(), bytes.end());
  return record;
}

void write_shards(const std::string& folder, const Split& split, std::int64_t num_shards) {
  io::DatasetInfo info{.kind = input_kinds::kArrays,
                       .num_samples = split.count,
                       .class_names = {"a", "b", "c", "d"},
                       .class_counts = std::vector<std::int64_t>(kNumArrayClasses, split.count / kNumArrayClasses),
                       .arrays = {array_of("spectrum", ElementType::kFloat32, {kNumSpectrum}),
                                  array_of("patch", ElementType::kInt16, {6, 5, kNumChannels})},
                       .source = "made for a test"};
  for (std::int64_t s = 0, i = 0; s < num_shards; ++s) {
    io::ShardWriter writer({io::shard_path(folder, split.name, s, num_shards), s, num_shards}, info);
    for (; i < split.count * (s + 1) / num_shards; ++i) {
      const auto label = static_cast<int>(i % kNumArrayClasses);
      const RandomKey key{.seed = split.seed, .item = static_cast<std::uint64_t>(i)};
      writer.append(record_of(label, key), {.label = label}, fmt::format("row {}", i));
    }
    writer.end_samples();
    writer.finish(info);
    writer.commit();
  }
}

void import(const std::string& source, const std::string& output) {
  const ProcessResult result =
      run_program({.arguments = {"import", "--import.source=" + source, "--import.output=" + output}});
  EXPECT_EQ(result.status, 0) << result.output;
}

}  // namespace

void write_small_idx(const std::string& folder, const SmallData& data) {
  std::filesystem::create_directories(folder);
  write_split(folder, {.name = "train", .count = data.num_train, .num_classes = data.num_classes, .seed = 1});
  write_split(folder, {.name = "t10k", .count = data.num_test, .num_classes = data.num_classes, .seed = 2});
}

std::vector<std::string> import_small_data(const std::string& folder, const SmallData& data) {
  write_small_idx(folder + "/idx", data);
  import(folder + "/idx", folder + "/data");
  return {"train",
          "--model.name=resnet20",
          "--data.train=" + folder + "/data/train",
          "--data.test=" + folder + "/data/test",
          "--batch.global=64",
          "--batch.micro=8",
          "--optimizer.lr=0.05",
          "--optimizer.weight_decay=0.0005",
          "--lr.schedule=onecycle",
          "--train.epochs=3",
          "--augment.crop_padding=2",
          "--augment.flip=on",
          "--run.device=cpu",
          "--run.threads=1",
          "--run.fingerprint_every=3"};
}

void write_small_tables(const std::string& folder) {
  std::filesystem::create_directories(folder);
  write_table(folder + "/train.csv", kNumTrainTexts, 1);
  write_table(folder + "/test.csv", kNumTestTexts, 2);
}

std::vector<std::string> import_small_texts(const std::string& folder) {
  write_small_tables(folder + "/tables");
  import(folder + "/tables", folder + "/data");
  return {"train",
          "--model.name=transformer",
          "--model.layers=6",
          "--model.heads=2",
          "--model.width=32",
          "--model.feedforward=48",
          "--model.length=16",
          "--model.dropout=0.2",
          "--data.train=" + folder + "/data/train",
          "--data.test=" + folder + "/data/test",
          "--batch.global=64",
          "--batch.micro=8",
          "--optimizer.kind=adamw",
          "--optimizer.lr=0.003",
          "--train.epochs=3",
          "--run.device=cpu",
          "--run.threads=1",
          "--run.fingerprint_every=3"};
}

std::vector<std::string> write_small_arrays(const std::string& folder) {
  std::filesystem::create_directories(folder);
  write_shards(folder, {.name = "train", .count = 640, .seed = 1}, 3);
  write_shards(folder, {.name = "test", .count = 96, .seed = 2}, 1);
  return {"train",
          "--model.name=mlp",
          "--model.set=layers=3,width=32,dropout=0.25,norm=batch",
          "--data.train=" + folder + "/train",
          "--data.test=" + folder + "/test",
          "--batch.global=64",
          "--batch.micro=8",
          "--optimizer.lr=0.05",
          "--train.epochs=3",
          "--run.device=cpu",
          "--run.threads=1",
          "--run.fingerprint_every=3"};
}

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace convoy::test
