/// Damaged versions of a file, thousands of them and always the same ones. A reader must read each or refuse it by
/// name, within a short time, and must check each length before it uses it.
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

/// A number in a file that tells its reader the size of something.
struct LengthField {
  std::size_t offset = 0;
  std::size_t num_bytes = 4;
  std::endian order = std::endian::little;
};

struct Mutator {
  Bytes file;
  std::vector<LengthField> lengths = {};
  std::string_view marks = {};  ///< bytes with a meaning in the format, to be written at wrong positions
  std::size_t head_bytes = 64;  ///< size of the file's beginning, in which half of all changes begin

  /// The `number`-th mutation: one to four changes. A change cuts off the end, flips a bit, writes a run of random
  /// bytes or bytes of 0 or 255, leaves out or doubles bytes, swaps two blocks, sets a length to 0, to its maximum or
  /// to a similar value, or writes a mark.
  Bytes operator()(std::uint64_t number) const;
};

enum class Protection {
  kStructure,  ///< values may differ, as nothing in the file protects them
  kHash        ///< every changed byte must be detected
};

struct MutationSpec {
  int count = 3000;
  std::string names;  ///< text that the message of each refusal must contain
  Protection protection = Protection::kStructure;
};

struct Verdicts {
  int num_unchanged = 0;  ///< mutations that are equal to the file
  int num_read = 0;
  int num_refused = 0;
};

/// While it exists, a reader that hangs ends the program. A reader that took as much memory as a damaged length claims
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

/// Judges a reader on all mutations. `read` takes bytes, checks what it reads from them, and refuses by an Error. Any
/// other exception fails the test.
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
