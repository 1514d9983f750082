/// Files of arrays and tables for tests of their import, the same samples in all of them.
#pragma once

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/data/import.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/dataset.h"
#include "convoy/io/inspect.h"
#include "convoy/params/data_parameters.h"

#include "parallel/mpi_main.h"
#include "parallel/shared_directory.h"
#include "unit/io/array_files.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::test {

using Names = std::vector<std::string>;

inline constexpr int kSamples = 61, kRows = 4, kColumns = 5, kChannels = 3;
inline constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Shows no progress.
inline void show_nothing(const ImportProgress&) {}

/// Value of an image at a pixel and channel.
inline float pixel(int sample, int y, int x, int c) {
  return static_cast<float>((sample * 31 + y * 7 + x * 3 + c * 11) % 97) / 8 - static_cast<float>(c);
}

/// The images with channels first or last.
inline std::vector<float> images(bool channels_first) {
  std::vector<float> values;
  for (int n = 0; n < kSamples; ++n) {
    if (channels_first) {
      for (int c = 0; c < kChannels; ++c)
        for (int y = 0; y < kRows; ++y)
          for (int x = 0; x < kColumns; ++x) values.push_back(pixel(n, y, x, c));
    } else {
      for (int y = 0; y < kRows; ++y)
        for (int x = 0; x < kColumns; ++x)
          for (int c = 0; c < kChannels; ++c) values.push_back(pixel(n, y, x, c));
    }
  }
  return values;
}

/// Three numbers of a sample.
inline std::vector<float> position(int sample) {
  return {static_cast<float>(sample) / 4, static_cast<float>(sample % 5), 1.5F};
}

inline std::vector<float> positions() {
  std::vector<float> values;
  for (int n = 0; n < kSamples; ++n)
    for (const float value : position(n)) values.push_back(value);
  return values;
}

inline std::vector<std::int64_t> classes() {
  std::vector<std::int64_t> values;
  for (int n = 0; n < kSamples; ++n) values.push_back(n % 3 * 2);
  return values;
}

inline std::string npy_of_images(bool channels_first) {
  return npy({.shape = channels_first ? "(61, 3, 4, 5)" : "(61, 4, 5, 3)"}, bytes_of_numbers(images(channels_first)));
}
inline std::string npy_of_positions() {
  return npy({.shape = "(61, 3)"}, bytes_of_numbers(positions()));
}
inline std::string npy_of_classes() {
  return npy({.descr = "<i8", .shape = "(61,)"}, bytes_of_numbers(classes()));
}

/// A table with the columns name, a, b, c, group, energy, kind.
inline std::string table(int first = 0, int last = kSamples) {
  std::string text = "name,a,b,c,group,energy,kind\n";
  for (int n = first; n < last; ++n)
    text += fmt::format("sample-{},{},g{},{},{}\n", n, fmt::join(position(n), ","), n % 9, n * 0.5 - 3,
                        n % 3 == 0 ? "red" : "blue");
  return text;
}

class ArrayImportTest : public testing::Test {
 protected:
  ArrayImportTest() : alone_(world().split(world().rank(), 0)) {
    params_.output = root_ + "/out";
    params_.replace = true;
  }

  void on_root(const std::function<void()>& work) const {
    world().barrier();
    if (world().rank() == 0) work();
    world().barrier();
  }
  void write(const std::string& name, const std::string& bytes) const {
    on_root([&] { write_bytes(root_ + "/" + name, std::as_bytes(std::span(bytes))); });
  }
  ImportSummary import() const { return import_samples(params_, 3, world(), show_nothing); }
  std::string refusal() const {
    std::string message = message_of<RequestError>([&] { import(); });
    EXPECT_TRUE(!std::filesystem::exists(params_.output) || std::filesystem::is_empty(params_.output)) << message;
    world().barrier();
    return message;
  }
  io::Dataset open(const std::string& split) const { return {params_.output, "data.train", VerifyKind::kEpoch, split}; }

  std::map<std::string, std::vector<std::byte>> files_of(const std::string& folder) const {
    std::map<std::string, std::vector<std::byte>> files;
    for (const std::filesystem::directory_entry& file : std::filesystem::directory_iterator(folder))
      files[file.path().filename().string()] = io::read_file(file.path().string());
    return files;
  }
  /// Imports with all ranks, and by rank 0 alone elsewhere: the files must be the same.
  void expect_same_files_by_one_rank() {
    import();
    on_root([&] {
      ImportParams params = params_;
      params.output = root_ + "/alone";
      import_samples(params, 3, alone_, show_nothing);
      EXPECT_TRUE(files_of(params_.output) == files_of(params.output));
      for (const auto& [name, bytes] : files_of(params_.output))
        EXPECT_EQ(io::verify_file(params_.output + "/" + name), std::nullopt) << name;
      std::filesystem::remove_all(params.output);
    });
  }

  static std::vector<float> values_of(const io::Dataset& data, std::int64_t sample, std::size_t input = 0) {
    std::vector<std::byte> memory;
    const auto bytes = data.read_array(sample, input, memory);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  static std::vector<float> image(int sample) {
    const std::vector<float> all = images(false);
    constexpr std::ptrdiff_t kSize = kRows * kColumns * kChannels;
    return {all.begin() + sample * kSize, all.begin() + (sample + 1) * kSize};
  }
  /// The number of the sample, which its name "...:17" ends with.
  static int number_of(const std::string& name) { return std::stoi(name.substr(name.find_last_of(":-") + 1)); }

  /// Expects the mean and the deviation of numbers.
  static void expect_statistics(const std::vector<float>& values, double mean, double stddev) {
    long double sum = 0, squares = 0;
    for (const float value : values) sum += value;
    const long double wanted = sum / static_cast<long double>(values.size());
    for (const float value : values) squares += (value - wanted) * (value - wanted);
    EXPECT_DOUBLE_EQ(mean, static_cast<double>(wanted));
    EXPECT_DOUBLE_EQ(stddev, static_cast<double>(std::sqrt(squares / static_cast<long double>(values.size()))));
  }

  SharedDirectory directory_;
  std::string root_ = directory_.path();
  mpi::Communicator alone_;
  ImportParams params_;
};

}  // namespace convoy::test
