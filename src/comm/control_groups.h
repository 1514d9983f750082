/// The control groups that this process is in: what limits one of them limits all groups below it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convoy/comm/memory_limits.h"

namespace convoy {

struct ControlGroup {
  int version = 2;     ///< version of control groups, 1 or 2: their files differ
  std::string name;    ///< "/slurm/job_12"; "/" is the topmost that this process sees
  std::string folder;  ///< where its files are

  bool operator==(const ControlGroup&) const = default;
};

/// The group of this process and all groups above it, for one controller ("cpu", "memory"): of version 1, which has a
/// hierarchy for each controller, and of version 2, which has one. A system may use both.
std::vector<ControlGroup> find_control_groups(std::string_view controller, const SystemFiles& files = {});

}  // namespace convoy
