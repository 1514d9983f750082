/// Files of NpyWriter, read back by the reader of users' .npy files.
#include "convoy/io/npy_writer.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/io/array_reader.h"

#include "unit/io/array_files.h"
#include "unit/io/temporary_directory.h"

namespace convoy::io {
namespace {

const std::vector<float> kValues = {0.5F, -1.5F, 2, 3, -4, 8.25F};

TEST(NpyWriter, WritesWhatTheReaderReads) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "p.npy";
  NpyWriter writer(path, {2}, 100);
  writer.append(std::span(kValues).first(4));
  writer.append(std::span(kValues).subspan(4));
  writer.finish();
  EXPECT_FALSE(std::filesystem::exists(path));
  writer.commit();
  EXPECT_EQ(std::filesystem::file_size(path), 128 + 6 * sizeof(float)) << "a header that is aligned";
  const auto array = open_npy(path);
  EXPECT_EQ(to_string(array->form()), "float32 (3, 2)");
  std::vector<float> values(6);
  array->read(0, 3, std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, kValues);
}

TEST(NpyWriter, TakesTheLargestExtents) {
  const test::TemporaryDirectory directory;
  NpyWriter writer(directory / "p.npy", {1'000'000'000'000}, 1);
  writer.finish();  // no rows
  writer.commit();
  EXPECT_EQ(read_text(directory / "p.npy")->size(), 128U);
}

TEST(NpyWriter, LeavesNothingWhereARowIsNotComplete) {
  const test::TemporaryDirectory directory;
  {
    NpyWriter writer(directory / "p.npy", {2}, 3);
    writer.append(std::span(kValues).first(3));
    EXPECT_THROW(writer.finish(), Error);
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

// NumPy's own files must not be replaced: they may be the data.
TEST(NpyWriter, KnowsItsOwnFiles) {
  const test::TemporaryDirectory directory;
  NpyWriter writer(directory / "own.npy", {2}, 3);
  writer.append(kValues);
  writer.finish();
  writer.commit();
  write_text_atomically(directory / "numpy.npy", test::npy({.shape = "(3, 2)"}, test::bytes_of_numbers(kValues)));
  write_text_atomically(directory / "short.npy", "\x93NUMPY");
  EXPECT_TRUE(is_own_npy(directory / "own.npy"));
  EXPECT_FALSE(is_own_npy(directory / "numpy.npy"));
  EXPECT_FALSE(is_own_npy(directory / "short.npy"));
  EXPECT_THROW(is_own_npy(directory / "absent.npy"), Error);
}

}  // namespace
}  // namespace convoy::io
