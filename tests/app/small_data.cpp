/// Makes bars with noise, and texts with one word of their class.
#include "app/small_data.h"

#include <cstdint>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/base/random.h"

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

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace convoy::test
