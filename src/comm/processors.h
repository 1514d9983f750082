/// The processors that the system lets this process run on, and shares of those that the ranks of a node share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/comm/machine.h"
#include "convoy/comm/memory_limits.h"

namespace convoy {

/// One bit per processor, for as many processors as Linux can have (8192); ranks compare theirs byte by byte.
using AffinityMask = std::array<std::uint64_t, 8192 / 64>;

/// Returns the processors that this process may run on. Throws Error if the system does not say it.
AffinityMask affinity_mask();

std::int64_t count_processors(const AffinityMask& mask);
ProcessorSet processors_in(const AffinityMask& mask);
bool overlap(const AffinityMask& a, const AffinityMask& b);

/// Keeps all threads of this process, and those that they will create, on these processors. Returns whether the system
/// allows it.
bool bind_process(const ProcessorSet& processors);

/// Number of whole processors' time that a control group's cpu.max allows: "QUOTA PERIOD" in microseconds or
/// "max PERIOD" (version 1: "-1 PERIOD"). At least 1; kNoQuota if it sets no limit or has another form.
std::int64_t quota_processors(std::string_view cpu_max);
inline constexpr std::int64_t kNoQuota = INT64_MAX;

/// The smallest quota of the control groups that this process is in, of both versions; kNoQuota if none has one.
std::int64_t quota_processors(const SystemFiles& files = {});

/// The first line of a file of the system; empty if there is no such file.
std::string read_line(const std::string& path);

/// Returns shares of `size` processors, which divides their number: as many as possible within one core, then within
/// one cache, package and domain. They are in the order in which ranks get them, so that neighbours are near each
/// other. If the machine does not know one of the processors, the shares are in the order of their numbers.
std::vector<ProcessorSet> divide_processors(const Machine& machine, const ProcessorSet& processors, std::int64_t size);

/// Returns which of the shares of its processors a rank gets. `masks` are those of the node's ranks, `rank` is the
/// index of one of them. Returns nothing if the rank keeps all its processors:
/// - no other rank has the same processors, as Slurm, or mpirun --bind-to, has bound the ranks
/// - another rank has some of the same processors, but not all
/// - the ranks' threads leave processors free, or a quota does: another run may be started on the same node, and if
///   both bound their ranks to the first processors, they would share these while the others are idle
/// - there are more threads than processors: only the system can let them take turns
std::optional<std::size_t> find_share(std::span<const AffinityMask> masks, std::size_t rank,
                                      std::int64_t threads_per_rank, std::int64_t quota);

}  // namespace convoy
