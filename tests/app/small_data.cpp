/// Bars with noise.
#include "app/small_data.h"

#include <cstdint>
#include <filesystem>
#include <fstream>

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

}  // namespace

void write_small_idx(const std::string& folder, const SmallData& data) {
  std::filesystem::create_directories(folder);
  write_split(folder, {.name = "train", .count = data.num_train, .num_classes = data.num_classes, .seed = 1});
  write_split(folder, {.name = "t10k", .count = data.num_test, .num_classes = data.num_classes, .seed = 2});
}

std::vector<std::string> import_small_data(const std::string& folder, const SmallData& data) {
  write_small_idx(folder + "/idx", data);
  const ProcessResult import = run_program(
      {.arguments = {"import", "--import.source=" + folder + "/idx", "--import.output=" + folder + "/data"}});
  EXPECT_EQ(import.status, 0) << import.output;
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
          "--run.threads=1"};
}

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace convoy::test
