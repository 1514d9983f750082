/// Dividing the processors that ranks of a node share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoy/comm/machine.h"

#include "comm/processors.h"

namespace convoy {

/// Shares of `size` processors, which divides their number: as many as possible within one core, cache, package and
/// domain, in this order of parts. In the order in which ranks get them, so that neighbours are near each other.
std::vector<ProcessorSet> divide_processors(std::vector<Processor> processors, std::int64_t size);

/// Which of the shares of its processors a rank gets: masks of the node's ranks, and the number of one of them. Nothing
/// where it keeps what it has:
/// - no other rank has the same processors. Slurm, or mpirun --bind-to, has bound the ranks
/// - others have some of the same
/// - the ranks' threads leave processors free, or a quota does: another run may be started beside this one, and if both
///   bound their ranks to the first processors, they would share these while the others are idle
/// - there are more threads than processors: only the system can let them take turns
std::optional<std::size_t> find_share(std::span<const AffinityMask> masks, std::size_t rank,
                                      std::int64_t threads_per_rank, std::int64_t quota);

}  // namespace convoy
