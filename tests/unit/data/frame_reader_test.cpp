/// Frames that come through a pipe in pieces of any size, and the ways in which a stream ends.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "convoy/base/file_descriptor.h"
#include "convoy/data/frames.h"

#include "unit/io/temporary_directory.h"

namespace convoy {
namespace {

constexpr std::int64_t kFrameBytes = 7, kBlockFrames = 4;  // no piece below ends with a frame or a block by chance
constexpr FrameReader::Spec kSpec{.frame_bytes = kFrameBytes, .block_frames = kBlockFrames, .num_blocks = 3};
constexpr double kPatienceSeconds = 20;

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    read = FileDescriptor(ends[0]);
    write = FileDescriptor(ends[1]);
  }
  void close_write() { FileDescriptor closed = std::move(write); }

  FileDescriptor read, write;
};

std::vector<std::byte> numbered_bytes(std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 % 251);
  return bytes;
}

// Writes the bytes in pieces of the given sizes, in turn, and closes the pipe.
void write_in_pieces(Pipe& pipe, const std::vector<std::byte>& bytes, const std::vector<std::size_t>& sizes) {
  std::size_t written = 0;
  for (std::size_t i = 0; written < bytes.size(); ++i) {
    const std::size_t size = std::min(sizes[i % sizes.size()], bytes.size() - written);
    ASSERT_EQ(::write(pipe.write.get(), bytes.data() + written, size), static_cast<ssize_t>(size));
    written += size;
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // the reader sees most pieces alone
  }
  pipe.close_write();
}

// Takes block after block to the end.
std::vector<std::byte> read_all(FrameReader& reader, std::vector<std::int64_t>* block_bytes = nullptr) {
  std::vector<std::byte> all;
  for (std::int64_t number = 0; reader.wait_for(number, kPatienceSeconds) && reader.num_read() > number; ++number) {
    const auto block = reader.block(number);
    all.insert(all.end(), block.begin(), block.end());
    if (block_bytes != nullptr) block_bytes->push_back(std::ssize(block));
    reader.release_before(number + 1);
  }
  return all;
}

TEST(FrameReader, JoinsPiecesOfAnySizeToTheSameFrames) {
  const auto bytes = numbered_bytes(40 * kFrameBytes);  // ten blocks, more than are in memory
  for (const std::vector<std::size_t>& sizes : std::vector<std::vector<std::size_t>>{{1}, {3, 5, 11}, {29}, {280}}) {
    Pipe pipe;
    FrameReader reader(pipe.read.get(), kSpec);
    std::thread writer([&] { write_in_pieces(pipe, bytes, sizes); });
    EXPECT_TRUE(read_all(reader) == bytes) << sizes.front();
    writer.join();
    EXPECT_EQ(reader.end().rest_bytes, 0);
    EXPECT_EQ(reader.end().error_number, 0);
  }
}

TEST(FrameReader, GivesALastBlockOfFewerFrames) {
  Pipe pipe;
  FrameReader reader(pipe.read.get(), kSpec);
  write_in_pieces(pipe, numbered_bytes(6 * kFrameBytes), {10});
  std::vector<std::int64_t> block_bytes;
  read_all(reader, &block_bytes);
  EXPECT_EQ(block_bytes, (std::vector<std::int64_t>{4 * kFrameBytes, 2 * kFrameBytes}));
}

TEST(FrameReader, KeepsTheWholeFramesBeforeAnIncompleteOneAndCountsItsBytes) {
  for (const std::int64_t whole : {0, 3, 4, 6}) {  // within the first block, at its end, in the second one
    Pipe pipe;
    FrameReader reader(pipe.read.get(), kSpec);
    const auto bytes = numbered_bytes(whole * kFrameBytes + 5);
    write_in_pieces(pipe, bytes, {16});
    const auto read = read_all(reader);
    EXPECT_TRUE(std::equal(read.begin(), read.end(), bytes.begin()));
    EXPECT_EQ(std::ssize(read), whole * kFrameBytes);
    EXPECT_EQ(reader.end().rest_bytes, 5) << whole;
  }
}

TEST(FrameReader, OfAnEmptyStreamHasNoBlock) {
  Pipe pipe;
  FrameReader reader(pipe.read.get(), kSpec);
  pipe.close_write();
  EXPECT_TRUE(reader.wait_for(0, kPatienceSeconds));
  EXPECT_EQ(reader.num_read(), 0);
  EXPECT_EQ(reader.end().rest_bytes, 0);
}

TEST(FrameReader, ReadsAFile) {
  const test::TemporaryDirectory directory;
  const auto bytes = numbered_bytes(9 * kFrameBytes);
  std::ofstream(directory / "film.rgb", std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  const FileDescriptor file(open((directory / "film.rgb").c_str(), O_RDONLY | O_CLOEXEC));
  FrameReader reader(file.get(), kSpec);
  EXPECT_TRUE(read_all(reader) == bytes);
}

TEST(FrameReader, TellsTheReasonOfAReadThatFails) {
  const FileDescriptor folder(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  FrameReader reader(folder.get(), kSpec);
  ASSERT_TRUE(reader.wait_for(0, kPatienceSeconds));
  EXPECT_EQ(reader.num_read(), 0);
  EXPECT_EQ(reader.end().error_number, EISDIR);
}

TEST(FrameReader, ReadsNoFurtherThanItsMemory) {
  Pipe pipe;
  FrameReader reader(pipe.read.get(), kSpec);
  write_in_pieces(pipe, numbered_bytes(20 * kFrameBytes), {140});
  ASSERT_TRUE(reader.wait_for(2, kPatienceSeconds));
  EXPECT_FALSE(reader.wait_for(3, 0.2)) << "a block that nobody has released was overwritten";
  EXPECT_EQ(reader.num_read(), 3);
  reader.release_before(1);
  EXPECT_TRUE(reader.wait_for(3, kPatienceSeconds));
  EXPECT_EQ(reader.num_read(), 4);
}

TEST(FrameReader, EndsWhileItWaitsForDataOrForMemory) {
  Pipe silent, full;
  const FrameReader waits_for_data(silent.read.get(), kSpec);
  const FrameReader waits_for_memory(full.read.get(), kSpec);
  write_in_pieces(full, numbered_bytes(20 * kFrameBytes), {140});
  EXPECT_TRUE(waits_for_memory.wait_for(2, kPatienceSeconds));
  EXPECT_FALSE(waits_for_data.wait_for(0, 0.01));
}  // would never return

}  // namespace
}  // namespace convoy
