/// The command line: the command, its files or paths, and the keys that override them.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/params/parse.h"

#include "params/command_table.h"
#include "params/key_table.h"
#include "params/parameter_file.h"
#include "params/validate.h"

namespace convoy {

namespace {

using namespace params;

constexpr const char* kWhere = "command line";

/// The arguments of the command line, sorted but not yet understood.
struct Tokens {
  std::vector<std::string> positional;  ///< the command first
  std::vector<Given> given;             ///< in order
  bool help = false, version = false, markdown = false, dry_run = false, summary = false;
};

[[noreturn]] void refuse_unknown_key(const std::string& name, const std::string& value) {
  refuse("{}: {}{}: there is no such key.{}", kWhere, shown(name), value.empty() ? "" : " = " + shown(value),
         key_hint(name));
}

[[noreturn]] void refuse_missing_value(const Key& key) {
  const std::string value = key.default_text();
  refuse("{}: --{} has no value. Allowed: {}. As in: --{}={}", kWhere, key.name, key.value.allowed, key.name,
         value.empty() ? "VALUE" : value);
}

// Sorts "--key=value", or "--key value" if such a key exists. After "--" nothing is a key. Nothing is guessed:
// --batch.glob is a mistake, not batch.global. There are no short options but -h: -1 is a number.
Tokens sort_tokens(const std::vector<std::string>& arguments) {
  Tokens tokens;
  const std::map<std::string, bool*> flags = {{"help", &tokens.help},
                                              {"version", &tokens.version},
                                              {"markdown", &tokens.markdown},
                                              {"dry-run", &tokens.dry_run},
                                              {"summary", &tokens.summary}};
  bool keys_end = false;
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    if (*argument == "-h") {
      tokens.help = true;
    } else if (keys_end || !argument->starts_with("--")) {
      tokens.positional.push_back(*argument);
    } else if (*argument == "--") {
      keys_end = true;
    } else {
      const std::size_t equals = std::min(argument->find('='), argument->size());
      const std::string name = argument->substr(2, equals - 2);
      const bool has_value = equals < argument->size();
      const Key* const key = find_key(name);
      if (const auto flag = flags.find(lower_case(name)); flag != flags.end()) {
        if (has_value) refuse("{}: --{} takes no value.", kWhere, flag->first);
        *flag->second = true;
        continue;
      }
      std::string value = has_value ? argument->substr(equals + 1) : "";
      if (key && !has_value) {
        if (++argument == arguments.end() || argument->starts_with("--")) refuse_missing_value(*key);
        value = *argument;
      }
      tokens.given.push_back(
          {.key = key ? key->name : name, .value = trimmed(value), .where = kWhere, .written_key = lower_case(name)});
    }
  }
  return tokens;
}

bool is_parameter_file(const std::string& argument) {
  return argument.ends_with(".cfg") || argument.ends_with(".ini");
}

// Whether the argument can be a network: the path of its file, or a word that can be its name.
bool is_network(const std::string& argument) {
  return argument.ends_with(".lua") || argument.find_first_of("./") == std::string::npos;
}

// Sets the network that an argument names.
void assign_network(ParameterBuilder& builder, const std::string& network) {
  const bool is_file = network.ends_with(".lua");
  const auto set = [&](const char* key, const std::string& value) {
    assign(builder, {.key = key, .value = value, .where = kWhere, .written_key = key});
  };
  set("model.file", is_file ? network : "");
  if (!is_file) set("model.name", network);
}

// Adds those keys of the command line that a network's file may declare as parameters to model.set, if they have their
// default values: those reach files only by model.set, because files that Convoy wrote hold all keys.
void add_defaults_to_set(ParameterBuilder& builder, const std::set<std::string>& names) {
  ModelParams& model = builder.values.model;
  for (const std::string& name : names) {
    const Key& key = *find_key(name);
    const std::string value = key.value.write(builder.values);
    if (key.section() != "model" || value != key.default_text()) continue;
    if (name == "model.name" || name == "model.file" || name == "model.set" || name == "model.length") continue;
    model.set += fmt::format("{}{}={}", model.set.empty() ? "" : ", ", key.leaf(), value);
  }
}

// Refuses a key such as model.width on the command line if model.set, whose values count more, holds it too.
void check_set(const ParameterBuilder& builder, const std::set<std::string>& names) {
  for (const std::string& key : keys_in_model_set(builder.values.model))
    if (names.contains(key))
      refuse("{}: {} = {} has no effect, since model.set = {} sets it, too. Give only one of the two.", kWhere, key,
             find_key(key)->value.write(builder.values), builder.values.model.set);
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return names;
}

const Command& command_of(const Tokens& tokens) {
  const std::string known = fmt::format("Commands: {}. More: convoy --help.", join(command_names()));
  if (tokens.positional.empty()) refuse("{}: no command. {}", kWhere, known);
  const std::string& name = tokens.positional.front();
  if (const Command* command = find_command(name)) return *command;
  if (is_parameter_file(name))
    refuse("{}: no command before {}. Nearest: convoy train {}. {}", kWhere, name, name, known);
  refuse("{}: {} is not a command.{} {}", kWhere, shown(name), nearest_hint(name, command_names()), known);
}

/// The topics that --help asks about: in "convoy train my.cfg --help" it is train.
std::vector<std::string> help_topics(const Tokens& tokens) {
  if (tokens.positional.empty()) return {};
  const Command* const command = find_command(tokens.positional.front());
  if (!command || command->takes == Takes::kTopics) return {};
  return {command->name};
}

// Puts the parameter file of a run in the place of its directory, and returns the directory; empty if there is none.
// Other meanings of a folder remain: `convoy plan NAME` plans a network, and `convoy check` verifies a data set.
std::string replace_run_directory(const Command& command, std::vector<std::string>& arguments) {
  namespace fs = std::filesystem;
  std::string run;
  for (std::string& argument : arguments) {
    std::error_code unknown;
    const bool is_name = command.takes == Takes::kParameterFilesOrNetwork && is_network(argument);
    if (!command.takes_run || is_name || !fs::is_directory(argument, unknown)) continue;
    const std::string file = fs::path(argument) / "params.cfg";
    if (!fs::exists(file, unknown)) {
      if (command.takes == Takes::kPathsOrParameterFiles) continue;
      refuse(
          "{}: {} is not the directory of a run: it has no params.cfg. Give the run.directory of a training, or a "
          "parameter file.",
          kWhere, shown(argument));
    }
    if (!run.empty())
      refuse("{}: convoy {} takes one run directory, but {} and {} are given.", kWhere, command.name, shown(run),
             shown(argument));
    run = (fs::path(argument) / "").parent_path();  // without a slash at its end
    argument = file;
  }
  return run;
}

// Throws RequestError if the run directory that is given is not the one of --run.directory.
void check_one_run(const std::string& run, const Request& request, const Parameters& params) {
  std::error_code unknown;
  const std::string& other = params.run.directory;
  if (run.empty() || !request.given_on_command_line("run.directory") || other == run ||
      std::filesystem::equivalent(other, run, unknown))
    return;
  refuse(
      "{}: {} is the directory of a run, and --run.directory={} is another one. Leave out one of them. To use only "
      "the parameters of {}: convoy {} {}/params.cfg --run.directory={}.",
      kWhere, shown(run), shown(other), shown(run), request.command, shown(run), shown(other));
}

[[noreturn]] void refuse_argument(const Command& command, const std::string& argument) {
  const std::string name = argument.substr(std::min(argument.find_first_not_of('-'), argument.size()));
  if (find_key(name.substr(0, name.find('=')))) {
    refuse("{}: {}: a key must begin with two dashes. Nearest: --{}.", kWhere, shown(argument), shown(name));
  }
  const char* takes = command.takes == Takes::kParameterFiles ? "parameter files (*.cfg, *.ini)"
                      : command.takes == Takes::kParameterFilesOrNetwork
                          ? "parameter files (*.cfg, *.ini), and one network by its name or its file (*.lua)"
                      : command.takes == Takes::kPaths                 ? "paths"
                      : command.takes == Takes::kPathsOrNetworks       ? "paths, and names of networks"
                      : command.takes == Takes::kPathsOrParameterFiles ? "paths or parameter files (*.cfg, *.ini)"
                      : command.takes == Takes::kTopics                ? "names of keys, sections and commands"
                                                                       : "nothing";
  std::error_code unknown;
  const bool is_absent = command.takes_run && !std::filesystem::exists(argument, unknown);
  refuse("{}: {}: {}convoy {} takes {}{}, and keys as --section.key=value. More: convoy {} --help.", kWhere,
         shown(argument), is_absent ? "there is no such folder. " : "", command.name,
         command.takes_run ? "the directory of a run, " : "", takes, command.name);
}

bool takes(const Command& command, const std::string& argument) {
  if (command.takes == Takes::kParameterFiles) return is_parameter_file(argument);
  if (command.takes == Takes::kParameterFilesOrNetwork) return is_parameter_file(argument) || is_network(argument);
  return command.takes != Takes::kNothing;
}

void check_arguments(const Command& command, const std::vector<std::string>& arguments, bool has_keys) {
  std::string network;
  for (const std::string& argument : arguments) {
    const bool is_option = argument.size() > 1 && argument.front() == '-';
    if (is_option || !takes(command, argument)) refuse_argument(command, argument);
    if (command.takes != Takes::kParameterFilesOrNetwork || is_parameter_file(argument)) continue;
    if (!network.empty())
      refuse("{}: convoy {} takes one network, but {} and {} are given.", kWhere, command.name, shown(network),
             shown(argument));
    network = argument;
  }
  if (command.takes == Takes::kPathsOrNetworks && arguments.empty() && has_keys)
    refuse(
        "{}: convoy {} without arguments describes the machine, and reads no keys. To describe a network, name it: "
        "convoy {} resnet50, or a file in Lua.",
        kWhere, command.name, command.name);
}

/// Throws RequestError unless the whole page of help is asked for: only this is written as Markdown.
void check_markdown(const Tokens& tokens) {
  const bool is_help = tokens.help ? tokens.positional.empty() : tokens.positional == std::vector<std::string>{"help"};
  if (!is_help) refuse("{}: --markdown is only for the whole page of help: convoy help --markdown.", kWhere);
}

void check_key(const Given& given) {
  const Key* const key = find_key(given.key);
  if (!key) refuse_unknown_key(given.key, given.value);
  if (given.value.empty() && !key->value.may_be_empty) refuse_missing_value(*key);
}

/// Whether the command only checks if a training would run: `convoy check` of parameters, not of files, and `convoy
/// train --dry-run`.
bool is_preflight(const Command& command, const std::vector<std::string>& arguments, const Tokens& tokens) {
  if (tokens.dry_run && command.name != "train")
    refuse("{}: --dry-run is for convoy train. Nearest: convoy train FILE.cfg --dry-run.", kWhere);
  if (command.takes != Takes::kPathsOrParameterFiles) return tokens.dry_run;
  const auto num_files = std::ranges::count_if(arguments, is_parameter_file);
  const auto num_paths = std::ssize(arguments);
  if (num_files > 0 && num_files < num_paths)
    refuse("{}: convoy {} takes either parameter files, or data sets and checkpoints. Check them one after the other.",
           kWhere, command.name);
  return num_files > 0 || (num_paths == 0 && !tokens.given.empty());
}

/// Checks conditions between keys, and between keys and the command.
void check_together(ParameterBuilder& builder, const Request& request, const Command& command,
                    const std::vector<std::string>& files) {
  check_paths(builder);
  check_reachable(builder, command);
  check_moved(builder, command, files);
  if (!builder.problems.empty()) return;  // these keys would be reported again
  check_consistency(builder, &command);
  if (command.takes != Takes::kPathsOrParameterFiles || request.is_preflight) check_needs(builder, command);
}

}  // namespace

