/// Paths that no file system can follow, told before anything is opened.
#pragma once

#include <optional>
#include <string>

namespace convoy::params {

/// What is wrong with the path itself: a name too long, links that lead in a circle. Nothing where it can be followed,
/// or there is only no such file.
std::optional<std::string> find_defect(const std::string& path);

}  // namespace convoy::params
