/// What every device's backend refuses before it makes an operation: specs that no device can compute.
#pragma once

#include "convoy/ops/operation_list.h"

namespace convoy::ops {

/// Throws Error naming the spec. Specialised for each operation.
template <typename Op>
void check(const typename Op::Spec& spec);

/// Throws Error where a table is shorter than the sequences whose positions it is to embed.
void check_positions(const EmbeddingSpec& spec);
/// Throws Error where more of a sequence's first words are to be taken than it has.
void check_positions(const GatherSpec& spec);

}  // namespace convoy::ops
