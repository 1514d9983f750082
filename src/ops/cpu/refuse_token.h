/// What the CPU says of a token that no row of the table belongs to.
#pragma once

#include <cstdint>

#include "convoy/ops/embedding.h"

namespace convoy::ops::cpu {

/// Throws Error naming the token of the given word of the batch. Compiled for any processor, beside a loop that is not.
[[noreturn]] void refuse_token(const EmbeddingSpec& spec, const std::int32_t* tokens, std::int64_t word);

}  // namespace convoy::ops::cpu
