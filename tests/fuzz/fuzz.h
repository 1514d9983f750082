/// What the targets of tests/fuzz share: an input is read or refused by an Error, and everything else ends the program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/error.h"

/// A target, by libFuzzer's name for it, which calls it with one input after the other; replay.cpp does in a build
/// without libFuzzer. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  // NOLINT

namespace convoy::fuzz {

/// `read` may throw an Error, which is a valid answer of a parser. Any other exception ends the program.
template <typename Read>
int read_or_refuse(const Read& read) {
  try {
    read();
  } catch (const Error&) {  // refused
  }
  return 0;
}

/// Checks what must hold for everything that a parser accepts. Ends the program if it does not.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "this does not hold: %s\n", what);
  std::abort();
}

/// The parts of an input, taken from its beginning. An input that has ended gives zeros and empty texts.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  bool is_empty() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  bool flag() { return (byte() & 1) != 0; }
  std::size_t below(std::size_t bound) { return byte() % bound; }
  /// Returns a number from eight bytes, the least significant first.
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 8) value |= std::uint64_t{byte()} << shift;
    return value;
  }
  /// Returns a part whose length is in the next two bytes.
  std::string text() {
    const std::size_t low = byte(), length = low | std::size_t{byte()} << 8;
    return take(std::min(length, rest_.size()));
  }
  std::string rest() { return take(rest_.size()); }
  std::vector<std::byte> rest_bytes() {
    const auto bytes = std::as_bytes(rest_);
    rest_ = {};
    return {bytes.begin(), bytes.end()};
  }

 private:
  std::string take(std::size_t count) {
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return {taken.begin(), taken.end()};
  }

  std::span<const std::uint8_t> rest_;
};

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace convoy::fuzz
