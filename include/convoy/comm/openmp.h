/// Reads the settings of OpenMP from the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace convoy {

/// Returns the settings that would have bound this process's threads to processors, "OMP_PROC_BIND = close, OMP_PLACES
/// = cores"; empty if there were none. They were removed from the environment before OpenMP could read them.
std::string openmp_binding();

/// Returns the first number of OMP_NUM_THREADS; nothing if it is not set, or not above 0.
std::optional<std::int64_t> openmp_threads();

}  // namespace convoy
