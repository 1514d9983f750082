/// Checks the parameters together, as far as this is possible without knowing the number of ranks and the data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "params/command_table.h"
#include "params/parameter_file.h"

namespace convoy::params {

/// Returns a description of what is wrong with a path: a name that is too long, or symbolic links that form a cycle.
/// Returns nothing if the system can follow the path, even if the file does not exist.
std::optional<std::string> find_defect(const std::string& path);

// Each of these functions makes each check by ParameterBuilder::attempt(). So a builder that collects errors gets the
// messages of all failed checks; with others, the first failed check throws.

/// Throws RequestError for a path that begins with '~': it would mean a folder named "~". The shell does not expand it
/// in "--data.train=~/x", since it expands '~' only at the beginning of a word. Not called for parameters from
/// checkpoints.
void check_paths(ParameterBuilder& builder);

/// Throws RequestError for a path that the command reads or writes and that no file system can follow: a name that is
/// too long, symbolic links that form a cycle, or links without a target.
void check_reachable(ParameterBuilder& builder, const Command& command);

/// Throws RequestError if one of `files`, the parameter files of the command line, is the params.cfg of a run and sets
/// run.directory to another directory: the run was moved or copied, and the command would use another run, or begin
/// one. Checks only the commands train, check, evaluate, predict, export and replay.
void check_moved(ParameterBuilder& builder, const Command& command, const std::vector<std::string>& files);

/// Throws RequestError if keys contradict each other. The message names the keys, their values, the files and lines
/// where they were given, and what would be right. `command` is the command that uses the parameters; null if they come
/// from a stored file.
void check_consistency(ParameterBuilder& builder, const Command* command = nullptr);

/// Throws RequestError if a key that the command needs is empty, or has a value that this command cannot use although
/// other commands can.
void check_needs(ParameterBuilder& builder, const Command& command);

/// Returns the keys whose values model.set gives, too, and so takes the place of: "model.width" if it has width=64.
std::vector<std::string> keys_in_model_set(const ModelParams& model);

}  // namespace convoy::params
