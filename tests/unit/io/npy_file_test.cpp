/// Arrays in NumPy's format are read as they were saved, in any order, byte order and range of samples, or refused with
/// a reason.
#include <cstring>
#include <numeric>

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
using test::npy_with;
using test::read_numbers;

class NpyFile : public testing::Test {
 protected:
  std::unique_ptr<ArrayReader> open(const std::string& bytes) const {
    test::write_bytes(path(), std::as_bytes(std::span(bytes)));
    return open_npy(path());
  }
  std::string refusal(const std::string& bytes) const {
    return message_of<RequestError>([&] { open(bytes); });
  }
  std::string path() const { return directory_ / "x.npy"; }

  test::TemporaryDirectory directory_;
};

template <typename Number>
std::vector<Number> counting(std::size_t count) {
  std::vector<Number> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<Number>(i * 7 % 120);
  return numbers;
}

TEST_F(NpyFile, ValuesOfEveryTypeAreReadAsSaved) {
  const auto expect_read = [&]<typename Number>(const char* descr, ElementType type, Number) {
    SCOPED_TRACE(descr);
    const auto numbers = counting<Number>(6);
    const auto array = open(npy({.descr = descr}, bytes_of_numbers(numbers)));
    EXPECT_EQ(array->form(), (ArrayForm{.type = type, .dims = {2, 3}}));
    EXPECT_EQ(size_of(type), std::int64_t{sizeof(Number)});
    EXPECT_EQ(read_numbers<Number>(*array, 0, 2), numbers);
  };
  expect_read("|i1", ElementType::kInt8, std::int8_t{});
  expect_read("<i2", ElementType::kInt16, std::int16_t{});
  expect_read("<i4", ElementType::kInt32, std::int32_t{});
  expect_read("<i8", ElementType::kInt64, std::int64_t{});
  expect_read("|u1", ElementType::kUint8, std::uint8_t{});
  expect_read("<u2", ElementType::kUint16, std::uint16_t{});
  expect_read("<u4", ElementType::kUint32, std::uint32_t{});
  expect_read("<u8", ElementType::kUint64, std::uint64_t{});
  expect_read("<f2", ElementType::kFloat16, std::uint16_t{});
  expect_read("<f4", ElementType::kFloat32, float{});
  expect_read("<f8", ElementType::kFloat64, double{});
  expect_read("|b1", ElementType::kUint8, std::uint8_t{});
}

TEST_F(NpyFile, RangesOfSamplesAreThoseOfTheWhole) {
  const auto numbers = counting<float>(5 * 4);
  const auto array = open(npy({.shape = "(5, 2, 2)"}, bytes_of_numbers(numbers)));
  for (std::int64_t first = 0; first <= 5; ++first)
    for (std::int64_t count = 0; first + count <= 5; ++count)
      EXPECT_EQ(read_numbers<float>(*array, first, count),
                std::vector<float>(numbers.begin() + first * 4, numbers.begin() + (first + count) * 4));
  EXPECT_CONTAINS(message_of<Error>([&] { read_numbers<float>(*array, 4, 2); }), "samples 4 to 5 were requested");
}

// In Fortran order, index (n, i, j) of (N, I, J) is the value number n + N (i + I j).
TEST_F(NpyFile, FortranOrderIsReadRowByRow) {
  constexpr std::size_t kN = 4, kI = 3, kJ = 2, kK = 2;
  std::vector<std::int16_t> saved(kN * kI * kJ * kK), wanted(saved.size());
  for (std::size_t n = 0; n < kN; ++n)
    for (std::size_t i = 0; i < kI; ++i)
      for (std::size_t j = 0; j < kJ; ++j)
        for (std::size_t k = 0; k < kK; ++k) {
          const auto value = static_cast<std::int16_t>(1000 * n + 100 * i + 10 * j + k);
          saved[n + kN * (i + kI * (j + kJ * k))] = value;
          wanted[((n * kI + i) * kJ + j) * kK + k] = value;
        }
  const auto array =
      open(npy({.descr = "<i2", .shape = "(4, 3, 2, 2)", .is_fortran_order = true}, bytes_of_numbers(saved)));
  EXPECT_EQ(read_numbers<std::int16_t>(*array, 0, 4), wanted);
  EXPECT_EQ(read_numbers<std::int16_t>(*array, 2, 1),
            std::vector<std::int16_t>(wanted.begin() + 2 * 12, wanted.begin() + 3 * 12));
}

