/// Words as tokens: where Unicode says that words begin and end, in lower case.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convoy/io/tokenization.h"

#include "data/text/tokenizer.h"

namespace convoy {

/// Divides texts by UAX #29's word boundaries, once they are brought to NFKC_Casefold: lower case, one form for what is
/// written in several ways. Words are what holds a letter, a digit or a character of a script without spaces (those by
/// ICU's dictionaries); spaces, punctuation and symbols are passed over.
class WordSplitter {
 public:
  WordSplitter();
  ~WordSplitter();
  WordSplitter(const WordSplitter&) = delete;
  WordSplitter& operator=(const WordSplitter&) = delete;

  /// The words of a text that check_text() has accepted, one after the other, in UTF-16.
  void split(std::string_view text, const std::function<void(std::u16string_view word)>& take);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Looks up words without a copy of them.
struct WordHash {
  using is_transparent = void;
  std::size_t operator()(std::u16string_view word) const { return std::hash<std::u16string_view>()(word); }
};
template <typename Value>
using WordMap = std::unordered_map<std::u16string, Value, WordHash, std::equal_to<>>;

/// How often words occur: on each rank in a part of the texts, then in all.
class WordCounts {
 public:
  void add(std::string_view text);
  /// Counts as bytes, for another rank's merge().
  std::string pack() const;
  void merge(std::string_view packed);
  bool empty() const { return counts_.empty(); }
  /// The most frequent words, those of equal counts in the order of their bytes, so many that there are `vocabulary`
  /// tokens with the special ones.
  io::Tokenization vocabulary_of(std::int64_t vocabulary) const;

 private:
  WordSplitter splitter_;
  WordMap<std::int64_t> counts_;
};

class WordTokenizer final : public Tokenizer {
 public:
  explicit WordTokenizer(const io::Tokenization& tokenization);

  void encode(std::string_view text, std::vector<std::int32_t>& tokens) override;

 private:
  WordSplitter splitter_;
  WordMap<std::int32_t> tokens_;
};

}  // namespace convoy
