/// The CPU's errors for a token that has no row in the table, and for a position that has no word. This code is
/// compiled for any processor, unlike the loops that call it.
#pragma once

#include <cstdint>

#include "convoy/ops/embedding.h"
#include "convoy/ops/gather.h"

namespace convoy::ops::cpu {

/// Throws Error, naming the token of the given word of the batch.
[[noreturn]] void refuse_token(const EmbeddingSpec& spec, const std::int32_t* tokens, std::int64_t word);
/// Throws Error, naming position `taken` of the batch's positions.
[[noreturn]] void refuse_position(const GatherSpec& spec, const std::int32_t* positions, std::int64_t taken);

}  // namespace convoy::ops::cpu
