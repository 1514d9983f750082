/// safetensors files are read back as they were written; damaged and malicious files are refused by name.
#include "convoy/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <limits>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "io/little_endian.h"
#include "unit/io/checkpoint_samples.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::io {
namespace {

using test::make_tensor;
using test::message_of;

using Bytes = std::vector<std::byte>;

// A file of this header and `data_bytes` bytes of values, all 0x40.
Bytes file_of(const std::string& header, std::size_t data_bytes) {
  Bytes bytes(8 + header.size() + data_bytes, std::byte{0x40});
  put_u64(std::span<std::byte>(bytes).first<8>(), header.size());
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  return bytes;
}

std::string entry(const std::string& name, const std::string& type, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

// The header of one tensor, called a.
std::string header_of(const std::string& type, const std::string& shape, const std::string& offsets) {
  return "{" + entry("a", type, shape, offsets) + "}";
}

// The values of a tensor of one dimension whose values have these bits.
std::vector<float> values_of(const std::string& type, std::size_t value_bytes, const std::vector<std::uint64_t>& bits) {
  const std::size_t size = bits.size() * value_bytes;
  Bytes bytes = file_of(header_of(type, fmt::format("[{}]", bits.size()), fmt::format("[0,{}]", size)), size);
  std::size_t at = bytes.size() - size;
  for (const std::uint64_t value : bits)
    for (std::size_t i = 0; i < value_bytes; ++i) bytes[at++] = static_cast<std::byte>(value >> (8 * i));
  return decode_safetensors(bytes, "x").tensors.at(0).values;
}

std::string complaint(const Bytes& bytes) {
  return message_of<Error>([&] { decode_safetensors(bytes, "x"); });
}
std::string complaint(const std::string& header, std::size_t data_bytes) {
  return complaint(file_of(header, data_bytes));
}

StateDict sample() {
  StateDict dict;
  dict.tensors = {make_tensor("bn1.running_mean", {3}, 0.5f), make_tensor("conv1.weight", {3, 2, 1, 2}, -1),
                  make_tensor("empty", {0, 4}, 0), make_tensor("scalar", {}, 7)};
  dict.counters = {{"bn1.num_batches_tracked", 1234567890123}};
  return dict;
}

TEST(Safetensors, ComeBackAsTheyWereWritten) {
  const StateDict dict = sample();
  const Bytes bytes = encode_safetensors(dict);
  EXPECT_TRUE(looks_like_safetensors(bytes));
  const StateDict read = decode_safetensors(bytes, "x");
  EXPECT_EQ(read.counters, dict.counters);
  ASSERT_EQ(read.tensors.size(), dict.tensors.size());
  for (std::size_t i = 0; i < read.tensors.size(); ++i) {
    EXPECT_EQ(read.tensors[i].name, dict.tensors[i].name);
    EXPECT_EQ(read.tensors[i].dims, dict.tensors[i].dims);
    EXPECT_EQ(read.tensors[i].values, dict.tensors[i].values);
  }
}

TEST(Safetensors, AreWrittenWithAlignedValuesAndPyTorchsMetadata) {
  const Bytes bytes = encode_safetensors(sample());
  const std::uint64_t header_bytes = get_u64(std::span(bytes).first<8>());
  EXPECT_EQ(header_bytes % 8, 0u);
  const std::string header(reinterpret_cast<const char*>(bytes.data()) + 8, header_bytes);
  EXPECT_NE(header.find(R"("__metadata__":{"format":"pt","written_by":"convoy"})"), std::string::npos) << header;
  EXPECT_NE(header.find(R"("bn1.num_batches_tracked":{"data_offsets":[0,8],"dtype":"I64","shape":[]})"),
            std::string::npos)
      << header;
  EXPECT_NE(header.find(R"("conv1.weight":{"data_offsets":[20,68],"dtype":"F32","shape":[3,2,1,2]})"),
            std::string::npos)
      << header;
}

TEST(Safetensors, TheSameContentInAnyOrderGivesTheSameBytes) {
  StateDict dict = sample();
  const Bytes bytes = encode_safetensors(dict);
  std::swap(dict.tensors[0], dict.tensors[3]);
  EXPECT_EQ(encode_safetensors(dict), bytes);
}

// Processor time of this process in seconds, the shortest of three: other programs use the machine too.
double seconds_to_decode(std::int64_t num_tensors) {
  StateDict dict;
  for (std::int64_t i = 0; i < num_tensors; ++i)
    dict.tensors.push_back(make_tensor(fmt::format("layer{}.weight", i), {1}, 1));
  const Bytes bytes = encode_safetensors(dict);
  double fastest = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 3; ++run) {
    const std::clock_t start = std::clock();
    EXPECT_EQ(std::ssize(decode_safetensors(bytes, "x").tensors), num_tensors);
    fastest = std::min(fastest, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return fastest;
}

TEST(Safetensors, TenTimesTheTensorsTakeAboutTenTimesTheTime) {
  // n log n: 13 times; n * n: 100 times.
  EXPECT_LT(seconds_to_decode(20'000), 40 * seconds_to_decode(2'000));
}

// Writes a file of `size_bytes` that begins with these bytes; the rest takes no room on the disk.
void write_sparse(const std::string& path, const Bytes& begin, std::uintmax_t size_bytes) {
  test::write_bytes(path, begin);
  std::filesystem::resize_file(path, size_bytes);
}

TEST(Safetensors, AFileOfAnotherSizeThanItsHeaderSaysIsRefusedBeforeItsValuesAreRead) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "a.safetensors";
  const Bytes whole = encode_safetensors(sample());
  test::write_bytes(path, whole);
  EXPECT_TRUE(is_safetensors_file(path));
  EXPECT_EQ(read_safetensors_file(path), whole);
  constexpr std::uintmax_t kHuge = std::uintmax_t{1} << 43;  // sparse: more than any memory
  write_sparse(path, whole, kHuge);
  const auto refusal = [&] { return message_of<Error>([&] { read_safetensors_file(path); }); };
  EXPECT_NE(refusal().find("after the last tensor belong to no tensor"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find(path), std::string::npos) << refusal();
  const Bytes huge = file_of(header_of("F32", "[2199023255552]", "[0,8796093022208]"), 0);  // 2^41 values in 2^43 bytes
  write_sparse(path, huge, huge.size() + kHuge);
  EXPECT_NE(refusal().find("of memory"), std::string::npos) << refusal();
  write_sparse(path, {}, kHuge);
  EXPECT_FALSE(is_safetensors_file(path));
}

TEST(Safetensors, OtherKindsOfFilesDoNotLookLikeThem) {
  EXPECT_FALSE(looks_like_safetensors({}));
  EXPECT_FALSE(looks_like_safetensors(encode_checkpoint(test::make_checkpoint())));
  EXPECT_FALSE(looks_like_safetensors(Bytes(100)));
}

TEST(Safetensors, HalfPrecisionBecomesFloat32Exactly) {
  // Every half against its definition: (-1)^s * 2^(e - 15) * 1.m, or 2^-14 * 0.m if e = 0.
  std::vector<std::uint64_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = i;
  const std::vector<float> values = values_of("F16", 2, halves);
  for (int i = 0; i < 65536; ++i) {
    const int exponent = i >> 10 & 0x1f, mantissa = i & 0x3ff;
    const float got = values[static_cast<std::size_t>(i)];
    EXPECT_EQ(std::signbit(got), i >= 0x8000);
    if (exponent == 0x1f) {
      EXPECT_EQ(std::isnan(got), mantissa != 0);
      EXPECT_EQ(std::isinf(got), mantissa == 0);
      continue;
    }
    const double want = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    EXPECT_EQ(std::abs(static_cast<double>(got)), want) << i;
  }
}

TEST(Safetensors, OtherPrecisionsBecomeFloat32) {
  const std::vector<float> want = {1.5f, -0.25f};
  EXPECT_EQ(values_of("BF16", 2, {0x3fc0, 0xbe80}), want);
  EXPECT_EQ(values_of("F32", 4, {0x3fc00000, 0xbe800000}), want);
  EXPECT_EQ(values_of("F64", 8, {std::bit_cast<std::uint64_t>(1.5), std::bit_cast<std::uint64_t>(-0.25)}), want);
}

TEST(Safetensors, OtherTypesAreRefusedByName) {
  for (const std::string type : {"U8", "I32", "I64", "BOOL", "F8_E4M3", "f32", ""})
    EXPECT_NE(complaint(header_of(type, "[]", "[0,8]"), 8).find("tensor 'a' is of type " + type + "."),
              std::string::npos)
        << type;
  const std::string counter = "{" + entry("bn.num_batches_tracked", "I64", "[]", "[0,8]") + "}";
  EXPECT_EQ(decode_safetensors(file_of(counter, 8), "x").counters.at("bn.num_batches_tracked"), 0x4040404040404040);
}

TEST(Safetensors, EveryWayToBeWrongIsNamed) {
  const std::string good = entry("a", "F32", "[2]", "[0,8]");
  ASSERT_EQ(complaint("{" + good + "}", 8), "(nothing was thrown)");
  ASSERT_EQ(complaint("{" + good + "}   ", 8), "(nothing was thrown)") << "padding";
  struct Case {
    std::string header;
    std::size_t data_bytes;
    std::string says;
  };
  const std::string deep(100'000, '[');
  const std::vector<Case> cases = {
      {"", 0, "does not begin with '{'"},
      {" {}", 0, "does not begin with '{'"},
      {"[]", 0, "does not begin with '{'"},
      {"{", 0, "is not JSON"},
      {"{}x", 0, "is not JSON"},
      {"{\"\xff\":1}", 0, "is not JSON"},
      {R"({"a":1e999})", 0, "is not JSON"},
      {R"({"a":)" + deep, 0, "a list where none belongs"},
      {R"({"a":{"b":)" + deep, 0, "a list where none belongs"},
      {R"({"a":{"b":{"c":1}}})", 0, "nested too deep"},
      {R"({"a":{"shape":[{}]}})", 0, "nested too deep"},
      {"{" + good + "," + good + "}", 8, "has 'a' twice"},
      {R"({"a":{"dtype":"F32","dtype":"F32"}})", 8, "has 'dtype' twice"},
      {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}})", 8, "more than 16 numbers"},
      {"{\"" + std::string(1001, 'n') + "\":1}", 8, "a name of 1001 bytes"},
      {R"({"a":1})", 0, "is not described by an object"},
      {R"({"a":{"dtype":"F32","shape":[2]}})", 8, "has 2 properties"},
      {R"({"a":{"dtype":"F32","shape":[2],"offsets":[0,8]}})", 8, "has no data_offsets"},
      {R"({"a":{"dtype":1,"shape":[2],"data_offsets":[0,8]}})", 8, "a dtype that is not a string"},
      {R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", 8, "a shape that is not a list"},
      {header_of("F32", "[2]", "[0,8,8]"), 8, "not have two data_offsets"},
      {header_of("F32", "[-2]", "[0,8]"), 8, "a dimension that is not a whole number"},
      {header_of("F32", "[2.0]", "[0,8]"), 8, "a dimension that is not a whole number"},
      {header_of("F32", "[99999999999999999999]", "[0,8]"), 8, "a dimension that is not a whole number"},
      {header_of("F32", "[9223372036854775808]", "[0,8]"), 8, "a dimension that is not a whole number"},
      {header_of("F32", "[2147483648,2147483648,2147483648]", "[0,8]"), 8, "larger than any file"},
      {header_of("F32", "[4611686018427387904]", "[0,0]"), 0, "larger than any file"},
      {header_of("F32", "[2]", "[8,0]"), 8, "before its begin"},
      {header_of("F32", "[3]", "[0,8]"), 8, "its type and shape need 12"},
      {header_of("F32", "[2]", "[0,8]"), 7, "truncated or damaged"},
      {header_of("F32", "[1000000000000]", "[0,4000000000000]"), 8, "truncated or damaged"},
      {header_of("F32", "[2]", "[0,8]"), 9, "1 bytes after the last tensor"},
      {header_of("F32", "[2]", "[4,12]"), 12, "a hole of 4 bytes"},
      {"{" + good + "," + entry("b", "F32", "[2]", "[4,12]") + "}", 12, "begins within another"},
      {"{" + good + "," + entry("b", "F32", "[1]", "[0,4]") + "}", 8, "begins within another"},
      {"{" + entry("bn.num_batches_tracked", "I64", "[2]", "[0,16]") + "}", 16, "is not one number"},
      {R"({"__metadata__":1})", 0, "is not an object"},
      {R"({"__metadata__":{"format":1}})", 0, "is not a string"},
      {"{}", 8, "8 bytes after the last tensor"},
  };
  for (const Case& wrong : cases) {
    const std::string got = complaint(wrong.header, wrong.data_bytes);
    EXPECT_EQ(got.find("safetensors file 'x': "), 0u) << got;
    EXPECT_NE(got.find(wrong.says), std::string::npos) << wrong.header.substr(0, 200) << "\n  " << got;
  }
}

TEST(Safetensors, AnImpossibleLengthOfTheHeaderIsRefusedBeforeMemoryIsTaken) {
  Bytes bytes = file_of("{}", 0);
  for (const std::uint64_t length : {std::uint64_t{3}, std::uint64_t{100'000'000}, std::uint64_t{100'000'001},
                                     std::numeric_limits<std::uint64_t>::max()}) {
    put_u64(std::span<std::byte>(bytes).first<8>(), length);
    EXPECT_NE(complaint(bytes).find(length > 100'000'000 ? "at most 100000000 are allowed" : "it is truncated"),
              std::string::npos)
        << complaint(bytes);
  }
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const Bytes bytes = encode_safetensors(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(
        complaint({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}).find("safetensors file 'x': "),
        0u)
        << size;
}

}  // namespace
}  // namespace convoy::io
