/// What convoy can be told to do, once: for reading the command line, for --help and for "nearest".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convoy::params {

/// What a command's positional arguments are.
enum class Takes { kNothing, kParameterFiles, kPaths, kTopics };

struct Command {
  std::string name;
  Takes takes = Takes::kNothing;
  std::vector<std::string> needs;  ///< keys that must not be empty
  std::string sentence;
};

const std::vector<Command>& commands();

/// The command of that name, or none.
const Command* find_command(std::string_view name);

}  // namespace convoy::params
