/// What the CPU says of a token that no row of the table belongs to, and of a position that no word has. Compiled for
/// any processor, beside loops that are not.
#pragma once

#include <cstdint>

#include "convoy/ops/embedding.h"
#include "convoy/ops/gather.h"

namespace convoy::ops::cpu {

/// Throws Error naming the token of the given word of the batch.
[[noreturn]] void refuse_token(const EmbeddingSpec& spec, const std::int32_t* tokens, std::int64_t word);
/// Throws Error naming the position of the given one of the batch's words that are taken.
[[noreturn]] void refuse_position(const GatherSpec& spec, const std::int32_t* positions, std::int64_t taken);

}  // namespace convoy::ops::cpu
