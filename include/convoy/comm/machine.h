/// The parts of the machine that this process runs on, as hwloc finds them: NUMA domains, packages, caches, cores.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct hwloc_obj;
struct hwloc_topology;

namespace convoy {

/// Numbers of processors as Linux counts them (each hardware thread is a processor), in ascending order.
using ProcessorSet = std::vector<std::int64_t>;

/// Returns a list of processors as Linux writes it: "0-7,16-23".
std::string to_string(const ProcessorSet& processors);

/// The processors that this process may run on.
ProcessorSet own_processors();

/// Number of processors that this process may keep busy: all of own_processors(), or fewer if the quotas of its control
/// groups allow less.
std::int64_t usable_processors();

struct NumaDomain {
  std::int64_t number = 0;
  ProcessorSet processors;  ///< empty if the domain has only memory
  std::int64_t memory_bytes = 0;
};

struct LastLevelCache {
  std::int64_t level = 0;
  std::int64_t size_bytes = 0;
  ProcessorSet processors;
};

/// A machine as a tree of parts, down to the processors that are online, whether or not this process may use them.
/// If the system does not tell its parts (in containers without /sys), hwloc assumes one domain. If hwloc fails, no
/// part is known: no error.
class Machine {
 public:
  /// A machine in hwloc's short form, "package:2 core:8 pu:2", for tests; if it is empty, this process's machine.
  explicit Machine(const std::string& description = "");

  /// The part that has all others; null if no part is known.
  const hwloc_obj* root() const { return root_; }

  /// Number of the NUMA domain of a processor: memory in another one is further away. 0 if it is not known.
  std::int64_t domain_of(std::int64_t processor) const;
  /// Number of the domains that have one of the processors; at least 1.
  std::int64_t count_domains(const ProcessorSet& processors) const;

  /// Returns the NUMA domains in the order of their numbers; empty if the system does not tell them.
  std::vector<NumaDomain> domains() const;
  /// Returns the last-level caches of all processors, in the order of the first processor of each.
  std::vector<LastLevelCache> last_level_caches() const;

 private:
  struct Destroy {
    void operator()(hwloc_topology* topology) const noexcept;
  };
  std::unique_ptr<hwloc_topology, Destroy> topology_;
  hwloc_obj* root_ = nullptr;
};

/// This process's machine, which is read when it is first asked for.
const Machine& own_machine();

/// Returns the setting of transparent huge pages: "always", "madvise" or "never"; empty if Linux does not tell.
std::string huge_pages_setting(const std::string& sys = "/sys");

}  // namespace convoy
