/// The wire format of protobuf (tensorflow/core/util/event.proto), written by hand, in TFRecord's frames:
///   length (8 bytes), masked CRC-32C of it (4), an Event, masked CRC-32C of that (4); all little-endian
#include "telemetry/event_file.h"

#include <array>
#include <bit>

#include <fmt/core.h>
#include <unistd.h>

#include "convoy/base/clock.h"
#include "convoy/base/host_name.h"
#include "convoy/io/atomic_file.h"

namespace convoy {

namespace {

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's, bits reversed
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc % 2 == 1 ? (crc >> 1) ^ kPolynomial : crc >> 1;
    table[byte] = crc;
  }
  return table;
}

// So that a CRC over bytes that hold CRCs is not weak.
std::uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8;
}

template <typename T>
std::string little_endian(T value) {
  std::string bytes(sizeof value, '\0');
  for (std::size_t i = 0; i < sizeof value; ++i) bytes[i] = static_cast<char>((value >> (8 * i)) & 0xff);
  return bytes;
}

// --- Fields of a message: the number and the wire type, then the value.

enum class WireType { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

std::string key(std::uint64_t field, WireType type) {
  return varint((field << 3) | static_cast<std::uint64_t>(type));
}

std::string integer_field(std::uint64_t field, std::int64_t value) {
  return key(field, WireType::kVarint) + varint(static_cast<std::uint64_t>(value));
}

std::string double_field(std::uint64_t field, double value) {
  return key(field, WireType::kFixed64) + little_endian(std::bit_cast<std::uint64_t>(value));
}

std::string float_field(std::uint64_t field, float value) {
  return key(field, WireType::kFixed32) + little_endian(std::bit_cast<std::uint32_t>(value));
}

std::string bytes_field(std::uint64_t field, std::string_view bytes) {
  return key(field, WireType::kLength) + varint(bytes.size()) + std::string(bytes);
}

// --- Messages: Event, its Summary, whose values are Summary.Value, and its SessionLog.

std::string summary_value(const Scalar& scalar) {
  return bytes_field(1, scalar.tag) + float_field(2, static_cast<float>(scalar.value));
}

std::string event_head(double wall_time, std::int64_t step) {
  return double_field(1, wall_time) + integer_field(2, step);
}

std::string version_event(double wall_time) {
  return double_field(1, wall_time) + bytes_field(3, "brain.Event:2");
}

// A SessionLog of status START: what other files of the directory have of this step and later ones is dropped.
std::string start_event(double wall_time, std::int64_t step) {
  constexpr std::int64_t kStart = 1;
  return event_head(wall_time, step) + bytes_field(7, integer_field(1, kStart));
}

std::string record_of(const std::string& event) {
  const std::string length = little_endian<std::uint64_t>(event.size());
  return length + little_endian(masked_crc(length)) + event + little_endian(masked_crc(event));
}

// A name that TensorBoard knows, and that no other start of the run has.
std::string new_path(const std::string& directory, double wall_time) {
  return fmt::format("{}/events.out.tfevents.{:.6f}.{}.{}", directory, wall_time, host_name(), getpid());
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = make_crc_table();
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

EventFile::EventFile(const std::string& directory, std::int64_t last_step, double wall_time)
    : EventFile(new_path(directory, wall_time)) {
  file_.add(record_of(version_event(wall_time)) + record_of(start_event(wall_time, last_step + 1)), now_seconds());
  flush();
}

// Opens the file under its final name at once, because TensorBoard would also read one with a temporary name.
EventFile::EventFile(const std::string& path) : file_(path, io::open_for_writing(path), kMaxWaitSeconds) {}

void EventFile::add(std::int64_t step, double wall_time, const std::vector<Scalar>& scalars, double now) {
  std::string summary;
  for (const Scalar& scalar : scalars) summary += bytes_field(1, summary_value(scalar));
  file_.add(record_of(event_head(wall_time, step) + bytes_field(5, summary)), now);
}

}  // namespace convoy
