/// The version of this program, shown by runs, checkpoints and `convoy --version`.
#pragma once

#include <string_view>

namespace convoy {

/// Returns "0.9.0 (git 7c1d976f12)"; "0.9.0 (git 7c1d976f12, modified)" if source files differed from that revision;
/// "0.9.0" if it was built outside a git repository. The number is in CMakeLists.txt; src/base/write_version.cmake adds
/// the rest.
std::string_view version();

}  // namespace convoy
