/// Damaged versions of a file, thousands of them and always the same ones, and what a reader must make of each: it is
/// read or refused by name, soon, and no length in it is believed before it is checked.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

namespace convoy::test {

using Bytes = std::vector<std::byte>;

/// A number in a file from which its reader learns how much there is.
struct LengthField {
  std::size_t offset = 0;
  std::size_t num_bytes = 4;
  std::endian order = std::endian::little;
};

struct Mutator {
  Bytes file;
  std::vector<LengthField> lengths = {};
  std::string_view marks = {};  ///< bytes that mean something to the format, to be written where they do not belong
  std::size_t head_bytes = 64;  ///< from the file's start: half of all changes begin there

  /// The `number`-th: one change, or up to four: the end cut off, one bit flipped, a run of random bytes, bytes of 0 or
  /// 255, bytes left out or doubled, two blocks swapped, a length that says 0, the most it can, or a little else, a
  /// mark.
  Bytes operator()(std::uint64_t number) const;
};

enum class Protection {
  kStructure,  ///< values may be others, as nothing in the file protects them
  kHash        ///< no changed byte may pass
};

struct MutationSpec {
  int count = 3000;
  std::string names;  ///< stands in the message of each refusal
  Protection protection = Protection::kStructure;
};

struct Verdicts {
  int num_unchanged = 0;  ///< mutations that happen to be the file itself
  int num_read = 0;
  int num_refused = 0;
};

/// While it lives, a reader that hangs ends the program, and one that took memory for what a damaged length claims
/// fails the test at its end.
class ReaderGuard {
 public:
  ReaderGuard();
  ~ReaderGuard();
  ReaderGuard(const ReaderGuard&) = delete;
  ReaderGuard& operator=(const ReaderGuard&) = delete;

  void begin_read() const;

 private:
  std::int64_t peak_bytes_;
};

/// `read` takes bytes; it checks what it gets from them, and refuses by an Error. Any other exception is none of a
/// reader's answers.
template <typename Read>
Verdicts judge_mutations(const Mutator& mutator, const MutationSpec& spec, const Read& read) {
  const ReaderGuard guard;
  Verdicts verdicts;
  for (int number = 0; number < spec.count; ++number) {
    SCOPED_TRACE("mutation " + std::to_string(number));
    const Bytes bytes = mutator(static_cast<std::uint64_t>(number));
    const bool unchanged = bytes == mutator.file;
    guard.begin_read();
    try {
      read(bytes);
      ++(unchanged ? verdicts.num_unchanged : verdicts.num_read);
      EXPECT_TRUE(unchanged || spec.protection != Protection::kHash) << "damage that is not seen";
    } catch (const Error& error) {
      ++verdicts.num_refused;
      const std::string message = error.what();
      EXPECT_FALSE(unchanged) << message;
      EXPECT_NE(message.find(spec.names), std::string::npos) << message;
      EXPECT_LT(message.size(), 2000u) << message;
    }
  }
  return verdicts;
}

}  // namespace convoy::test
