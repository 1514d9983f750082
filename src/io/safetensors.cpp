/// The safetensors format: reads the header by a JSON parser with strict limits, the values directly from the bytes.
#include "convoy/io/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>

#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"

#include "io/little_endian.h"

namespace convoy::io {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the format's own library
constexpr std::size_t kMaxListLength = 16;
constexpr std::size_t kMaxNameBytes = 1000;
constexpr const char *kMetadata = "__metadata__", *kWrittenBy = "written_by", *kConvoy = "convoy";
constexpr std::string_view kCounterSuffix = "num_batches_tracked";

// --- Types of values ---------------------------------------------------------------------------------------------

struct ValueType {
  std::string_view name;
  std::uint64_t size_bytes;
  float (*to_float)(const std::byte* value);  ///< null for integers
};

template <typename Bits>
Bits get(const std::byte* value) {
  Bits bits = 0;
  for (std::size_t i = 0; i < sizeof(Bits); ++i)
    bits = static_cast<Bits>(bits | static_cast<Bits>(std::to_integer<Bits>(value[i]) << (8 * i)));
  return bits;
}

float from_f32(const std::byte* value) {
  return std::bit_cast<float>(get<std::uint32_t>(value));
}
float from_f64(const std::byte* value) {
  return static_cast<float>(std::bit_cast<double>(get<std::uint64_t>(value)));
}
float from_bf16(const std::byte* value) {
  return std::bit_cast<float>(std::uint32_t{get<std::uint16_t>(value)} << 16);
}
// Sign, 5 bits of exponent (bias 15, float32's 127), 10 of mantissa.
float from_f16(const std::byte* value) {
  const std::uint32_t half = get<std::uint16_t>(value);
  const std::uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 0x1f, mantissa = half & 0x3ff;
  if (exponent == 0) {  // zero and subnormal: mantissa * 2^-24, exact
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign == 0 ? magnitude : -magnitude;
  }
  const std::uint32_t widened = exponent == 0x1f ? 0xff : exponent + 127 - 15;
  return std::bit_cast<float>(sign | widened << 23 | mantissa << 13);
}

constexpr ValueType kTypes[] = {
    {"F32", 4, from_f32}, {"F16", 2, from_f16}, {"BF16", 2, from_bf16}, {"F64", 8, from_f64}, {"I64", 8, nullptr}};

const ValueType& type_of(const std::string& tensor, const std::string& name) {
  const auto* found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const ValueType& type) { return type.name == name; });
  const bool is_counter = tensor.ends_with(kCounterSuffix);
  if (found == std::end(kTypes) || (found->to_float == nullptr && !is_counter))
    fail("tensor '{}' is of type {}. Convoy reads F32, F16, BF16 and F64, and I64 for {}", tensor,
         std::string_view(name).substr(0, 20), kCounterSuffix);
  return *found;
}

// --- The header --------------------------------------------------------------------------------------------------

struct Entry {
  std::string name;
  const ValueType* type = nullptr;
  std::vector<std::int64_t> dims;
  std::uint64_t begin = 0, end = 0;  ///< bytes from the header's end
};

// Reads the header once before anything of it is kept: objects may not be nested deeper than the format's, lists not
// longer than a shape, and each name may occur once. (The parser's own callbacks take quadratic time: at each object's
// end they search its parent.)
class HeaderGuard final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return count_value(); }
  bool boolean(bool) override { return count_value(); }
  bool number_integer(std::int64_t) override { return count_value(); }
  bool number_unsigned(std::uint64_t) override { return count_value(); }
  bool number_float(double, const std::string&) override { return count_value(); }
  bool string(std::string&) override { return count_value(); }
  bool binary(Json::binary_t&) override { return count_value(); }

  bool start_object(std::size_t) override {
    if (in_list_ || depth_ > 1) fail("its header is nested too deep");
    names_[depth_++].clear();
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool key(std::string& name) override {
    if (name.size() > kMaxNameBytes) fail("its header has a name of {} bytes", name.size());
    check_is_name(name, "a name in its header");
    if (!names_[depth_ - 1].insert(name).second) fail("its header has '{}' twice", name);
    return true;
  }

  bool start_array(std::size_t) override {
    if (in_list_ || depth_ != 2) fail("its header has a list where none belongs");
    in_list_ = true;
    list_length_ = 0;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    fail("its header is not JSON ({})", std::string_view(error.what()).substr(0, kMaxNameBytes));
  }

 private:
  bool count_value() {
    if (in_list_ && ++list_length_ > kMaxListLength) fail("its header has a list of more than {} numbers", kMaxListLength);
    return true;
  }

  std::set<std::string> names_[2];
  int depth_ = 0;  ///< number of open objects
  bool in_list_ = false;
  std::size_t list_length_ = 0;
};

