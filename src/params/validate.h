/// What must hold between keys, as far as neither the world's size nor the data are needed to know it.
#pragma once

#include "params/command_table.h"
#include "params/draft.h"

namespace convoy::params {

/// Throws RequestError for a path that begins with '~': "--data.train=~/x" comes here as it stands, since a shell
/// expands '~' only where a word begins, and would be a folder of that name. Not asked of what a checkpoint holds.
void check_paths(const Draft& draft);

/// Throws RequestError for a path that the command reads or writes at and no file system can follow: a name too long,
/// links that lead in a circle.
void check_reachable(const Draft& draft, const Command& command);

/// Throws RequestError naming the keys, their values, where they were given, and what would be right.
void check_consistency(const Draft& draft);

/// Throws RequestError where a key that the command needs is empty, or is not what the command can take: other
/// commands, and checkpoints that keep the value, do not mind.
void check_needs(const Draft& draft, const Command& command);

}  // namespace convoy::params
