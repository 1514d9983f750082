/// Reads parameter files and the command line into Parameters, and writes the effective parameter file.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "convoy/params/parameters.h"

namespace convoy {

/// A parsed command line: the command, its arguments and its parameters.
struct Request {
  std::string command;  ///< command: "train", "evaluate", ...; "help" for --help, "version" for --version
  std::vector<std::string> arguments = {};  ///< arguments of the command: paths for info and check, topics for help
  bool as_markdown = false;                 ///< only for help: true if it is to be written as Markdown
  bool is_summary = false;                  ///< only for compare: true if several runs are summed up in a table
  bool is_preflight = false;                ///< true for `check FILE.cfg` and `train --dry-run`: nothing is trained
  Parameters params = {};
  /// Preflight only: messages about wrong parameters, which other commands throw.
  std::vector<std::string> problems = {};
  /// Warnings about parameters that were given by their former names.
  std::vector<std::string> renamed = {};
  /// Parameters given on the command line, which are meant for this run only.
  std::set<std::string> command_line_keys = {};

  bool given_on_command_line(const std::string& key) const { return command_line_keys.contains(key); }
};

/// Parses `convoy COMMAND [FILE.cfg ...] [--section.key=value ...]`. Later files override earlier ones, and the command
/// line overrides all. A run directory in place of a file is its params.cfg with this run.directory. `--section.key
/// value` is the same; if a key is given twice on the command line, the later value counts. --help and --version
/// override everything else. The key `optimizer.lr` is in section [optimizer], `lr.schedule` in [lr], and so on.
///
/// Throws RequestError naming the key (and the file and line), the given value, what is allowed, and the nearest right
/// key. `convoy check FILE.cfg` and `convoy train --dry-run` collect these messages in Request::problems instead.
/// Conditions between keys (batch.micro divides batch.global, ...) and the needs of the command are checked, too.
/// Conditions that depend on the ranks or the data are not checked: stages against ranks and cells, model.name, whether
/// the data exist.
Request parse_command_line(int argc, const char* const* argv);

/// Returns warnings about values that are allowed but probably not intended, one sentence each.
std::vector<std::string> warnings_for(const Parameters& params);

/// Returns a sentence about parameters on the command line that the command does not read; empty if it reads all.
/// `plan` accepts all parameters of `train`, so that the command line of a run can be planned.
std::string describe_unread_keys(const Request& request);

/// Returns a sentence about parameters of networks and of data to plan for on the command line, which have no effect on
/// the checkpoint at `path`; empty if there are none.
std::string describe_unread_network(const Request& request, const std::string& path);

/// Returns the text of a parameter file with exactly these parameters, and comments; run directories and checkpoints
/// store it.
std::string render(const Parameters& params);

/// Parses a text that render() returned, such as that of a checkpoint. `where` names the text in messages. Throws
/// RequestError if it is not a valid parameter file.
Parameters parse_parameters(const std::string& text, const std::string& where);

/// Throws RequestError if values of several parameters contradict each other.
void check_consistency(const Parameters& params);

/// A parameter with two different values, as text without the quotes of a parameter file. An empty value is "(empty)".
struct KeyChange {
  std::string key, before, after;
  bool changes_result = false;  ///< whether a run that is resumed with the new value gives another result
};

bool is_key(const std::string& name);

/// Returns the value of a parameter as text, without the quotes of a parameter file: "(empty)" if it is empty, and an
/// empty text if no such key exists.
std::string shown_value(const std::string& key, const Parameters& params);

/// Returns the parameters whose values differ, in the order of the parameter file.
std::vector<KeyChange> changed_keys(const Parameters& before, const Parameters& after);

/// Returns the help text: the commands, then every parameter with its default, type, range, unit and a sentence. With
/// `topics` (names of commands, sections and keys, keys with or without their section, or words in their texts) only
/// these; a command is described by its usage and the parameters that it reads. Lines have at most `columns`
/// characters, unless a single word is longer. Throws RequestError for a topic that is not found.
std::string help_text(const std::vector<std::string>& topics = {}, int columns = 80);

/// A row of the table of networks in markdown_help().
struct NetworkHelp {
  std::string names;     ///< names of networks in Markdown: "`resnet20`, `resnet32`"
  std::string sentence;  ///< description of these networks
};
/// Returns the page input/keys.md: tables of the commands, of `networks` (which this part of the program does not
/// know), and of the parameters of each section.
/// `functions`: the part of the page about the functions of network files, with its heading.
std::string markdown_help(const std::vector<NetworkHelp>& networks, const std::string& functions);

}  // namespace convoy
