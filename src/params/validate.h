/// Checks conditions between keys, as far as this is possible without the number of ranks and the data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "params/command_table.h"
#include "params/parameter_file.h"

namespace convoy::params {

/// Returns what is wrong with the path itself: a name too long, links that lead in a circle. Nothing if it can be
/// followed, or if only the file does not exist.
std::optional<std::string> find_defect(const std::string& path);

// Each of these functions makes its checks by attempt() of the builder, one by one.

/// Throws RequestError for a path that begins with '~'. "--data.train=~/x" arrives here unchanged, since a shell
/// expands '~' only at the beginning of a word, and would name a folder "~". Not called for parameters from
/// checkpoints.
void check_paths(ParameterBuilder& builder);

/// Throws RequestError for a path that the command reads or writes and that no file system can follow: a name too long,
/// links that lead in a circle, or links without a target.
void check_reachable(ParameterBuilder& builder, const Command& command);

/// Throws RequestError if the params.cfg in a run's directory names another directory: the directory was moved or
/// copied, and the command would begin a new run, or continue another one. `files` are the parameter files of the
/// command line.
void check_moved(ParameterBuilder& builder, const Command& command, const std::vector<std::string>& files);

/// Throws RequestError if keys contradict each other, naming the keys, their values, the places where they were given,
/// and what would be right. `command` is the command that they are for; null if the parameters come from a stored file.
void check_consistency(ParameterBuilder& builder, const Command* command = nullptr);

/// Throws RequestError if a key that the command needs is empty or has a value that this command cannot use. Other
/// commands, and checkpoints with this value, are not affected.
void check_needs(ParameterBuilder& builder, const Command& command);

}  // namespace convoy::params