Request parse_command_line(int argc, const char* const* argv) {
  // 1. Sort the arguments
  const Tokens tokens = sort_tokens(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  if (tokens.markdown) check_markdown(tokens);
  if (tokens.help || tokens.markdown)
    return {.command = "help", .arguments = help_topics(tokens), .as_markdown = tokens.markdown};
  if (tokens.version) return {.command = "version"};

  // 2. Find the command and its arguments
  const bool may_collect = tokens.dry_run || (!tokens.positional.empty() && tokens.positional.front() == "check");
  if (!may_collect) std::for_each(tokens.given.begin(), tokens.given.end(), check_key);
  const Command& command = command_of(tokens);
  std::vector<std::string> arguments(tokens.positional.begin() + 1, tokens.positional.end());
  const std::string run = replace_run_directory(command, arguments);
  check_arguments(command, arguments, !tokens.given.empty());
  if (tokens.summary && command.name != "compare")
    refuse("{}: --summary is for convoy compare. Nearest: convoy compare --summary RUN RUN ...", kWhere);
  Request request{
      .command = command.name, .is_summary = tokens.summary, .is_preflight = is_preflight(command, arguments, tokens)};

  // 3. Read the files in order, then the network and the keys of the command line
  ParameterBuilder builder;
  builder.collects = request.is_preflight;
  std::vector<std::string> files = arguments;
  if (command.takes == Takes::kParameterFilesOrNetwork) std::erase_if(files, std::not_fn(is_parameter_file));
  if (command.takes == Takes::kParameterFiles || command.takes == Takes::kParameterFilesOrNetwork ||
      request.is_preflight) {
    for (const std::string& path : files) builder.attempt([&] { assign_file(builder, path); });
    for (const std::string& argument : arguments)
      if (!is_parameter_file(argument)) assign_network(builder, argument);
    if (!run.empty())
      builder.attempt([&] {
        assign(builder, {.key = "run.directory", .value = run, .where = run, .written_key = "run.directory"});
      });
  } else {
    request.arguments = arguments;
  }
  for (const Given& given : tokens.given) {
    builder.attempt([&] {
      check_key(given);
      if (given.key == "model.set" && request.given_on_command_line(given.key))
        refuse("{0}: model.set is given twice, as {1} and as {2}. Give one list: --model.set={1},{2}", kWhere,
               builder.values.model.set, given.value);
      assign(builder, given);
      request.command_line_keys.insert(given.key);
    });
  }
  builder.attempt([&] { check_set(builder, request.command_line_keys); });
  if (!builder.values.model.file.empty() || command.takes == Takes::kPathsOrNetworks)
    add_defaults_to_set(builder, request.command_line_keys);

  // 4. Check conditions between keys
  builder.attempt([&] { check_one_run(run, request, builder.values); });
  check_together(builder, request, command, arguments);
  request.params = std::move(builder.values);
  request.problems = std::move(builder.problems);
  request.renamed = std::move(builder.renamed);
  return request;
}

Parameters parse_parameters(const std::string& text, const std::string& where) {
  ParameterBuilder builder;
  assign_text(builder, text, where);
  check_consistency(builder);
  return std::move(builder.values);
}

}  // namespace convoy
