/// Chooses at random what BERT is pre-trained on (Devlin et al. 2018, section 3.1 and appendix A.2): pairs of spans of
/// texts, and the words in them that are masked. The random numbers depend on numbers that every rank knows, so stages
/// need no messages for them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/io/sample_store.h"

namespace convoy {

/// A span of neighbouring tokens of a text: `count` tokens from token `begin` on of the text with the index `sample`.
struct TextSpan {
  std::int64_t sample = 0, begin = 0, count = 0;

  bool operator==(const TextSpan&) const = default;
};

/// Two spans A and B. The network reads them as a row of tokens [CLS] A [SEP] B [SEP].
struct SpanPair {
  TextSpan a, b;
  bool follows = false;  ///< true: B follows A in the same text; false: B is from another text, or empty

  std::int64_t num_words() const { return a.count + b.count; }  ///< without [CLS] and [SEP]
  std::int64_t length() const { return num_words() + 3; }       ///< with [CLS] and [SEP]
  /// Returns the position, in the row [CLS] A [SEP] B [SEP], of word `word` of A and B, which is in 0..num_words()-1.
  std::int64_t position_of(std::int64_t word) const { return word < a.count ? word + 1 : word + 2; }

  bool operator==(const SpanPair&) const = default;
};

struct MaskedPairSpec {
  std::int64_t length = 0;      ///< T, number of tokens that the network reads, at least 5
  std::int64_t vocabulary = 0;  ///< V, number of tokens of the vocabulary
  std::uint64_t seed = 0;
};

/// Chooses at random the pair of spans for a sample, and the words of the pair that are masked. Both are functions of
/// (seed, epoch, sample).
///
/// The pair: a span of the sample's text, as long as fits into T tokens, begins at a random token and is cut in two at
/// a random token between a quarter and three quarters of it. With probability 1/2, the two parts are A and B.
/// Otherwise B is a span of the same length from another text, which begins at a random token (it is shorter if that
/// text is). A text of one token is always paired with another text. Masking: 15 % of the pair's tokens, at least one,
/// are chosen among its words. Of these 80 % become [MASK], 10 % a random word of the vocabulary, and 10 % do not
/// change.
class MaskedPairs {
 public:
  /// `samples` must outlive the object.
  MaskedPairs(const io::SampleStore& samples, const MaskedPairSpec& spec) : samples_(samples), spec_(spec) {}

  /// Returns the pair of spans for a sample. Reads no text.
  SpanPair pair(std::int64_t epoch, std::int64_t sample) const;
  /// Writes the positions of the masked words, ascending, to the front of `positions`, which has room for
  /// features::max_masked_words(T). Returns their number. Reads no text.
  std::int64_t masked_positions(std::int64_t epoch, const SpanPair& pair, std::span<std::int32_t> positions) const;

  /// Scratch memory for write_tokens() and write_masked_words(); each thread needs its own.
  struct Memory {
    std::vector<std::int32_t> read, words, positions;
  };
  /// Writes the tokens of the pair, [CLS] A [SEP] B [SEP] with masked words replaced, to the front of `row`:
  /// pair.length() tokens.
  void write_tokens(std::int64_t epoch, const SpanPair& pair, std::span<std::int32_t> row, Memory& memory) const;
  /// Writes the original tokens of the masked words, in ascending order of their positions, to the front of `row`.
  void write_masked_words(std::int64_t epoch, const SpanPair& pair, std::span<std::int32_t> row, Memory& memory) const;

 private:
  void read_words(const SpanPair& pair, Memory& memory) const;
  std::span<const std::int32_t> positions_in(std::int64_t epoch, const SpanPair& pair, Memory& memory) const;

  const io::SampleStore& samples_;
  MaskedPairSpec spec_;
};

}  // namespace convoy
