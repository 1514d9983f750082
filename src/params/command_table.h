/// The one table of commands, for reading the command line, for --help and for "nearest".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "params/key_table.h"

namespace convoy::params {

/// What a command's positional arguments are.
enum class Takes { kNothing, kParameterFiles, kPaths, kPathsOrNothing, kPathsOrParameterFiles, kTopics };

struct Command {
  std::string name;
  Takes takes = Takes::kNothing;
  std::vector<std::vector<std::string>> needs = {};  ///< of each of these, one key must not be empty
  std::vector<std::string> reads = {};               ///< sections and keys that can change what it does
  std::string sentence = {};

  bool is_reading(const Key& key) const;
};

const std::vector<Command>& commands();

/// The command of that name, or none.
const Command* find_command(std::string_view name);

}  // namespace convoy::params
