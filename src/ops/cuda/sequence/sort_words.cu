/// A stable radix sort without atomics: words are few; their gradients take most of the time.
#include "ops/cuda/launch.h"
#include "ops/cuda/sequence/sort_words.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kWarp = 32, kSortThreads = 1024, kWarps = kSortThreads / kWarp;
constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;
constexpr int kScanUnroll = 4;

struct PassArgs {
  const std::int32_t* tokens;
  const std::int32_t* from;  ///< words in the order of the lower digits; null: 0, 1, ...
  std::int32_t* to;
  std::int32_t* count;  ///< number of words with a token: written by the first pass, read by the others
  int num_words, num_tokens;
  int shift;  ///< index of the digit's lowest bit

  __device__ int word(int i) const { return from == nullptr ? i : from[i]; }
  /// The digit of the i-th word in the order so far; -1 if the word has no token.
  __device__ int digit(int i) const {
    const int token = tokens[word(i)];
    return token >= 0 && token < num_tokens ? token >> shift & (kDigits - 1) : -1;
  }
};

struct Counts {
  int less, equal;
};

__device__ inline int sum_of_warp(int mine) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) mine += __shfl_xor_sync(~0u, mine, lanes);
  return mine;
}

/// Counts the words among begin, ..., end - 1 with a smaller digit and with this one. Called by all lanes of a warp.
__device__ inline Counts count_digits(const PassArgs& args, int begin, int end, int digit) {
  Counts mine{0, 0};
#pragma unroll kScanUnroll
  for (int i = begin + static_cast<int>(threadIdx.x) % kWarp; i < end; i += kWarp) {
    const int found = args.digit(i);
    mine.less += found >= 0 && found < digit ? 1 : 0;
    mine.equal += found == digit ? 1 : 0;
  }
  return {sum_of_warp(mine.less), sum_of_warp(mine.equal)};
}

/// One pass: block d writes the words with digit d, in their order so far, after those with smaller digits, which it
/// counts itself. Each warp has a range of the words, which it reads twice.
/// Grid: number of digits. Block: kSortThreads. Shared: 256 bytes. Each block reads all tokens, from the L2 cache.
__global__ void __launch_bounds__(kSortThreads) sort_by_digit(PassArgs args) {
  __shared__ int less[kWarps], equal[kWarps];
  const int num_words = args.from == nullptr ? args.num_words : *args.count, digit = static_cast<int>(blockIdx.x);
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  const int words_of_warp = (num_words + kSortThreads - 1) / kSortThreads * kWarp;
  const int begin = min(warp * words_of_warp, num_words), end = min(begin + words_of_warp, num_words);
  const Counts counts = count_digits(args, begin, end, digit);
  if (lane == 0) {
    less[warp] = counts.less;
    equal[warp] = counts.equal;
  }
  __syncthreads();
  int at = sum_of_warp(less[lane]) + sum_of_warp(lane < warp ? equal[lane] : 0);
  if (counts.equal > 0) {
    for (int first = begin; first < end; first += kWarp) {
      const int i = first + lane;
      const bool is_mine = i < end && args.digit(i) == digit;
      const unsigned found = __ballot_sync(~0u, is_mine);
      if (is_mine) args.to[at + __popc(found & ((1u << lane) - 1))] = args.word(i);
      at += __popc(found);
    }
  }
  // The last warp of the last block ends after all words that have a token.
  if (args.from == nullptr && blockIdx.x == gridDim.x - 1 && threadIdx.x == kSortThreads - 1) *args.count = at;
}

}  // namespace

std::int64_t sort_bytes(const SortSpec& spec) {
  return (2 * spec.num_words + 1) * static_cast<std::int64_t>(sizeof(std::int32_t));
}

SortedWords sort_words(const SortSpec& spec, const std::int32_t* tokens, std::byte* memory, const Context& context) {
  auto *to = reinterpret_cast<std::int32_t*>(memory), *other = to + spec.num_words, *count = other + spec.num_words;
  PassArgs args{.tokens = tokens,
                .from = nullptr,
                .to = to,
                .count = count,
                .num_words = static_cast<int>(spec.num_words),
                .num_tokens = static_cast<int>(spec.num_tokens),
                .shift = 0};
  const std::int64_t max_token = spec.num_tokens - 1;
  for (; args.shift == 0 || max_token >> args.shift > 0; args.shift += kDigitBits) {
    const std::int64_t num_digits = std::min<std::int64_t>(kDigits, (max_token >> args.shift) + 1);
    launch(sort_by_digit, {{static_cast<unsigned>(num_digits)}, {kSortThreads}}, context.stream(), args);
    args.from = args.to;
    args.to = args.to == to ? other : to;
  }
  return {args.from, count};
}

}  // namespace convoy::ops::cuda
