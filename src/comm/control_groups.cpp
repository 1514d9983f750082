/// Reads /proc/self/mountinfo (where hierarchies are mounted) and /proc/self/cgroup (which group of each is this
/// process's).
#include "comm/control_groups.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <optional>
#include <sstream>

namespace convoy {

namespace {

/// A hierarchy of groups. In a container its folder may hold a part of it: the groups from `root` down.
struct Hierarchy {
  int version = 2;
  std::string root, folder;
};

bool has_word(const std::string& list, std::string_view word) {
  return ("," + list + ",").find("," + std::string(word) + ",") != std::string::npos;
}

// "36 35 0:31 ROOT FOLDER rw,relatime shared:15 - TYPE SOURCE OPTIONS": proc(5). There may be any number of optional
// fields before the dash.
std::optional<Hierarchy> parse_mount(const std::string& line, std::string_view controller) {
  const std::size_t dash = line.find(" - ");
  if (dash == std::string::npos) return std::nullopt;
  std::istringstream begin(line.substr(0, dash)), end(line.substr(dash + 3));
  std::string number, parent, device, root, folder, type, source, options;
  begin >> number >> parent >> device >> root >> folder;
  end >> type >> source >> options;
  const bool is_first = type == "cgroup" && has_word(options, controller), is_second = type == "cgroup2";
  if (!is_first && !is_second) return std::nullopt;
  return Hierarchy{.version = is_second ? 2 : 1, .root = root == "/" ? "" : root, .folder = folder};
}

// Lines of /proc/self/cgroup: "0::/slurm/job_12" (version 2), "4:memory:/slurm/job_12" (version 1).
std::string own_group(int version, std::string_view controller, const SystemFiles& files) {
  std::ifstream file(files.proc + "/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (version == 2 ? controllers.empty() : has_word(controllers, controller)) return group == "/" ? "" : group;
  }
  return "";
}

// From the hierarchy's root down. A group that is not below it has a name that only the container's host knows: the
// root is then the group of the container.
std::string path_below(const std::string& root, const std::string& group) {
  const bool is_below = group.starts_with(root + "/") && group.find("/..") == std::string::npos;
  return is_below ? group.substr(root.size()) : "";
}

}  // namespace

std::vector<ControlGroup> find_control_groups(std::string_view controller, const SystemFiles& files) {
  std::vector<ControlGroup> groups;
  std::ifstream mounts(files.proc + "/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const auto hierarchy = parse_mount(line, controller);
    if (!hierarchy) continue;
    std::string path = path_below(hierarchy->root, own_group(hierarchy->version, controller, files));
    while (true) {
      const std::string name = hierarchy->root.empty() && path.empty() ? "/" : hierarchy->root + path;
      const auto is_same = [&](const ControlGroup& group) {  // the hierarchy is mounted in several places
        return group.version == hierarchy->version && group.name == name;
      };
      if (std::ranges::none_of(groups, is_same))
        groups.push_back({.version = hierarchy->version, .name = name, .folder = hierarchy->folder + path});
      if (path.empty()) break;
      path.erase(path.rfind('/'));
    }
  }
  return groups;
}

}  // namespace convoy
