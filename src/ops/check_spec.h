/// Checks that every device's backend makes before it creates an operation: it refuses specs that no device computes.
#pragma once

#include "convoy/ops/operations.h"

namespace convoy::ops {

/// Throws Error, naming the spec, if no device can compute it. Specialised for each operation.
template <typename Op>
void check(const typename Op::Spec& spec);

/// Throws Error if a table of learned positions has fewer rows than a sequence has positions.
void check_positions(const EmbeddingSpec& spec);
/// Throws Error if the operation would take more words from the start of a sequence than the sequence has.
void check_positions(const GatherSpec& spec);

}  // namespace convoy::ops
