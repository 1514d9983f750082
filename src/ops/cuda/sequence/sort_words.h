/// Sorts the words of a micro-batch by their tokens on a GPU, so that an embedding's gradient is summed in a fixed
/// order.
#pragma once

#include <cstdint>

#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

struct SortSpec {
  std::int64_t num_words = 0;   ///< number of words of the micro-batch's texts, padding included
  std::int64_t num_tokens = 0;  ///< size of the vocabulary: words whose token is not in 0..num_tokens - 1 are left out
};

/// The result of sort_words(), in device memory.
struct SortedWords {
  const std::int32_t* words;  ///< indices of words, sorted by token; indices with the same token are in ascending order
  const std::int32_t* count;  ///< one value: number of sorted words, without those that were left out
};

/// Returns the size in bytes of the memory that sort_words() needs.
std::int64_t sort_bytes(const SortSpec& spec);

/// Sorts the words with the tokens `tokens` (num_words), by radix sort with a pass for each byte of a token. The time
/// does not depend on the tokens. `memory` is device memory of sort_bytes() bytes, in which the result lies. Enqueued
/// on the context's stream.
SortedWords sort_words(const SortSpec& spec, const std::int32_t* tokens, std::byte* memory, const Context& context);

}  // namespace convoy::ops::cuda
