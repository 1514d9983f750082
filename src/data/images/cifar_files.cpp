/// Reads records, and turns planes of channels into pixels of three channels.
#include "data/images/cifar_files.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSide = 32, kPlaneBytes = kSide * kSide, kImageBytes = 3 * kPlaneBytes;

/// Differences between the two sets.
struct Layout {
  std::int64_t label_bytes = 1;  ///< bytes of labels; the last is the label that is kept
  std::int64_t num_classes = 10;
  const char* names_file = "batches.meta.txt";

  std::int64_t record_bytes() const { return label_bytes + kImageBytes; }
};

struct Reading {
  Layout layout;
  SourceListing listing;
  std::vector<std::uint8_t> pixels;
  std::int64_t num_images = 0;
};

std::vector<std::byte> read_whole(const fs::path& path) {
  try {
    return io::read_file(path.string());
  } catch (const Error& error) {
    refuse("import.source: {}", error.what());
  }
}

void add_file(const fs::path& path, SourceSplit& split, Reading& reading) {
  const std::vector<std::byte> bytes = read_whole(path);
  const Layout& layout = reading.layout;
  if (bytes.empty() || std::ssize(bytes) % layout.record_bytes() != 0) {
    refuse("'{}' is truncated, or not CIFAR-{}: it has {} bytes, but an image record has {}. Download it again",
           path.string(), layout.num_classes, bytes.size(), layout.record_bytes());
  }
  const std::int64_t count = std::ssize(bytes) / layout.record_bytes();
  const auto* record = reinterpret_cast<const std::uint8_t*>(bytes.data());
  reading.pixels.reserve(reading.pixels.size() + static_cast<std::size_t>(count * kImageBytes));
  for (std::int64_t i = 0; i < count; ++i, record += layout.record_bytes()) {
    const std::int32_t label = record[layout.label_bytes - 1];
    if (label >= layout.num_classes) {
      refuse("'{}' is damaged: label {} of its image record {} is not one of the {} classes. Download it again",
             path.string(), label, i, layout.num_classes);
    }
    const std::uint8_t* const planes = record + layout.label_bytes;
    for (std::int64_t p = 0; p < kPlaneBytes; ++p) {
      for (std::int64_t c = 0; c < 3; ++c) reading.pixels.push_back(planes[c * kPlaneBytes + p]);
    }
    split.add(fmt::format("{}:{}", path.filename().string(), i), label, reading.num_images++);
  }
}

/// Finds data_batch_1.bin, data_batch_2.bin ... in the order of their numbers.
std::vector<fs::path> find_batches(const fs::path& folder) {
  std::vector<fs::path> batches;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("data_batch_") && name.ends_with(".bin")) batches.push_back(entry.path());
  }
  std::sort(batches.begin(), batches.end(), [](const fs::path& a, const fs::path& b) {
    const std::string x = a.filename().string(), y = b.filename().string();
    return x.size() != y.size() ? x.size() < y.size() : x < y;
  });
  return batches;
}

std::vector<std::string> read_class_names(const fs::path& folder, const Layout& layout) {
  std::vector<std::string> names;
  std::error_code error;
  if (!fs::is_regular_file(folder / layout.names_file, error)) {
    for (std::int64_t i = 0; i < layout.num_classes; ++i) names.push_back(fmt::format("{}", i));
    return names;
  }
  const std::vector<std::byte> bytes = read_whole(folder / layout.names_file);
  std::istringstream lines(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty()) continue;
    try {
      check_is_name(line, "a name of a class");
    } catch (const Error& damage) {
      refuse("'{}': {}. Download it again, or remove it", (folder / layout.names_file).string(), damage.what());
    }
    names.push_back(line);
  }
  if (std::ssize(names) != layout.num_classes) {
    refuse("'{}' names {} classes, not {}. Download it again, or remove it", (folder / layout.names_file).string(),
           names.size(), layout.num_classes);
  }
  return names;
}

}  // namespace

std::unique_ptr<ImageSource> open_cifar(const std::string& folder_name) {
  const fs::path folder(folder_name);
  std::error_code error;
  std::vector<fs::path> train = find_batches(folder);
  fs::path test = folder / "test_batch.bin";
  Reading reading;
  if (train.empty()) {
    reading.layout = {.label_bytes = 2, .num_classes = 100, .names_file = "fine_label_names.txt"};
    train = {folder / "train.bin"};
    test = folder / "test.bin";
  }
  if (!fs::is_regular_file(train.front(), error)) {
    refuse("import.source = {}: there is neither data_batch_1.bin (CIFAR-10) nor train.bin (CIFAR-100)", folder_name);
  }
  reading.listing.class_names = read_class_names(folder, reading.layout);
  reading.listing.splits.resize(fs::is_regular_file(test, error) ? 2 : 1);
  SourceSplit& first = reading.listing.splits.front();
  first.name = "train";
  for (const fs::path& path : train) add_file(path, first, reading);
  if (reading.listing.splits.size() == 2) {
    reading.listing.splits.back().name = "test";
    add_file(test, reading.listing.splits.back(), reading);
  }
  return std::make_unique<MemorySource>(std::move(reading.listing), ImageShape{kSide, kSide, 3},
                                        std::move(reading.pixels));
}

std::vector<std::string> missing_cifar_files(const std::string& folder) {
  std::vector<std::string> wanted = {"test_batch.bin"};
  for (int batch = 1; batch <= 5; ++batch) wanted.push_back(fmt::format("data_batch_{}.bin", batch));
  if (find_batches(folder).empty()) wanted = {"test.bin", "train.bin"};
  std::erase_if(wanted, [&](const std::string& name) {
    std::error_code error;
    return fs::is_regular_file(fs::path(folder) / name, error);
  });
  return wanted;
}

}  // namespace convoy