TEST_F(NpyFile, BigEndianNumbersAreSwapped) {
  const auto array = open(npy({.descr = ">f4", .shape = "(2,)"}, std::string("\x3f\x80\0\0\xc0\0\0\0", 8)));
  EXPECT_EQ(read_numbers<float>(*array, 0, 2), (std::vector<float>{1, -2}));
  const auto wide = open(npy({.descr = ">i8", .shape = "(1,)"}, std::string("\0\0\0\0\0\0\1\2", 8)));
  EXPECT_EQ(read_numbers<std::int64_t>(*wide, 0, 1), (std::vector<std::int64_t>{258}));
  const auto short_one = open(npy({.descr = ">u2", .shape = "(1,)"}, std::string("\1\2", 2)));
  EXPECT_EQ(read_numbers<std::uint16_t>(*short_one, 0, 1), (std::vector<std::uint16_t>{258}));
}

TEST_F(NpyFile, TextsAreReadInUtf8) {
  const std::vector<std::uint32_t> codes = {'c', 'a', 't', 0, 0xe4, 0x20ac, 0x1f600, 0, 0, 0, 0, 0};
  const auto array = open(npy({.descr = "<U4", .shape = "(3,)"}, bytes_of_numbers(codes)));
  EXPECT_EQ(array->form(), (ArrayForm{.type = {}, .dims = {3}}));
  EXPECT_EQ(array->read_texts(0, 3), (std::vector<std::string>{"cat", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", ""}));
  EXPECT_EQ(array->read_texts(1, 1).front().size(), 9u);
  std::vector<float> none(3);
  EXPECT_CONTAINS(message_of<Error>([&] { array->read(0, 3, std::as_writable_bytes(std::span(none))); }),
                  "it holds texts");
  const auto bytes = open(npy({.descr = "|S3", .shape = "(2,)"}, std::string("dogab\0", 6)));
  EXPECT_EQ(bytes->read_texts(0, 2), (std::vector<std::string>{"dog", "ab"}));
  const auto swapped = open(npy({.descr = ">U1", .shape = "(1,)"}, std::string("\0\0\0z", 4)));
  EXPECT_EQ(swapped->read_texts(0, 1), std::vector<std::string>{"z"});
  const auto broken = open(npy({.descr = "<U1", .shape = "(1,)"}, std::string("\0\xd8\0\0", 4)));
  EXPECT_CONTAINS(message_of<Error>([&] { broken->read_texts(0, 1); }), "a character 0xd800");
}

TEST_F(NpyFile, EveryFormOfAHeaderIsRead) {
  const std::string values = bytes_of_numbers(counting<float>(6));
  const ArrayForm form{.type = ElementType::kFloat32, .dims = {2, 3}};
  for (const int version : {1, 2, 3}) EXPECT_EQ(open(npy({.version = version}, values))->form(), form);
  for (const char* const text : {"{'shape': (2L, 3L), 'fortran_order': False, 'descr': '<f4'}",
                                 "{ \"descr\" : \"f4\" ,'fortran_order':False,\n'shape':(2,3,),}",
                                 "{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3), }"})
    EXPECT_EQ(open(npy_with(text, values))->form(), form) << text;
}

TEST_F(NpyFile, EveryTruncationIsRefused) {
  const std::string whole = npy({}, bytes_of_numbers(counting<float>(6)));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string message = refusal(whole.substr(0, size));
    EXPECT_CONTAINS(message, path());
    EXPECT_TRUE(message.find("truncated") != std::string::npos || size < 6) << size << ": " << message;
  }
  EXPECT_CONTAINS(refusal(whole + "more"), "it has 4 bytes after its float32 (2, 3)");
}

TEST_F(NpyFile, WhatCannotBeReadIsRefusedByName) {
  const std::string values = bytes_of_numbers(counting<float>(6));
  const std::vector<std::pair<std::string, const char*>> types = {{"|O", "Python objects (pickles), which are never"},
                                                                  {"<c8", "complex numbers"},
                                                                  {"<M8[ns]", "dates or durations"},
                                                                  {"<f16", "extended precision"},
                                                                  {"|V24", "records"},
                                                                  {"<U0", "texts of '0' characters"},
                                                                  {"<U5000", "Allowed: 1 to 4096"},
                                                                  {"<i3", "a type that is not known (type '<i3')"},
                                                                  {"", "a type that is not known"}};
  for (const auto& [descr, message] : types) EXPECT_CONTAINS(refusal(npy({.descr = descr}, values)), message);
  const std::vector<std::pair<std::string, const char*>> shapes = {
      {"()", "it is a single number"},
      {"(0, 32)", "it has no values: its shape is (0, 32)"},
      {"(0,)", "its shape is (0,)"},
      {"(1, 1, 1, 1, 2, 3)", "has 6 extents. Allowed: 5, for samples"},
      {"(4611686018427387904, 3)", "larger than any file"},
      {"(99999999999999999999,)", "a whole number is expected"},
      {"(-1,)", "a whole number is expected"},
      {"(6)", "',' is expected"},
      {"(2, 3", "expected"},
      {"(2, 4)", "need 32 bytes, but 24 follow"},
      {"(2, 3), 'shape': (2, 3)", "'shape' is twice in it"},
      {"(2, 3), 'colour': 'red'", "'colour' is twice in it, or not known"}};
  for (const auto& [shape, message] : shapes) EXPECT_CONTAINS(refusal(npy({.shape = shape}, values)), message);
  EXPECT_CONTAINS(refusal(npy_with("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (6,)}", values)),
                  "records");
  EXPECT_CONTAINS(refusal(npy_with("{'descr': '<f4', 'shape': (6,)}", values)), "is missing");
  EXPECT_CONTAINS(refusal(npy_with("{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}", values)),
                  "'False' is expected at '0");
  EXPECT_CONTAINS(refusal(npy_with("{} import os", values)), "its end is expected at 'import os");
  EXPECT_CONTAINS(refusal(npy({.version = 9}, values)), "version 9.0");
  EXPECT_CONTAINS(refusal("a,b\n1,2\n"), "it is no array of NumPy");
  EXPECT_CONTAINS(message_of<RequestError>([&] { open_npy(directory_ / "absent.npy"); }), "absent.npy");
  EXPECT_CONTAINS(message_of<RequestError>([&] { open_npy(directory_.path()); }), directory_.path());
}

TEST_F(NpyFile, MutationsAreReadOrRefused) {
  const std::string whole = npy({.descr = "<i4", .shape = "(6, 2)"}, bytes_of_numbers(counting<std::int32_t>(12)));
  test::Mutator mutator{.lengths = {{.offset = 8, .num_bytes = 2}}, .marks = "(),:'{}L<>|", .head_bytes = 128};
  for (const char c : whole) mutator.file.push_back(static_cast<std::byte>(c));
  const test::Verdicts verdicts = test::judge_mutations(mutator, {.names = "x.npy"}, [&](const test::Bytes& bytes) {
    const auto array = open(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    if (!array->form().type) return;
    const auto count = array->form().num_samples();
    std::vector<std::byte> values(
        static_cast<std::size_t>(count * array->form().values_of_sample() * size_of(*array->form().type)));
    array->read(0, count, values);
  });
  EXPECT_GT(verdicts.num_read, 100);
  EXPECT_GT(verdicts.num_refused, 1000);
}

}  // namespace
}  // namespace convoy::io
