/// What must hold between keys, as far as it can be checked without the number of ranks and the data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "params/command_table.h"
#include "params/parameter_file.h"

namespace convoy::params {

/// What is wrong with the path itself: a name too long, links that lead in a circle. Nothing where it can be followed,
/// or there is only no such file.
std::optional<std::string> find_defect(const std::string& path);

// Each of these goes through attempt() of the builder, check by check.

/// Throws RequestError for a path that begins with '~': "--data.train=~/x" comes here as it stands, since a shell
/// expands '~' only where a word begins, and would be a folder of that name. Not asked of what a checkpoint holds.
void check_paths(ParameterBuilder& builder);

/// Throws RequestError for a path that the command reads or writes at and no file system can follow: a name too long,
/// links that lead in a circle, or to what is not there.
void check_reachable(ParameterBuilder& builder, const Command& command);

/// Throws RequestError where the params.cfg of a run's directory says that the run is in another one: the directory was
/// moved or copied, and the command would begin a run anew, or continue another one. `files`: the parameter files of
/// the command line.
void check_moved(ParameterBuilder& builder, const Command& command, const std::vector<std::string>& files);

/// Throws RequestError naming the keys, their values, where they were given, and what would be right. `command` is the
/// one that they are for; null if the parameters are those that a file keeps.
void check_consistency(ParameterBuilder& builder, const Command* command = nullptr);

/// Throws RequestError where a key that the command needs is empty, or is not what the command can take: other
/// commands, and checkpoints that keep the value, do not mind.
void check_needs(ParameterBuilder& builder, const Command& command);

}  // namespace convoy::params
