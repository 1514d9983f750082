/// The rules of the house about who may include whom, as functions that a test can give violations to.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace convoy::test {

/// What one source file does that it must not, a line each: "src/params/a.cpp:3: ...". `path` is relative to the
/// project's root, with slashes.
std::vector<std::string> find_violations(std::string_view path, std::string_view text);

/// The source files under src/ and include/ of the project at `root`, relative to it, sorted.
std::vector<std::string> source_files(const std::filesystem::path& root);

/// The violations of all of them.
std::vector<std::string> find_violations_in_tree(const std::filesystem::path& root);

}  // namespace convoy::test
