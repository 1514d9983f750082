/// What every device's backend refuses before it makes an operation: specs that no device can compute.
#pragma once

#include "convoy/ops/operation_list.h"

namespace convoy::ops {

/// Throws Error naming the spec. Specialised for each operation.
template <typename Op>
void check(const typename Op::Spec& spec);

/// Throws Error where a table is shorter than the sequences whose positions it is to embed.
void check_positions(const EmbeddingSpec& spec);

}  // namespace convoy::ops
