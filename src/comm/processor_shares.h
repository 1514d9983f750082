/// Divides the processors that ranks of a node share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoy/comm/machine.h"

#include "comm/processors.h"

namespace convoy {

/// Returns shares of `size` processors, which divides their number: as many as possible within one core, then within
/// one cache, package and domain. They are in the order in which ranks get them, so that neighbours are near each
/// other. If the machine does not know one of the processors, the shares are in the order of their numbers.
std::vector<ProcessorSet> divide_processors(const Machine& machine, const ProcessorSet& processors, std::int64_t size);

/// Returns which of the shares of its processors a rank gets. `masks` are those of the node's ranks, `rank` is the
/// index of one of them. Returns nothing if the rank keeps all its processors:
/// - no other rank has the same processors, as Slurm, or mpirun --bind-to, has bound the ranks
/// - another rank has some of the same processors, but not all
/// - the ranks' threads leave processors free, or a quota does: another run may be started on the same node, and if
/// both
///   bound their ranks to the first processors, they would share these while the others are idle
/// - there are more threads than processors: only the system can let them take turns
std::optional<std::size_t> find_share(std::span<const AffinityMask> masks, std::size_t rank,
                                      std::int64_t threads_per_rank, std::int64_t quota);

}  // namespace convoy
