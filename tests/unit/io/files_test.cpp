/// A file appears whole or not at all, whatever the disk does.
#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/dataset.h"

#include "unit/io/dataset_samples.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::io {
namespace {

using test::message_of;
using test::TemporaryDirectory;

std::vector<std::byte> pattern(std::size_t size, int start) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(start + static_cast<int>(i % 251));
  return bytes;
}

/// While it exists, no file may become longer than `bytes`: writing fails half-way as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_limit_;
  void (*old_handler_)(int);
};

TEST(Files, WrittenIsReadAgainAndReplacesTheOlder) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a";
  for (const std::size_t size : {0u, 1u, 100000u}) {
    write_file_atomically(path, pattern(size, 1));
    EXPECT_EQ(read_file(path), pattern(size, 1));
  }
  EXPECT_EQ(directory.num_files(), 1u);
}

TEST(Files, FullDiskLeavesTheOlderFileAndNoTemporaryOne) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a";
  write_file_atomically(path, pattern(5000, 1));
  {
    const FileSizeLimit limit(10000);
    const std::string message = message_of<Error>([&] { write_file_atomically(path, pattern(1 << 20, 2)); });
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_NE(message.find("File too large"), std::string::npos) << message;
    EXPECT_NE(message.find("needs 1.0 MiB"), std::string::npos) << message;
  }
  EXPECT_EQ(read_file(path), pattern(5000, 1));
  EXPECT_EQ(directory.num_files(), 1u);
}

TEST(Files, FullDiskLeavesAnEarlierDatasetAndNoTemporaryFiles) {
  const TemporaryDirectory directory;
  test::DatasetContent content;
  content.info.image = {8, 8, 1};
  content.info.num_samples = 1000;
  content.info.class_names = {"a"};
  content.images.assign(64 * 1000, 1);
  content.labels.assign(1000, 0);
  test::write_dataset(directory.path(), "train", 1, content);
  const auto before = read_file(directory / "train.h5");
  content.images.assign(64 * 1000, 2);
  for (const rlim_t bytes : {1000, 10000, 40000, 77000}) {  // in HDF5's part, in the images, near the end
    const FileSizeLimit limit(bytes);
    EXPECT_THROW(test::write_dataset(directory.path(), "train", 1, content), Error) << bytes;
    EXPECT_EQ(directory.num_files(), 1u) << bytes;
  }
  EXPECT_EQ(read_file(directory / "train.h5"), before);
  test::write_dataset(directory.path(), "train", 1, content);
  EXPECT_EQ(test::read_sample(Dataset(directory / "train", "data.train"), 7)[3], 2);
}

TEST(Files, LeftOverTemporaryIsOverwritten) {
  const TemporaryDirectory directory;
  write_file_atomically(directory / "a.partial", pattern(50000, 9));
  write_file_atomically(directory / "a", pattern(10, 1));
  EXPECT_EQ(read_file(directory / "a"), pattern(10, 1));
  EXPECT_EQ(directory.num_files(), 1u);
}

TEST(Files, ErrorsNameThePathAndTheSystemsReason) {
  const TemporaryDirectory directory;
  const std::string absent = directory / "no/such/a";
  EXPECT_NE(message_of<Error>([&] { write_file_atomically(absent, {}); }).find("'" + absent + "': No such file"),
            std::string::npos);
  EXPECT_NE(message_of<Error>([&] { read_file(absent); }).find("'" + absent + "': No such file"), std::string::npos);
  EXPECT_NE(message_of<Error>([&] { read_file(directory.path()); }).find("not a file"), std::string::npos);
}

}  // namespace
}  // namespace convoy::io
