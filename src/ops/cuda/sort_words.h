/// Sorts the words of a batch by their tokens on a GPU, for sums that go in a fixed order.
#pragma once

#include <cstdint>

#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

struct SortSpec {
  std::int64_t num_words = 0;
  std::int64_t num_tokens = 0;  ///< words whose token is not within 0..num_tokens - 1 are left out
};

/// Where the sorted words lie in memory of the device.
struct SortedWords {
  const std::int32_t* words;  ///< those of a token in ascending order
  const std::int32_t* count;  ///< how many there are
};

/// Scratch memory that sort_words() needs.
std::int64_t sort_bytes(const SortSpec& spec);

/// By radix: a pass for each byte of a token. Costs the same whatever the tokens are.
SortedWords sort_words(const SortSpec& spec, const std::int32_t* tokens, std::byte* memory, const Context& context);

}  // namespace convoy::ops::cuda
