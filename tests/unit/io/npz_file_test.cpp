/// Arrays in zip archives are those that were saved, stored or deflated, read forwards, backwards and in pieces, or
/// refused with a reason.
#include <cstring>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/io/array_reader.h"

#include "unit/io/array_files.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"
#include "unit/mutations.h"

namespace convoy::io {
namespace {

using test::bytes_of_numbers;
using test::message_of;
using test::npy;

std::vector<float> counting(std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i * 7 % 1001) / 8;
  return numbers;
}

std::vector<float> read_floats(ArrayReader& array, std::int64_t first, std::int64_t count) {
  std::vector<float> numbers(static_cast<std::size_t>(count * array.form().values_of_sample()));
  array.read(first, count, std::as_writable_bytes(std::span(numbers)));
  return numbers;
}

class NpzFile : public testing::Test {
 protected:
  std::string path() const { return directory_ / "all.npz"; }
  std::string read_file() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write_file(const std::string& bytes) const { test::write_bytes(path(), std::as_bytes(std::span(bytes))); }
  std::string refusal(const std::string& name) const {
    return message_of<RequestError>([&] { open_npz(path(), name); });
  }

  test::TemporaryDirectory directory_;
  const std::vector<float> x_ = counting(20'000 * 3), position_ = counting(20'000);
  const test::Members members_ = {{"x.npy", npy({.shape = "(20000, 3)"}, bytes_of_numbers(x_))},
                                  {"notes.txt", "not an array"},
                                  {"position.npy", npy({.shape = "(20000,)"}, bytes_of_numbers(position_))}};
};

TEST_F(NpzFile, StoredAndDeflatedArraysAreReadInAnyOrder) {
  for (const bool deflates : {false, true}) {
    SCOPED_TRACE(deflates);
    test::write_zip(path(), members_, deflates);
    EXPECT_EQ(names_in_npz(path()), (std::vector<std::string>{"x", "position"}));
    const auto x = open_npz(path(), "x"), position = open_npz(path(), "position");
    EXPECT_EQ(x->form(), (ArrayForm{.type = ElementType::kFloat32, .dims = {20'000, 3}}));
    EXPECT_EQ(read_floats(*position, 0, 20'000), position_);
    EXPECT_EQ(read_floats(*x, 0, 20'000), x_);
    for (const std::int64_t first : {19'999, 0, 7, 12'345, 12'346, 5})
      EXPECT_EQ(read_floats(*x, first, 1), std::vector<float>(x_.begin() + first * 3, x_.begin() + first * 3 + 3));
  }
}

TEST_F(NpzFile, FortranOrderIsReadIfItIsStored) {
  const test::Members members = {
      {"x.npy", npy({.shape = "(2, 3)", .is_fortran_order = true}, bytes_of_numbers<float>({0, 3, 1, 4, 2, 5}))},
      {"v.npy", npy({.shape = "(6, 1)", .is_fortran_order = true}, bytes_of_numbers<float>({0, 1, 2, 3, 4, 5}))}};
  const std::vector<float> wanted = {0, 1, 2, 3, 4, 5};
  test::write_zip(path(), members, /*deflates=*/false);
  EXPECT_EQ(read_floats(*open_npz(path(), "x"), 0, 2), wanted);
  test::write_zip(path(), members, /*deflates=*/true);
  EXPECT_EQ(read_floats(*open_npz(path(), "v"), 0, 6), wanted);  // both orders are the same
  // These few bytes are deflated although that makes them no shorter.
  EXPECT_CONTAINS(refusal("x"), "it is compressed and in Fortran order");
}

TEST_F(NpzFile, WhatCannotBeReadIsRefusedByName) {
  EXPECT_CONTAINS(message_of<RequestError>([&] { names_in_npz(path()); }), "all.npz");
  write_file("no zip");
  EXPECT_CONTAINS(refusal("x"), "is no archive of NumPy (.npz), or is truncated");
  test::write_zip(path(), {{"a.txt", "text"}}, false);
  EXPECT_CONTAINS(message_of<RequestError>([&] { names_in_npz(path()); }), "holds no arrays");
  test::write_zip(path(), members_, true);
  EXPECT_CONTAINS(refusal("y"), "has no array 'y'. It has: x, position");
  test::write_zip(path(), {{"x.npy", npy({.descr = "|O"}, "\x80\x04]")}}, false);
  EXPECT_CONTAINS(refusal("x"), "array 'x': it holds Python objects (pickles), which are never opened");
}

// The size of a member is at byte 24 of its entry in the central directory, which begins with PK\1\2.
TEST_F(NpzFile, ASizeThatItsBytesCannotGiveIsRefusedBeforeItIsRead) {
  test::write_zip(path(), {{"x.npy", npy({.descr = "|u1", .shape = "(1000000,)"}, std::string(1'000'000, '\0'))}},
                  true);
  std::string bytes = read_file();
  EXPECT_LT(bytes.size(), 5000u);
  EXPECT_EQ(open_npz(path(), "x")->form().num_samples(), 1'000'000);  // large, and possible
  const std::size_t entry = bytes.find("PK\1\2");
  ASSERT_NE(entry, std::string::npos);
  const std::uint32_t size = 0xfffffff0;
  std::memcpy(bytes.data() + entry + 24, &size, sizeof size);
  write_file(bytes);
  EXPECT_CONTAINS(refusal("x"), "cannot unpack to 4294967280");
}

TEST_F(NpzFile, EveryTruncationIsRefused) {
  const std::vector<float> few = counting(12);
  const test::Members members = {{"x.npy", npy({.shape = "(4, 3)"}, bytes_of_numbers(few))}};
  for (const bool deflates : {false, true}) {
    test::write_zip(path(), members, deflates);
    const std::string whole = read_file();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      write_file(whole.substr(0, size));
      EXPECT_CONTAINS(refusal("x"), "all.npz");
    }
  }
}

TEST_F(NpzFile, MutationsAreReadOrRefused) {
  const std::vector<float> few = counting(300);
  for (const bool deflates : {false, true}) {
    test::write_zip(path(), {{"x.npy", npy({.shape = "(100, 3)"}, bytes_of_numbers(few))}}, deflates);
    test::Mutator mutator{.marks = "PK"};
    const std::string whole = read_file();
    for (const char c : whole) mutator.file.push_back(static_cast<std::byte>(c));
    const std::size_t entry = whole.find("PK\1\2");
    mutator.lengths = {{.offset = 18}, {.offset = 22}, {.offset = entry + 20}, {.offset = entry + 24}};
    test::judge_mutations(mutator, {.names = "all.npz"}, [&](const test::Bytes& bytes) {
      test::write_bytes(path(), bytes);
      for (const std::string& name : names_in_npz(path())) {
        const auto array = open_npz(path(), name);
        if (!array->form().type) continue;
        const auto value_bytes = array->form().values_of_sample() * size_of(*array->form().type);
        std::vector<std::byte> values(static_cast<std::size_t>(value_bytes));
        for (std::int64_t i = 0; i < array->form().num_samples(); ++i) array->read(i, 1, values);
      }
    });
  }
}

}  // namespace
}  // namespace convoy::io