Json parse_header(std::string_view text) {
  if (!text.starts_with('{')) fail("its header does not begin with '{{'");
  HeaderGuard guard;
  Json::sax_parse(text.begin(), text.end(), &guard);
  return Json::parse(text.begin(), text.end());
}

const Json& member(const Json& object, const std::string& tensor, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) fail("tensor '{}' has no {}", tensor, name);
  return *found;
}

std::uint64_t whole_number(const Json& value, const std::string& tensor, const char* what) {
  // At most 2^63 - 1: sums and sizes are signed elsewhere.
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMax)
    fail("tensor '{}' has a {} that is not a whole number from 0 to 2^63 - 1", tensor, what);
  return value.get<std::uint64_t>();
}

Entry read_entry(const std::string& name, const Json& object) {
  if (!object.is_object()) fail("tensor '{}' is not described by an object", name);
  if (object.size() != 3) fail("tensor '{}' has {} properties, not dtype, shape, data_offsets", name, object.size());
  Entry entry{.name = name};
  const Json &type = member(object, name, "dtype"), &shape = member(object, name, "shape"),
             &offsets = member(object, name, "data_offsets");
  if (!type.is_string()) fail("tensor '{}' has a dtype that is not a string", name);
  if (!shape.is_array()) fail("tensor '{}' has a shape that is not a list", name);
  if (!offsets.is_array() || offsets.size() != 2) fail("tensor '{}' does not have two data_offsets", name);
  entry.type = &type_of(name, type.get_ref<const std::string&>());
  std::uint64_t size_bytes = entry.type->size_bytes;
  for (const Json& dim : shape) {
    entry.dims.push_back(static_cast<std::int64_t>(whole_number(dim, name, "dimension")));
    if (__builtin_mul_overflow(size_bytes, static_cast<std::uint64_t>(entry.dims.back()), &size_bytes))
      fail("tensor '{}' has a shape that is larger than any file", name);
  }
  entry.begin = whole_number(offsets[0], name, "data_offset");
  entry.end = whole_number(offsets[1], name, "data_offset");
  if (entry.begin > entry.end) fail("tensor '{}' ends at {}, before its begin {}", name, entry.end, entry.begin);
  if (entry.end - entry.begin != size_bytes)
    fail("tensor '{}' has {} bytes, but its type and shape need {}", name, entry.end - entry.begin, size_bytes);
  if (entry.type->to_float == nullptr && size_bytes != entry.type->size_bytes)
    fail("tensor '{}' is not one number", name);
  return entry;
}

void check_metadata(const Json& metadata) {
  if (!metadata.is_object()) fail("its {} is not an object", kMetadata);
  for (const auto& [key, value] : metadata.items())
    if (!value.is_string()) fail("its {} '{}' is not a string", kMetadata, key);
}

// Checks that the ranges follow each other from the first byte to the last.
void check_ranges(std::vector<Entry> entries, std::uint64_t data_bytes) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  std::uint64_t position = 0;
  for (const Entry& entry : entries) {
    if (entry.end > data_bytes)
      fail("tensor '{}' ends at byte {} of {}: the file is truncated or damaged", entry.name, entry.end, data_bytes);
    if (entry.begin < position) fail("tensor '{}' begins within another", entry.name);
    if (entry.begin > position)
      fail("there is a hole of {} bytes before tensor '{}'", entry.begin - position, entry.name);
    position = entry.end;
  }
  if (position != data_bytes) fail("{} bytes after the last tensor belong to no tensor", data_bytes - position);
}

void check_length(std::uint64_t file_bytes) {
  if (file_bytes < kLengthBytes) fail("it is too short for a safetensors file: {} bytes", file_bytes);
}

// The size in bytes of the header with which a file of `file_bytes` begins.
std::uint64_t read_header_bytes(std::span<const std::byte, kLengthBytes> begin, std::uint64_t file_bytes) {
  const std::uint64_t header_bytes = get_u64(begin);
  if (header_bytes > kMaxHeaderBytes)
    fail("its header would be of {} bytes, at most {} are allowed", header_bytes, kMaxHeaderBytes);
  if (header_bytes > file_bytes - kLengthBytes)
    fail("it is truncated: the header of {} bytes is longer than the file", header_bytes);
  return header_bytes;
}

// The tensors of a file that has `data_bytes` after this header. Each of these bytes must belong to a tensor.
std::vector<Entry> read_entries(std::span<const std::byte> header, std::uint64_t data_bytes) {
  std::vector<Entry> entries;
  const Json described = parse_header({reinterpret_cast<const char*>(header.data()), header.size()});
  for (const auto& [name, value] : described.items()) {
    if (name == kMetadata) {
      check_metadata(value);
    } else {
      entries.push_back(read_entry(name, value));
    }
  }
  check_ranges(entries, data_bytes);
  return entries;
}

