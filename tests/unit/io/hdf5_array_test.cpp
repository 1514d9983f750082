/// Data sets of users' HDF5 files are read as they were written, whatever their chunks, filters and byte order, or
/// refused with a reason.
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/io/array_reader.h"

#include "unit/io/array_files.h"
#include "unit/io/hdf5_files.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::io {
namespace {

using test::message_of;
using test::read_numbers;
using Dims = std::vector<hsize_t>;

class Hdf5ArrayTest : public testing::Test {
 protected:
  /// Writes a data set to the file x.h5, in chunks of two samples that are compressed if `chunked`.
  void write(const std::string& name, hid_t stored, hid_t given, const Dims& dims, const void* values,
             bool chunked = false) const {
    test::write_hdf5(path(), name, stored, given, dims, values, chunked);
  }
  std::string refusal(const std::string& name) const {
    return message_of<RequestError>([&] { open_hdf5(path(), name); });
  }
  std::string path() const { return directory_ / "x.h5"; }

  test::TemporaryDirectory directory_;
};

TEST_F(Hdf5ArrayTest, RangesOfContiguousAndOfCompressedChunksAreThoseOfTheWhole) {
  std::vector<float> numbers(5 * 3 * 4);
  std::iota(numbers.begin(), numbers.end(), 0.5F);
  write("plain", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {5, 3, 4}, numbers.data());
  write("group/packed", H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, {5, 3, 4}, numbers.data(), /*chunked=*/true);
  EXPECT_EQ(names_in_hdf5(path()), (std::vector<std::string>{"group/packed", "plain"}));
  for (const char* const name : {"plain", "/group/packed"}) {
    SCOPED_TRACE(name);
    const auto array = open_hdf5(path(), name);
    EXPECT_EQ(array->form(), (ArrayForm{.type = ElementType::kFloat32, .dims = {5, 3, 4}}));
    for (std::int64_t first = 0; first <= 5; ++first)
      for (std::int64_t count = 0; first + count <= 5; ++count)
        EXPECT_EQ(read_numbers<float>(*array, first, count),
                  std::vector<float>(numbers.begin() + first * 12, numbers.begin() + (first + count) * 12));
    EXPECT_CONTAINS(message_of<Error>([&] { read_numbers<float>(*array, 3, 3); }), "samples 3 to 5 were requested");
  }
}

TEST_F(Hdf5ArrayTest, ValuesOfEveryTypeKeepTheirBits) {
  const std::vector<std::int64_t> whole = {1, 2, 127};
  write("i8", H5T_STD_I8LE, H5T_NATIVE_INT64, {3}, whole.data());
  write("u16", H5T_STD_U16BE, H5T_NATIVE_INT64, {3}, whole.data());
  write("i64", H5T_STD_I64LE, H5T_NATIVE_INT64, {3}, whole.data());
  EXPECT_EQ(read_numbers<std::int8_t>(*open_hdf5(path(), "i8"), 0, 3), (std::vector<std::int8_t>{1, 2, 127}));
  EXPECT_EQ(read_numbers<std::uint16_t>(*open_hdf5(path(), "u16"), 0, 3), (std::vector<std::uint16_t>{1, 2, 127}));
  EXPECT_EQ(read_numbers<std::int64_t>(*open_hdf5(path(), "i64"), 0, 3), whole);
  EXPECT_EQ(open_hdf5(path(), "u16")->form().type, ElementType::kUint16);

  const hdf5::Datatype half(CONVOY_CHECK_HDF5(H5Tcopy(H5T_IEEE_F32LE)));  // as h5py makes it
  CONVOY_CHECK_HDF5(H5Tset_fields(half, 15, 10, 5, 0, 10));
  CONVOY_CHECK_HDF5(H5Tset_size(half, 2));
  CONVOY_CHECK_HDF5(H5Tset_ebias(half, 15));
  const std::vector<float> floats = {1, -2, 0.5};
  write("f16", half, H5T_NATIVE_FLOAT, {3}, floats.data());
  const auto halves = open_hdf5(path(), "f16");
  EXPECT_EQ(halves->form().type, ElementType::kFloat16);
  EXPECT_EQ(read_numbers<std::uint16_t>(*halves, 0, 3), (std::vector<std::uint16_t>{0x3c00, 0xc000, 0x3800}));

  const hdf5::Datatype boolean(CONVOY_CHECK_HDF5(H5Tenum_create(H5T_STD_I8LE)));
  for (const auto& [name, value] : {std::pair("FALSE", std::int8_t{0}), std::pair("TRUE", std::int8_t{1})})
    CONVOY_CHECK_HDF5(H5Tenum_insert(boolean, name, &value));
  const std::vector<std::int8_t> flags = {1, 0, 1};
  write("flags", boolean, boolean, {3}, flags.data());
  EXPECT_EQ(read_numbers<std::int8_t>(*open_hdf5(path(), "flags"), 0, 3), flags);
}

TEST_F(Hdf5ArrayTest, TextsOfFixedAndOfAnyLengthAreRead) {
  const hdf5::Datatype fixed = hdf5::text_type(4);
  write("fixed", fixed, fixed, {2}, "cat\0bird");
  EXPECT_EQ(open_hdf5(path(), "fixed")->form(), (ArrayForm{.type = {}, .dims = {2}}));
  EXPECT_EQ(open_hdf5(path(), "fixed")->read_texts(0, 2), (std::vector<std::string>{"cat", "bird"}));
  const hdf5::Datatype variable(CONVOY_CHECK_HDF5(H5Tcopy(H5T_C_S1)));
  CONVOY_CHECK_HDF5(H5Tset_size(variable, H5T_VARIABLE));
  const std::string longest(5000, 'x');
  const std::vector<const char*> words = {"a", "", "longer than that", longest.c_str()};
  write("variable", variable, variable, {4}, words.data());
  const auto array = open_hdf5(path(), "variable");
  EXPECT_EQ(array->read_texts(0, 3), (std::vector<std::string>{"a", "", "longer than that"}));
  EXPECT_EQ(array->read_texts(2, 1), std::vector<std::string>{"longer than that"});
  EXPECT_CONTAINS(message_of<Error>([&] { array->read_texts(0, 4); }), "texts of more than 4096 bytes");
}

// The elements of a file may all refer to one text, of which each would be read as a copy.
TEST_F(Hdf5ArrayTest, TextsThatTogetherAreTooLongAreNotRead) {
  const hdf5::Datatype variable(CONVOY_CHECK_HDF5(H5Tcopy(H5T_C_S1)));
  CONVOY_CHECK_HDF5(H5Tset_size(variable, H5T_VARIABLE));
  const std::string large(std::size_t{1} << 20, 'x');
  const std::vector<const char*> words(4, large.c_str());
  write("large", variable, variable, {4}, words.data());
  const auto array = open_hdf5(path(), "large");
  EXPECT_CONTAINS(message_of<Error>([&] { array->read_texts(0, 4); }), "texts of more than 4096 bytes");
}

TEST_F(Hdf5ArrayTest, WhatCannotBeReadIsRefusedByName) {
  EXPECT_CONTAINS(message_of<RequestError>([&] { names_in_hdf5(path()); }), "x.h5");
  const float one = 1;
  write("group/x", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {1}, &one);
  EXPECT_CONTAINS(refusal("group"), "it has no data set 'group'. It has: group/x");
  EXPECT_CONTAINS(refusal("group/y"), "it has no data set 'group/y'");
  EXPECT_CONTAINS(refusal("no/such/one"), "it has no data set 'no/such/one'");
  EXPECT_CONTAINS(refusal(""), "it has no data set ''");
  write("scalar", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {}, &one);
  EXPECT_CONTAINS(refusal("scalar"), "it is a single value");
  write("empty", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {0, 3}, nullptr);
  EXPECT_CONTAINS(refusal("empty"), "it has no values: its shape is (0, 3)");
  write("deep", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {1, 1, 1, 1, 1, 1}, &one);
  EXPECT_CONTAINS(refusal("deep"), "has 6 extents");
  const hdf5::Datatype record(CONVOY_CHECK_HDF5(H5Tcreate(H5T_COMPOUND, 4)));
  CONVOY_CHECK_HDF5(H5Tinsert(record, "a", 0, H5T_IEEE_F32LE));
  write("records", record, record, {1}, &one);
  EXPECT_CONTAINS(refusal("records"), "it holds records");
  write("reference", H5T_STD_REF_OBJ, H5T_STD_REF_OBJ, {1}, nullptr);
  EXPECT_CONTAINS(refusal("reference"), "it holds neither numbers nor texts");
  const hdf5::Datatype odd(CONVOY_CHECK_HDF5(H5Tcopy(H5T_STD_I32LE)));
  CONVOY_CHECK_HDF5(H5Tset_precision(odd, 24));
  write("odd", odd, odd, {1}, nullptr);
  EXPECT_CONTAINS(refusal("odd"), "numbers of 24 bits in 4 bytes");
}

TEST_F(Hdf5ArrayTest, AFileThatIsCutShortIsRefused) {
  std::vector<float> numbers(3000);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  write("x", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {1000, 3}, numbers.data());
  const auto whole = std::filesystem::file_size(path());
  for (const std::uintmax_t size : {whole - 1, whole / 2, std::uintmax_t{100}, std::uintmax_t{7}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(path(), size);
    EXPECT_CONTAINS(message_of<Error>([&] { read_numbers<float>(*open_hdf5(path(), "x"), 0, 1000); }), "x.h5");
  }
}

}  // namespace
}  // namespace convoy::io
