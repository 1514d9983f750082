/// Divides texts into words as tokens, in lower case, by the rules of Unicode.
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

/// Divides texts at the word boundaries of Unicode (UAX #29), after converting them to NFKC_Casefold: lower case, with
/// one form for characters that can be written in several ways. A word has at least one letter, digit or character of a
/// script without spaces (such texts are divided by ICU's dictionaries). Spaces, punctuation and symbols are ignored.
class WordSplitter {
 public:
  WordSplitter();
  ~WordSplitter();
  WordSplitter(const WordSplitter&) = delete;
  WordSplitter& operator=(const WordSplitter&) = delete;

  /// Calls take(word) for each word of the text, in order, in UTF-16. check_text() has accepted the text.
  void split(std::string_view text, const std::function<void(std::u16string_view word)>& take);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A hash function for WordMap, with which words are looked up by a string_view, without copying them.
struct WordHash {
  using is_transparent = void;
  std::size_t operator()(std::u16string_view word) const { return std::hash<std::u16string_view>()(word); }
};
template <typename Value>
using WordMap = std::unordered_map<std::u16string, Value, WordHash, std::equal_to<>>;

/// Counts how often each word occurs. Each rank counts in its part of the texts; then merge() adds the counts of
/// others.
class WordCounts {
 public:
  /// Counts the words of a text.
  void add(std::string_view text);
  /// Returns the counts as bytes, which another rank can give to merge().
  std::string pack() const;
  /// Adds the counts that pack() has returned on another rank.
  void merge(std::string_view packed);
  bool empty() const { return counts_.empty(); }
  /// Returns a tokenization of at most `vocabulary` tokens: the special tokens and the most frequent words. Words with
  /// equal counts are in the order of their bytes.
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
