/// Uses words as tokens, in lower case, as Unicode divides texts into words.
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

/// Divides texts at the word boundaries of UAX #29, after converting them to NFKC_Casefold: lower case, and one form
/// for what can be written in several ways. Words hold a letter, a digit or a character of a script without spaces
/// (which ICU divides by dictionaries); spaces, punctuation and symbols are ignored.
class WordSplitter {
 public:
  WordSplitter();
  ~WordSplitter();
  WordSplitter(const WordSplitter&) = delete;
  WordSplitter& operator=(const WordSplitter&) = delete;

  /// Passes the words of a text that check_text() has accepted to `take`, one after the other, in UTF-16.
  void split(std::string_view text, const std::function<void(std::u16string_view word)>& take);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Hash with which words are looked up without a copy of them.
struct WordHash {
  using is_transparent = void;
  std::size_t operator()(std::u16string_view word) const { return std::hash<std::u16string_view>()(word); }
};
template <typename Value>
using WordMap = std::unordered_map<std::u16string, Value, WordHash, std::equal_to<>>;

/// Counts how often words occur: on each rank in a part of the texts, then in all texts.
class WordCounts {
 public:
  void add(std::string_view text);
  /// Returns the counts as bytes, for merge() on another rank.
  std::string pack() const;
  void merge(std::string_view packed);
  bool empty() const { return counts_.empty(); }
  /// Returns the most frequent words as a tokenization of `vocabulary` tokens, including the special ones. Words of
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
