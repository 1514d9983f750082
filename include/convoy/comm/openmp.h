/// What the environment asks of OpenMP.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace convoy {

/// "OMP_PROC_BIND = close, OMP_PLACES = cores": settings that would bind this process's threads to processors; empty if
/// there are none. They were taken out of the environment before OpenMP could read them.
std::string openmp_binding();

/// The first number of OMP_NUM_THREADS; nothing if it is not set, or not above 0.
std::optional<std::int64_t> openmp_threads();

}  // namespace convoy