StateDict decode(std::span<const std::byte> bytes) {
  check_length(bytes.size());
  const std::uint64_t header_bytes = read_header_bytes(bytes.first<kLengthBytes>(), bytes.size());
  const auto data = bytes.subspan(kLengthBytes + header_bytes);
  std::vector<Entry> entries = read_entries(bytes.subspan(kLengthBytes, header_bytes), data.size());

  StateDict dict;
  for (Entry& entry : entries) {
    const std::byte* value = data.data() + entry.begin;
    if (entry.type->to_float == nullptr) {
      dict.counters[entry.name] = static_cast<std::int64_t>(get<std::uint64_t>(value));
      continue;
    }
    NamedTensor& tensor = dict.tensors.emplace_back();
    tensor.name = std::move(entry.name);
    tensor.dims = std::move(entry.dims);
    tensor.values.resize((entry.end - entry.begin) / entry.type->size_bytes);
    for (float& to : tensor.values) to = entry.type->to_float(value), value += entry.type->size_bytes;
  }
  return dict;
}

// Checks the header against the file's size before the values are read.
std::vector<std::byte> read_if_whole(const std::string& path) {
  const FileDescriptor file = open_for_reading(path);
  const std::uint64_t size = file_size(file, path);
  check_length(size);
  std::array<std::byte, kLengthBytes> begin;
  read_at(file, 0, begin, path);
  std::vector<std::byte> header(read_header_bytes(begin, size));
  read_at(file, kLengthBytes, header, path);
  read_entries(header, size - kLengthBytes - header.size());
  return read_whole(file, path);
}

// --- Writing -----------------------------------------------------------------------------------------------------

template <typename Bits>
void append(std::vector<std::byte>& bytes, Bits value) {
  for (std::size_t i = 0; i < sizeof(Bits); ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

}  // namespace

bool looks_like_safetensors(std::span<const std::byte> bytes) {
  return bytes.size() > kLengthBytes && get_u64(bytes.first<kLengthBytes>()) <= kMaxHeaderBytes &&
         bytes[kLengthBytes] == std::byte{'{'};
}

bool is_safetensors_file(const std::string& path) {
  const FileDescriptor file = open_for_reading(path);
  std::array<std::byte, kLengthBytes + 1> begin;
  if (file_size(file, path) < begin.size()) return false;
  read_at(file, 0, begin, path);
  return looks_like_safetensors(begin);
}

bool is_own_safetensors_file(const std::string& path) {
  if (!is_safetensors_file(path)) return false;
  const FileDescriptor file = open_for_reading(path);
  std::array<std::byte, kLengthBytes> length;
  read_at(file, 0, length, path);
  std::string header(std::min(get_u64(length), file_size(file, path) - kLengthBytes), '\0');
  read_at(file, kLengthBytes, std::as_writable_bytes(std::span(header)), path);
  const Json json = Json::parse(header, nullptr, /*allow_exceptions=*/false);
  const auto metadata = json.find(kMetadata);
  if (!json.is_object() || metadata == json.end() || !metadata->is_object()) return false;
  const auto writer = metadata->find(kWrittenBy);
  return writer != metadata->end() && *writer == kConvoy;
}

std::vector<std::byte> read_safetensors_file(const std::string& path) {
  try {
    return read_if_whole(path);
  } catch (const Error& error) {
    fail("safetensors file '{}': {}", path, error.what());
  }
}

StateDict decode_safetensors(std::span<const std::byte> bytes, const std::string& where) {
  try {
    return decode(bytes);
  } catch (const Error& error) {
    fail("safetensors file '{}': {}", where, error.what());
  }
}

std::vector<std::byte> encode_safetensors(const StateDict& dict) {
  // Counters come first: then the offsets of all values are multiples of their size.
  Json header = {{kMetadata, {{"format", "pt"}, {kWrittenBy, kConvoy}}}};
  std::uint64_t position = 0;
  const auto describe = [&](const std::string& name, const char* type, const Json& shape, std::uint64_t size_bytes) {
    if (header.contains(name)) fail("tensor '{}' cannot be written twice", name);
    header[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {position, position + size_bytes}}};
    position += size_bytes;
  };
  for (const auto& [name, value] : dict.counters) describe(name, "I64", Json::array(), sizeof(value));
  std::vector<const NamedTensor*> sorted;
  for (const NamedTensor& tensor : dict.tensors) sorted.push_back(&tensor);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  for (const NamedTensor* tensor : sorted)
    describe(tensor->name, "F32", tensor->dims, tensor->values.size() * sizeof(float));

  std::string text = header.dump();
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  std::vector<std::byte> bytes;
  bytes.reserve(kLengthBytes + text.size() + position);
  append(bytes, std::uint64_t{text.size()});
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  for (const auto& [name, value] : dict.counters) append(bytes, static_cast<std::uint64_t>(value));
  for (const NamedTensor* tensor : sorted)
    for (const float value : tensor->values) append(bytes, std::bit_cast<std::uint32_t>(value));
  return bytes;
}

}  // namespace convoy::io
