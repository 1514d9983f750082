/// The table of Convoy's commands (train, evaluate, ...). It is used to read the command line, for --help, and to
/// suggest the nearest name for a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "params/key_table.h"

namespace convoy::params {

/// The kind of positional arguments (arguments without "--") that a command takes.
enum class Takes {
  kNothing,
  kParameterFiles,
  kParameterFilesOrNetwork,  ///< files, and a network by its name or its .lua file
  kPaths,
  kPathsOrNetworks,  ///< or nothing
  kPathsOrParameterFiles,
  kTopics
};

struct Command {
  std::string name;
  Takes takes = Takes::kNothing;
  bool takes_run = false;  ///< whether the directory of a run may take the place of its parameter file
  std::vector<std::vector<std::string>> needs = {};  ///< lists of keys, of each of which one key must not be empty
  std::vector<std::string> reads = {};               ///< sections and keys that have an effect on the command
  std::string sentence = {};                         ///< what the command does, for --help: "trains a network, ..."

  /// Whether the key has an effect on the command.
  bool is_reading(const Key& key) const;
};

const std::vector<Command>& commands();

/// Returns the command of this name; null if there is none.
const Command* find_command(std::string_view name);

}  // namespace convoy::params
