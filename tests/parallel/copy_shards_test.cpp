/// Copies of shards are what samples are read from, are made by reading each byte once per node, and leave nothing
/// behind.
#include "convoy/data/copy_shards.h"

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "convoy/base/error.h"
#include "convoy/base/host_name.h"
#include "convoy/io/shard_files.h"

#include "parallel/mpi_main.h"
#include "parallel/shared_directory.h"
#include "unit/io/dataset_samples.h"
#include "unit/messages.h"

namespace convoy::test {

namespace {

namespace fs = std::filesystem;

const ContentSpec kSpec{{40, 30, 3}, 600, 7};

/// A data set in shards, and a folder for their copies. All ranks.
struct Source {
  explicit Source(int num_shards) {
    if (world().rank() == 0) {
      DatasetContent content = make_content(kSpec);
      write_dataset(directory.path(), "train", num_shards, content);
      fs::create_directory(copies);
    }
    world().barrier();
  }
  io::Dataset open() const { return {directory / "train", "data.train"}; }
  std::vector<std::string> shards() const { return io::find_shards(directory / "train", "data.train", "train"); }

  SharedDirectory directory;
  std::string copies = directory / "copies";
};

// All ranks.
void copy(io::Dataset& dataset, const Source& source,
          std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max()) {
  const std::array<io::Dataset*, 1> sets = {&dataset};
  copy_shards({.to = source.copies, .max_bytes = max_bytes, .on_progress = [] {}}, sets, world());
  world().barrier();
}

// So that no sample can come from it; others may still read. All ranks.
void empty_shard(const Source& source, std::size_t shard) {
  world().barrier();
  if (world().rank() == 0) fs::resize_file(source.shards()[shard], 0);
  world().barrier();
}

std::int64_t wrong_bytes(const io::Dataset& dataset) {
  std::int64_t wrong = 0;
  for (std::int64_t n = 0; n < kSpec.num_samples; ++n) {
    const std::vector<std::uint8_t> image = read_sample(dataset, n);
    for (std::size_t i = 0; i < image.size(); ++i)
      wrong += image[i] == known_byte(n, static_cast<std::int64_t>(i)) ? 0 : 1;
  }
  return wrong;
}

// By this process so far, whether from a disk or from memory.
std::int64_t bytes_read() {
  std::ifstream counters("/proc/self/io");
  std::string name;
  std::int64_t value = 0;
  counters >> name >> value;
  EXPECT_EQ(name, "rchar:");
  return value;
}

// A file of this process whose name was in that folder and is removed.
std::string nameless_file_in(const std::string& folder) {
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (fs::read_symlink(entry.path(), ignored).string().starts_with(folder + "/")) return entry.path();
  }
  ADD_FAILURE() << "none is open";
  return "";
}

void change_byte(const std::string& path, std::int64_t from_end) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-from_end, std::ios::end);
  const char byte = static_cast<char>(file.get() + 1);
  file.seekp(-from_end, std::ios::end);
  file.put(byte);
}

}  // namespace

TEST(CopyShards, ReadsEachByteOnceAndLeavesNoFile) {
  const Source source(7);
  io::Dataset dataset = source.open();
  const std::int64_t before = bytes_read();
  copy(dataset, source);
  const std::int64_t read = world().sum(bytes_read() - before);
  const std::int64_t bytes = kSpec.num_samples * kSpec.image.count();
  EXPECT_GE(read, bytes);
  EXPECT_LE(read, bytes + world().size() * 16'384) << "messages between ranks, and the counters themselves";
  EXPECT_TRUE(fs::is_empty(source.copies));
}

TEST(CopyShards, SamplesComeFromTheCopies) {
  const Source source(3);
  io::Dataset dataset = source.open();
  copy(dataset, source);
  for (std::size_t shard = 0; shard < 3; ++shard) empty_shard(source, shard);
  EXPECT_EQ(wrong_bytes(dataset), 0);
}

TEST(CopyShards, WhatDoesNotFitIsReadFromItsOwnFile) {
  const Source source(2);
  io::Dataset dataset = source.open();
  copy(dataset, source, dataset.body_bytes(0));
  EXPECT_TRUE(fs::is_empty(source.copies));
  empty_shard(source, 0);
  EXPECT_EQ(wrong_bytes(dataset), 0);
  empty_shard(source, 1);
  EXPECT_THROW(wrong_bytes(dataset), io::StoreError);
}

// As a disk answers that others fill meanwhile.
TEST(CopyShards, WhatTheDiskRefusesIsReadFromItsOwnFile) {
  const Source source(2);
  io::Dataset dataset = source.open();
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  const auto first = static_cast<rlim_t>(dataset.body_bytes(0));
  const rlimit small{.rlim_cur = first + first / 2, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  copy(dataset, source);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(fs::is_empty(source.copies));
  empty_shard(source, 0);
  EXPECT_EQ(wrong_bytes(dataset), 0);
}

TEST(CopyShards, ADamagedShardIsNamedOnAllRanks) {
  const Source source(2);
  const std::string damaged = source.shards()[1];
  if (world().rank() == 0) change_byte(damaged, 1000);
  world().barrier();
  io::Dataset dataset = source.open();
  EXPECT_CONTAINS(message_of<Error>([&] { copy(dataset, source); }), "'" + damaged + "' is damaged");
  EXPECT_TRUE(fs::is_empty(source.copies));
}

TEST(CopyShards, ACopyThatHasChangedIsNamedAndNotTheShard) {
  const Source source(1);
  io::Dataset dataset = source.open();
  copy(dataset, source);
  if (world().rank() == 0) change_byte(nameless_file_in(source.copies), 1);
  world().barrier();
  EXPECT_CONTAINS(message_of<io::StoreError>([&] { wrong_bytes(dataset); }),
                  "This is the copy that data.copy_to made on " + host_name());
}

TEST(CopyShards, AFolderThatCannotBeUsedIsRefused) {
  const Source source(1);
  io::Dataset dataset = source.open();
  const std::array<io::Dataset*, 1> sets = {&dataset};
  EXPECT_CONTAINS(message_of<RequestError>(
                      [&] { copy_shards({.to = source.copies + "/nowhere", .on_progress = [] {}}, sets, world()); }),
                  "data.copy_to = " + source.copies + "/nowhere: '" + source.copies + "/nowhere' on " + host_name() +
                      ": No such file");
}

TEST(RoomForCopies, IsLessThanWhatIsFree) {
  const Source source(1);
  EXPECT_GT(room_for_copies(source.copies), 0);
  EXPECT_LT(room_for_copies(source.copies), static_cast<std::int64_t>(fs::space(source.copies).available));
  EXPECT_LT(room_for_copies("memory"), static_cast<std::int64_t>(fs::space("/dev/shm").available));
}

}  // namespace convoy::test
