/// The processors that the system lets this process run on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "convoy/comm/machine.h"
#include "convoy/comm/memory_limits.h"

namespace convoy {

/// A bit a processor, for as many processors as Linux can have (8192); ranks compare theirs byte by byte.
using AffinityMask = std::array<std::uint64_t, 8192 / 64>;

/// The processors this process may run on.
AffinityMask affinity_mask();

std::int64_t count_processors(const AffinityMask& mask);
ProcessorSet processors_in(const AffinityMask& mask);
bool overlap(const AffinityMask& a, const AffinityMask& b);

/// Keeps this process on these processors: all threads that it has, and those that they will make. Whether the system
/// allows it.
bool bind_process(const ProcessorSet& processors);

/// Whole processors' worth of time in the text of a control group's cpu.max, "QUOTA PERIOD" in microseconds or
/// "max PERIOD" (version 1: "-1 PERIOD"): at least 1; kNoQuota where it sets no limit or says something else.
std::int64_t quota_processors(std::string_view cpu_max);
inline constexpr std::int64_t kNoQuota = INT64_MAX;

/// The least of the control groups that this process is in, of both versions.
std::int64_t quota_processors(const SystemFiles& files = {});

/// The first line of a file of the system; empty if there is no such file.
std::string read_line(const std::string& path);

}  // namespace convoy
