/// Throws the CPU's errors for a token outside the vocabulary of an embedding, and for a position outside the sequence.
/// This code is compiled for any processor, unlike the loops that call it.
#pragma once

#include <cstdint>

#include "convoy/ops/embedding.h"
#include "convoy/ops/gather.h"

namespace convoy::ops::cpu {

/// Throws Error with a message that names the token tokens[word]. `word` is an index in the micro-batch (N,T).
[[noreturn]] void refuse_token(const EmbeddingSpec& spec, const std::int32_t* tokens, std::int64_t word);
/// Throws Error with a message that names the position positions[taken]. `taken` is an index in the micro-batch (N,K).
[[noreturn]] void refuse_position(const GatherSpec& spec, const std::int32_t* positions, std::int64_t taken);

}  // namespace convoy::ops::cpu
