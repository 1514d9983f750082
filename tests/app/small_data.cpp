/// Bars with noise.
#include "app/small_data.h"

#include <cstdint>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "convoy/base/random.h"

#include "app/program.h"

namespace convoy::test {

namespace {

constexpr int kSide = 12, kClasses = 4;

void append_big_endian(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift & 0xff));
}

void write_split(const std::string& folder, const std::string& name, int count, std::uint64_t seed) {
  std::string images, labels;
  append_big_endian(images, 0x00000803);
  append_big_endian(images, static_cast<std::uint32_t>(count));
  append_big_endian(images, kSide);
  append_big_endian(images, kSide);
  append_big_endian(labels, 0x00000801);
  append_big_endian(labels, static_cast<std::uint32_t>(count));
  for (int i = 0; i < count; ++i) {
    const int label = i % kClasses;
    labels.push_back(static_cast<char>(label));
    for (int row = 0; row < kSide; ++row)
      for (int column = 0; column < kSide; ++column) {
        const RandomKey key{.seed = seed, .item = static_cast<std::uint64_t>(i)};
        const int pixel = row * kSide + column;
        const auto noise = random_below(key, static_cast<std::uint64_t>(pixel), 90);
        const int bar = row / (kSide / kClasses) == label ? 150 : 0;
        images.push_back(static_cast<char>(bar + static_cast<int>(noise)));
      }
  }
  write_text(folder + "/" + name + "-images-idx3-ubyte", images);
  write_text(folder + "/" + name + "-labels-idx1-ubyte", labels);
}

}  // namespace

void write_small_idx(const std::string& folder, int num_train, int num_test) {
  std::filesystem::create_directories(folder);
  write_split(folder, "train", num_train, 1);
  write_split(folder, "t10k", num_test, 2);
}

std::vector<std::string> import_small_data(const std::string& folder) {
  write_small_idx(folder + "/idx");
  const Ending import = run_program(
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
