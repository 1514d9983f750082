/// What MPI can count, checked when a message is planned and not in the middle of a step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace convoy {

/// Throws Error for more than 2^31 - 1 bytes.
void check_message_size(std::int64_t size_bytes);

/// The counts as MPI takes them; throws Error where they are more than 2^31 - 1 together.
std::vector<int> reduction_counts(std::span<const std::int64_t> counts);

}  // namespace convoy
