/// Sorts the words of a batch by their tokens on a GPU, for sums in a fixed order.
#pragma once

#include <cstdint>

#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

struct SortSpec {
  std::int64_t num_words = 0;
  std::int64_t num_tokens = 0;  ///< words whose token is not within 0..num_tokens - 1 are left out
};

/// The sorted words in device memory.
struct SortedWords {
  const std::int32_t* words;  ///< sorted by token; words of one token are in ascending order
  const std::int32_t* count;  ///< number of words
};

/// The size in bytes of sort_words()'s scratch memory.
std::int64_t sort_bytes(const SortSpec& spec);

/// Sorts by radix, with a pass for each byte of a token. The time does not depend on the tokens.
SortedWords sort_words(const SortSpec& spec, const std::int32_t* tokens, std::byte* memory, const Context& context);

}  // namespace convoy::ops::cuda
