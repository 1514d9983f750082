/// The processors that the system lets this process run on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "convoy/comm/machine.h"
#include "convoy/comm/memory_limits.h"

namespace convoy {

/// One bit per processor, for as many processors as Linux can have (8192); ranks compare theirs byte by byte.
using AffinityMask = std::array<std::uint64_t, 8192 / 64>;

/// The processors that this process may run on.
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

}  // namespace convoy
