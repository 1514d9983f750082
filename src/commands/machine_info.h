/// convoy info without paths: what the machine has, for a person who chooses ranks and threads.
#pragma once

#include <string>

#include "convoy/base/error.h"
#include "convoy/comm/session.h"

namespace convoy::commands {

/// A line for the processor, each NUMA domain, each last-level cache, huge pages and each NVIDIA GPU. Where the
/// system's files are; a test has its own.
std::string describe_machine(const std::string& sys = "/sys", const std::string& proc = "/proc");

/// Version, libraries and machine of rank 0, and the processors that each rank may use. All ranks.
ExitStatus print_machine(mpi::Session& session);

}  // namespace convoy::commands
