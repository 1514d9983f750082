/// Describes the machine for convoy info without paths, for a person who chooses ranks and threads.
#pragma once

#include <string>
#include <vector>

#include "convoy/comm/machine.h"

namespace convoy::commands {

/// Returns a line for the processor, each NUMA domain, each last-level cache, huge pages and each NVIDIA GPU. `sys` and
/// `proc` are the paths of the system's files; a test has its own.
std::string describe_machine(const Machine& machine, const std::string& sys = "/sys",
                             const std::string& proc = "/proc");

/// Returns the processors that this process may use: "0-7", or "0-7, of which a control group allows the time of 2".
std::string describe_own_processors();

/// Returns version, libraries and machine of this process, and for each rank its host and the processors that it may
/// use.
std::string describe_machine_and_ranks(const std::vector<std::string>& hosts,
                                       const std::vector<std::string>& processors);

}  // namespace convoy::commands
