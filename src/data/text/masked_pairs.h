/// Draws what BERT is pre-trained on (Devlin et al. 2018, section 3.1 and appendix A.2): pairs of spans of texts, and
/// which of their words are masked. Everything is drawn from numbers that every rank knows, so that stages need no
/// messages for it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/io/sample_store.h"

namespace convoy {

/// Neighbouring tokens of a text: `count` tokens from `begin` on.
struct TextSpan {
  std::int64_t sample = 0, begin = 0, count = 0;

  bool operator==(const TextSpan&) const = default;
};

/// Two spans A and B, which become [CLS] A [SEP] B [SEP].
struct SpanPair {
  TextSpan a, b;
  bool follows = false;  ///< B follows A in its text; else B is from another text

  std::int64_t num_words() const { return a.count + b.count; }
  std::int64_t length() const { return num_words() + 3; }
  /// Returns the position in the row of word i, which is in 0..num_words()-1 and does not count marks.
  std::int64_t position_of(std::int64_t word) const { return word < a.count ? word + 1 : word + 2; }

  bool operator==(const SpanPair&) const = default;
};

struct MaskedPairSpec {
  std::int64_t length = 0;      ///< T, at least 5
  std::int64_t vocabulary = 0;  ///< V
  std::uint64_t seed = 0;
};

/// Draws the pair of a sample and the words that are masked: a function of (seed, epoch, sample).
///
/// The pair: a span of the text, as long as fits, begins at a drawn token and is cut in two at a drawn token between a
/// quarter and three quarters of it. With probability 1/2, both parts are A and B. Otherwise B is a span of the same
/// length from another text, beginning at a drawn token (shorter if that text is). A text of one token is always paired
/// with another text. Masking: 15 % of the pair's tokens, at least one, are drawn among its words. Of those 80 % become
/// [MASK], 10 % any word of the vocabulary, and 10 % stay.
class MaskedPairs {
 public:
  /// `samples` outlives the object.
  MaskedPairs(const io::SampleStore& samples, const MaskedPairSpec& spec) : samples_(samples), spec_(spec) {}

  /// Draws the pair of a sample. Reads no text.
  SpanPair pair(std::int64_t epoch, std::int64_t sample) const;
  /// Writes the positions of the masked words, ascending, to the front of `positions`, which has room for
  /// features::max_masked_words(T). Returns their number. Reads no text.
  std::int64_t masked_positions(std::int64_t epoch, const SpanPair& pair, std::span<std::int32_t> positions) const;

  /// Buffers of one thread.
  struct Memory {
    std::vector<std::int32_t> read, words, positions;
  };
  /// Writes the pair's tokens, masked, to the front of `row`: pair.length() of them.
  void write_tokens(std::int64_t epoch, const SpanPair& pair, std::span<std::int32_t> row, Memory& memory) const;
  /// Writes the words that were masked, by position, to the front of `row`.
  void write_masked_words(std::int64_t epoch, const SpanPair& pair, std::span<std::int32_t> row, Memory& memory) const;

 private:
  void read_words(const SpanPair& pair, Memory& memory) const;
  std::span<const std::int32_t> positions_in(std::int64_t epoch, const SpanPair& pair, Memory& memory) const;

  const io::SampleStore& samples_;
  MaskedPairSpec spec_;
};

}  // namespace convoy
