/// The table of commands, for reading the command line, for --help and for hints about the nearest name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "params/key_table.h"

namespace convoy::params {

/// The kind of a command's positional arguments.
enum class Takes { kNothing, kParameterFiles, kPaths, kPathsOrNothing, kPathsOrParameterFiles, kTopics };

struct Command {
  std::string name;
  Takes takes = Takes::kNothing;
  std::vector<std::vector<std::string>> needs = {};  ///< in each of these lists, one key must not be empty
  std::vector<std::string> reads = {};               ///< sections and keys that can change its work
  std::string sentence = {};

  bool is_reading(const Key& key) const;
};

const std::vector<Command>& commands();

/// The command of that name; null if there is none.
const Command* find_command(std::string_view name);

}  // namespace convoy::params
