/// Makes the draws. Which number is used for what is fixed here, and is part of the results.
#include "data/text/masked_pairs.h"

#include <algorithm>

#include "convoy/base/features.h"
#include "convoy/base/random.h"
#include "convoy/base/special_tokens.h"

namespace convoy {

namespace {

constexpr std::int64_t kNumMarks = 3;  // [CLS], [SEP], [SEP]

/// Indices of Purpose::kSentencePair.
enum PairDraw : std::uint64_t { kFollows, kOther, kFirstBegin, kCut, kOtherBegin };

class Draws {
 public:
  Draws(std::uint64_t seed, Purpose purpose, std::int64_t epoch, std::int64_t sample)
      : key_{.seed = seed,
             .purpose = purpose,
             .epoch = static_cast<std::uint64_t>(epoch),
             .item = static_cast<std::uint64_t>(sample)} {}

  double uniform(std::uint64_t index) const { return random_uniform(key_, index); }
  /// Returns a number in 0..bound-1.
  std::int64_t below(std::uint64_t index, std::int64_t bound) const {
    return static_cast<std::int64_t>(random_below(key_, index, static_cast<std::uint64_t>(bound)));
  }

 private:
  RandomKey key_;
};

}  // namespace

SpanPair MaskedPairs::pair(std::int64_t epoch, std::int64_t sample) const {
  const Draws draws(spec_.seed, Purpose::kSentencePair, epoch, sample);
  const std::int64_t room = spec_.length - kNumMarks, num = samples_.num_tokens(sample), total = std::min(num, room);
  SpanPair pair{.a = {.sample = sample, .begin = draws.below(kFirstBegin, num - total + 1), .count = total}};
  std::int64_t rest = room - total;
  if (total > 1) {
    const std::int64_t first = std::max<std::int64_t>(1, total / 4), last = std::max(first, 3 * total / 4);
    pair.a.count = first + draws.below(kCut, last - first + 1);
    rest = total - pair.a.count;
  }
  const std::int64_t num_others = samples_.info().num_samples - 1;
  pair.follows = total > 1 && (num_others == 0 || draws.uniform(kFollows) < 0.5);
  if (pair.follows) {
    pair.b = {.sample = sample, .begin = pair.a.begin + pair.a.count, .count = rest};
  } else if (num_others > 0) {
    const std::int64_t drawn = draws.below(kOther, num_others), other = drawn < sample ? drawn : drawn + 1;
    pair.b = {.sample = other, .count = std::min(rest, samples_.num_tokens(other))};
    pair.b.begin = draws.below(kOtherBegin, samples_.num_tokens(other) - pair.b.count + 1);
  }
  return pair;
}

// Floyd's sampling without replacement (Bentley & Floyd 1987): each set of words is equally likely.
std::int64_t MaskedPairs::masked_positions(std::int64_t epoch, const SpanPair& pair,
                                           std::span<std::int32_t> positions) const {
  const Draws draws(spec_.seed, Purpose::kMaskedPosition, epoch, pair.a.sample);
  const std::int64_t num_words = pair.num_words(),
                     num_masked = std::min(num_words, features::max_masked_words(pair.length()));
  std::int64_t num_drawn = 0;
  for (std::int64_t last = num_words - num_masked; last < num_words; ++last, ++num_drawn) {
    const auto drawn = positions.first(static_cast<std::size_t>(num_drawn));
    const auto position =
        static_cast<std::int32_t>(pair.position_of(draws.below(static_cast<std::uint64_t>(num_drawn), last + 1)));
    const bool is_new = std::ranges::find(drawn, position) == drawn.end();
    positions[static_cast<std::size_t>(num_drawn)] =
        is_new ? position : static_cast<std::int32_t>(pair.position_of(last));
  }
  std::ranges::sort(positions.first(static_cast<std::size_t>(num_masked)));
  return num_masked;
}

void MaskedPairs::write_tokens(std::int64_t epoch, const SpanPair& pair, std::span<std::int32_t> row,
                               Memory& memory) const {
  read_words(pair, memory);
  const auto split = memory.words.begin() + static_cast<std::ptrdiff_t>(pair.a.count);
  auto to = row.begin();
  *to++ = special_tokens::kBegin;
  to = std::copy(memory.words.begin(), split, to);
  *to++ = special_tokens::kSeparator;
  to = std::copy(split, memory.words.end(), to);
  *to = special_tokens::kSeparator;

  const Draws draws(spec_.seed, Purpose::kMaskedWord, epoch, pair.a.sample);
  std::uint64_t draw = 0;
  for (const std::int32_t position : positions_in(epoch, pair, memory)) {
    const double how = draws.uniform(draw++);
    const std::int64_t word = draws.below(draw++, spec_.vocabulary - special_tokens::kCount);
    if (how >= 0.9) continue;
    row[static_cast<std::size_t>(position)] =
        how < 0.8 ? special_tokens::kMask : special_tokens::kCount + static_cast<std::int32_t>(word);
  }
}

void MaskedPairs::write_masked_words(std::int64_t epoch, const SpanPair& pair, std::span<std::int32_t> row,
                                     Memory& memory) const {
  read_words(pair, memory);
  auto to = row.begin();
  for (const std::int32_t position : positions_in(epoch, pair, memory)) {
    const std::int64_t word = position <= pair.a.count ? position - 1 : position - 2;
    *to++ = memory.words[static_cast<std::size_t>(word)];
  }
}

void MaskedPairs::read_words(const SpanPair& pair, Memory& memory) const {
  memory.words.clear();
  for (const TextSpan& span : {pair.a, pair.b}) {
    if (span.count == 0) continue;
    const auto tokens = samples_.read_tokens(span.sample, memory.read)
                            .subspan(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.count));
    memory.words.insert(memory.words.end(), tokens.begin(), tokens.end());
  }
}

std::span<const std::int32_t> MaskedPairs::positions_in(std::int64_t epoch, const SpanPair& pair,
                                                        Memory& memory) const {
  memory.positions.resize(static_cast<std::size_t>(features::max_masked_words(spec_.length)));
  const std::int64_t num = masked_positions(epoch, pair, memory.positions);
  return std::span(memory.positions).first(static_cast<std::size_t>(num));
}

}  // namespace convoy
