/// Parameter files and command line into Parameters, and back into the effective file.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "convoy/params/parameters.h"

namespace convoy {

/// The request of a command line.
struct Request {
  std::string command;                      ///< train, evaluate, ...; "help" for --help, "version" for --version
  std::vector<std::string> arguments = {};  ///< paths given to info and check, topics given to help
  bool as_markdown = false;                 ///< of help
  bool is_preflight = false;                ///< check of a parameter file, and train --dry-run: nothing is trained
  Parameters params = {};
  std::vector<std::string> problems = {};  ///< of a preflight: what is wrong with the parameters; else it is thrown
  std::set<std::string> command_line_keys = {};  ///< keys that the command line gives: they are meant for this run only

  bool given_on_command_line(const std::string& key) const { return command_line_keys.contains(key); }
};

/// `convoy COMMAND [FILE.cfg ...] [--section.key=value ...]`; later files override earlier ones, the command line all.
/// `--section.key value` is the same; of a key given twice on the command line the later holds. --help and --version
/// win. The key `optimizer.lr` lives in section [optimizer], `lr.schedule` in [lr], and so on.
///
/// Throws RequestError naming the key (and the file and line), the value given, what is allowed, the nearest right key.
/// `convoy check FILE.cfg` and `convoy train --dry-run` collect what is wrong with the parameters instead.
/// Checked too: what one key asks of another (batch.micro divides batch.global, ...), and what the command needs.
/// Not checked, as it takes the world or the data: stages against ranks and cells, model.name, whether the data exist.
Request parse_command_line(int argc, const char* const* argv);

/// Warnings about values that are allowed but probably not intended, one sentence each.
std::vector<std::string> warnings_for(const Parameters& params);

/// A sentence about the keys of the command line that the command does not read; empty where it reads all. `plan` takes
/// what `train` reads, so that the command line of a run can be planned.
std::string describe_unread_keys(const Request& request);

/// The parameter file with exactly these parameters and comments; run directories and checkpoints keep it.
std::string render(const Parameters& params);

/// Reads back what render() wrote (checkpoints hold it).
Parameters parse_parameters(const std::string& text, const std::string& where);

/// Throws RequestError where values contradict each other, as parse_parameters() does.
void check_consistency(const Parameters& params);

/// A key with two values, as a parameter file writes them; an empty value is "(empty)".
struct KeyChange {
  std::string key, before, after;
  bool changes_result = false;  ///< of a run that goes on with it: as the table of keys says
};

bool is_key(const std::string& name);

/// The value of a key as KeyChange has it; empty where there is no such key.
std::string shown_value(const std::string& key, const Parameters& params);

/// The keys whose values differ, in the order of the file.
std::vector<KeyChange> changed_keys(const Parameters& before, const Parameters& after);

/// For people: the commands, then every key with its default, type, range, unit and a sentence. With topics (names of
/// commands, sections and keys, keys with their section or without) only what they name; of a command how it is called
/// and the keys that it reads. Lines of at most `columns`, but for a word that is longer. Throws RequestError for a
/// topic that names nothing.
std::string help_text(const std::vector<std::string>& topics = {}, int columns = 80);

/// The same for a browser: how parameter files work, the commands, and a table of keys for each section. What
/// input/README.md holds. Networks, which this floor does not know, are given.
struct NetworkHelp {
  std::string names;  ///< "`resnet20`, `resnet32`"
  std::string sentence;
};
std::string markdown_help(const std::vector<NetworkHelp>& networks);

}  // namespace convoy
