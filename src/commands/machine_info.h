/// convoy info without paths: what the machine has, for a person who chooses ranks and threads.
#pragma once

#include <string>
#include <vector>

namespace convoy::commands {

/// A line for the processor, each NUMA domain, each last-level cache, huge pages and each NVIDIA GPU. Where the
/// system's files are; a test has its own.
std::string describe_machine(const std::string& sys = "/sys", const std::string& proc = "/proc");

/// "0-7", or "0-7, of which a control group allows the time of 2": the processors that this process may use.
std::string describe_own_processors();

/// Version, libraries and machine of this process, and for each rank its host and the processors that it may use.
std::string describe_machine_and_ranks(const std::vector<std::string>& hosts,
                                       const std::vector<std::string>& processors);

}  // namespace convoy::commands
