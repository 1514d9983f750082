/// Reads parameter files and the command line into Parameters, and writes the effective file.
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
  bool as_markdown = false;                 ///< only for help: written as Markdown
  bool is_preflight = false;  ///< true for check of a parameter file and train --dry-run: nothing is trained
  Parameters params = {};
  std::vector<std::string> problems = {};        ///< preflight: errors of the parameters, which are otherwise thrown
  std::vector<std::string> renamed = {};         ///< a warning for each key that was given by its former name
  std::set<std::string> command_line_keys = {};  ///< keys given on the command line, which are meant for this run only

  bool given_on_command_line(const std::string& key) const { return command_line_keys.contains(key); }
};

/// Parses `convoy COMMAND [FILE.cfg ...] [--section.key=value ...]`. Later files override earlier ones, and the command
/// line overrides all. `--section.key value` is the same; if a key is given twice on the command line, the later value
/// counts. --help and --version override everything else. The key `optimizer.lr` is in section [optimizer],
/// `lr.schedule` in [lr], and so on.
///
/// Throws RequestError naming the key (and the file and line), the given value, what is allowed, and the nearest right
/// key. `convoy check FILE.cfg` and `convoy train --dry-run` collect these messages in Request::problems instead.
/// Conditions between keys (batch.micro divides batch.global, ...) and the needs of the command are checked too. Not
/// checked are those that depend on the ranks or the data: stages against ranks and cells, model.name, whether the data
/// exist.
Request parse_command_line(int argc, const char* const* argv);

/// Warnings about values that are allowed but probably not intended, one sentence each.
std::vector<std::string> warnings_for(const Parameters& params);

/// A sentence about keys of the command line that the command does not read; empty if it reads all. `plan` accepts what
/// `train` reads, so that the command line of a run can be planned.
std::string describe_unread_keys(const Request& request);

/// The text of a parameter file with exactly these parameters and comments; run directories and checkpoints store it.
std::string render(const Parameters& params);

/// Parses a text that render() wrote (checkpoints hold it). `where` names the text in messages. Throws RequestError if
/// it is not a valid parameter file.
Parameters parse_parameters(const std::string& text, const std::string& where);

/// Throws RequestError if values contradict each other, as parse_parameters() does.
void check_consistency(const Parameters& params);

/// A key with two values as text of a parameter file; an empty value is "(empty)".
struct KeyChange {
  std::string key, before, after;
  bool changes_result = false;  ///< whether a run that is resumed with the new value gives another result
};

bool is_key(const std::string& name);

/// The value of a key as text, in the form of KeyChange; empty if no such key exists.
std::string shown_value(const std::string& key, const Parameters& params);

/// The keys whose values differ, in the order of the parameter file.
std::vector<KeyChange> changed_keys(const Parameters& before, const Parameters& after);

/// The help: the commands, then every key with its default, type, range, unit and a sentence. With `topics` (names of
/// commands, sections and keys, keys with or without their section, or words in their texts) only these; a command is
/// described by its usage and the keys that it reads. Lines have at most `columns` characters, except for longer words.
/// Throws RequestError for a topic that is not found.
std::string help_text(const std::vector<std::string>& topics = {}, int columns = 80);

/// The page input/keys.md: tables of the commands, of `networks` (which this floor does not know) and of the keys of
/// each section.
struct NetworkHelp {
  std::string names;  ///< "`resnet20`, `resnet32`"
  std::string sentence;
};
std::string markdown_help(const std::vector<NetworkHelp>& networks);

}  // namespace convoy
