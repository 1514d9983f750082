/// Describes the machine for `convoy info` without paths, for a person who chooses the numbers of ranks and threads.
#pragma once

#include <string>
#include <vector>

#include "convoy/comm/machine.h"

namespace convoy::commands {

/// Returns lines about the processor, each NUMA domain, each last-level cache, huge pages and each NVIDIA GPU. `sys`
/// and `proc` are the folders of Linux's files; a test gives folders of its own.
std::string describe_machine(const Machine& machine, const std::string& sys = "/sys",
                             const std::string& proc = "/proc");

/// Returns the numbers of the processors that this process may use: "0-7", or "0-7, of which a control group allows the
/// time of 2".
std::string describe_own_processors();

/// Returns the version, the libraries and the machine of this process, then for each rank its host and its processors.
/// `hosts` and `processors` (results of describe_own_processors()) are by rank.
std::string describe_machine_and_ranks(const std::vector<std::string>& hosts,
                                       const std::vector<std::string>& processors);

}  // namespace convoy::commands
