/// Checks that every device's backend makes before it creates an operation: it refuses specs that no device computes.
#pragma once

#include "convoy/ops/operations.h"

namespace convoy::ops {

/// Throws Error, naming the spec, if no device can compute it. Specialised for each operation.
template <typename Op>
void check(const typename Op::Spec& spec);

/// Throws Error if the table has fewer rows than a sequence has positions.
void check_positions(const EmbeddingSpec& spec);
/// Throws Error if more of a sequence's first words are to be taken than it has.
void check_positions(const GatherSpec& spec);

}  // namespace convoy::ops
