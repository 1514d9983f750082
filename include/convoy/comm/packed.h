/// Converts numbers and texts to bytes, for messages between ranks of one program. A text is stored with its length, so
/// it may hold any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace convoy::mpi {

class Packer {
 public:
  void add(std::int64_t number) { add_bytes(std::as_bytes(std::span(&number, 1))); }
  void add(std::string_view text) {
    add(std::ssize(text));
    add_bytes(std::as_bytes(std::span(text)));
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void add_bytes(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  std::vector<std::byte> bytes_;
};

/// Reads the numbers and texts that a Packer has written, in the same order. `bytes` must exist as long as the Unpacker
/// and the texts that it returns, which refer to them.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool is_empty() const { return rest_.empty(); }
  std::int64_t number() {
    std::int64_t value = 0;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  std::string_view text() {
    const auto size = static_cast<std::size_t>(number());
    const std::string_view value(reinterpret_cast<const char*>(rest_.data()), size);
    rest_ = rest_.subspan(size);
    return value;
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace convoy::mpi
