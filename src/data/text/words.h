/// Divides texts into words as tokens, in lower case, by the rules of Unicode.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "convoy/io/tokenization.h"

#include "data/text/tokenizer.h"

namespace convoy {

/// Counts how often each word occurs. Each rank counts in its part of the texts; then merge() adds the counts of
/// others.
class WordCounts {
 public:
  WordCounts();
  ~WordCounts();

  /// Counts the words of a text.
  void add(std::string_view text);
  /// Returns the counts as bytes, which another rank can give to merge().
  std::string pack() const;
  /// Adds the counts that pack() has returned on another rank.
  void merge(std::string_view packed);
  bool empty() const;
  /// Returns a tokenization of at most `vocabulary` tokens: the special tokens and the most frequent words. Words with
  /// equal counts are in the order of their bytes.
  io::Tokenization vocabulary_of(std::int64_t vocabulary) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Makes the tokenizer for words. Throws Error if the vocabulary is not as long as the tokenization says, or has a word
/// twice.
std::unique_ptr<Tokenizer> make_word_tokenizer(const io::Tokenization& tokenization);

}  // namespace convoy
