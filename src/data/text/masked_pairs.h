/// What BERT is pre-trained on (Devlin et al. 2018, section 3.1 and appendix A.2): pairs of spans of texts, and which
/// of their words are masked. All of it is drawn from numbers that every rank knows, so that stages need not tell each
/// other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/io/sample_store.h"

namespace convoy {

/// Neighbouring tokens of a text.
struct TextSpan {
  std::int64_t sample = 0, begin = 0, count = 0;

  bool operator==(const TextSpan&) const = default;
};

/// Becomes [CLS] A [SEP] B [SEP].
struct SpanPair {
  TextSpan a, b;
  bool follows = false;  ///< B stands behind A in its text; else B is of another text

  std::int64_t num_words() const { return a.count + b.count; }
  std::int64_t length() const { return num_words() + 3; }
  /// Of word i in 0..num_words()-1, without the marks.
  std::int64_t position_of(std::int64_t word) const { return word < a.count ? word + 1 : word + 2; }

  bool operator==(const SpanPair&) const = default;
};

struct MaskedPairSpec {
  std::int64_t length = 0;      ///< T, at least 5
  std::int64_t vocabulary = 0;  ///< V
  std::uint64_t seed = 0;
};

/// Which pair, and how its words are masked: a function of (seed, epoch, sample).
///
/// A pair: of the text as much as fits, from a drawn token on, is cut in two at a drawn place between a quarter and
/// three quarters. With probability 1/2 both parts are A and B; else B is as long a span of another text, from a drawn
/// token on (shorter where that text is). A text of one token is always paired with another. Masked: 15 % of the pair's
/// tokens, at least one, drawn among its words. Of those 80 % become [MASK], 10 % any word of the vocabulary, 10 %
/// stay.
class MaskedPairs {
 public:
  /// samples outlive it.
  MaskedPairs(const io::SampleStore& samples, const MaskedPairSpec& spec) : samples_(samples), spec_(spec) {}

  /// Reads no text.
  SpanPair pair(std::int64_t epoch, std::int64_t sample) const;
  /// Of the masked words, ascending; as many as there are, in the front of `positions`, which has room for
  /// features::max_masked_words(T). Reads no text.
  std::int64_t masked_positions(std::int64_t epoch, const SpanPair& pair, std::span<std::int32_t> positions) const;

  /// Memory of one thread.
  struct Memory {
    std::vector<std::int32_t> read, words, positions;
  };
  /// The pair's tokens, masked: pair.length() of them, in the front of `row`.
  void write_tokens(std::int64_t epoch, const SpanPair& pair, std::span<std::int32_t> row, Memory& memory) const;
  /// What stood at the masked positions, in the front of `row`.
  void write_masked_words(std::int64_t epoch, const SpanPair& pair, std::span<std::int32_t> row, Memory& memory) const;

 private:
  void read_words(const SpanPair& pair, Memory& memory) const;
  std::span<const std::int32_t> positions_in(std::int64_t epoch, const SpanPair& pair, Memory& memory) const;

  const io::SampleStore& samples_;
  MaskedPairSpec spec_;
};

}  // namespace convoy
