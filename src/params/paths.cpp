/// What can be told from the path, then what the system says of it.
#include "params/paths.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>

namespace convoy::params {

std::optional<std::string> find_defect(const std::string& path) {
  const std::filesystem::path parts(path);
  const bool has_long_name =
      std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.native().size() > NAME_MAX; });
  struct stat status = {};
  const int error = ::stat(path.c_str(), &status) == 0 ? 0 : errno;
  // Parts of the path that are not there yet: the system does not look at what comes after them.
  if (has_long_name || path.size() >= PATH_MAX || error == ENAMETOOLONG)
    return fmt::format("the path is too long: each name in it may have {} bytes, all of it {}", NAME_MAX, PATH_MAX - 1);
  if (error == ELOOP) return "its symbolic links lead in a circle";
  return std::nullopt;
}

}  // namespace convoy::params
