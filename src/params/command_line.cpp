/// The command line: the command, its files or paths, and the keys that override them.
#include <algorithm>

#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/params/parse.h"

#include "params/command_table.h"
#include "params/draft.h"
#include "params/key_table.h"
#include "params/validate.h"

namespace convoy {

namespace {

namespace po = boost::program_options;
using namespace params;

constexpr const char* kWhere = "command line";

/// What stands on the command line, sorted but not yet understood.
struct Tokens {
  std::vector<std::string> positional;  ///< the command first
  std::vector<Given> given;             ///< in order
  bool help = false, version = false;
};

const po::options_description& options() {
  static const po::options_description kOptions = [] {
    po::options_description description;
    description.add_options()("help", "")("version", "");
    for (const Key& key : keys()) description.add_options()(key.name.c_str(), po::value<std::string>(), "");
    return description;
  }();
  return kOptions;
}

[[noreturn]] void refuse_unknown_key(const std::string& name, const std::string& value) {
  refuse("{}: {}{}: there is no such key.{}", kWhere, shown(name), value.empty() ? "" : " = " + shown(value),
         key_hint(name));
}

[[noreturn]] void refuse_missing_value(const std::string& name) {
  const Key* key = find_key(name);
  if (!key) refuse_unknown_key(name, "");
  const std::string value = key->default_text();
  refuse("{}: --{} has no value. Allowed: {}. As in: --{}={}", kWhere, name, key->value.allowed, name,
         value.empty() ? "VALUE" : value);
}

// To Boost "--key=" is a mistake. A blank is trimmed later, and then nothing is a value as any other.
std::vector<std::string> with_empty_values(std::vector<std::string> arguments) {
  for (std::string& argument : arguments)
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) argument += ' ';
  return arguments;
}

std::vector<po::option> parse_options(const std::vector<std::string>& arguments) {
  using namespace po::command_line_style;
  try {
    // No guessing: --batch.glob is a mistake, not batch.global. No short options: -1 is a number.
    return po::command_line_parser(with_empty_values(arguments))
        .options(options())
        .style(allow_long | long_allow_adjacent | long_allow_next | long_case_insensitive)
        .allow_unregistered()
        .run()
        .options;
  } catch (const po::invalid_command_line_syntax& error) {
    const std::string name = po::strip_prefixes(error.get_option_name());
    if (name == "help" || name == "version") refuse("{}: --{} takes no value.", kWhere, name);
    refuse_missing_value(name);
  }
}

Tokens sort_tokens(const std::vector<std::string>& arguments) {
  Tokens tokens;
  for (const po::option& option : parse_options(arguments)) {
    const std::string value = option.value.empty() ? "" : option.value.front();
    const bool is_positional = option.position_key >= 0;
    if (option.string_key == "help" || (is_positional && value == "-h")) {
      tokens.help = true;
    } else if (option.string_key == "version") {
      tokens.version = true;
    } else if (is_positional) {
      tokens.positional.push_back(value);
    } else {
      const bool next_option_taken = option.original_tokens.size() > 1 && value.starts_with("--");
      if (next_option_taken) refuse_missing_value(option.string_key);
      tokens.given.push_back({.key = option.string_key, .value = trimmed(value), .where = kWhere, .unit = ""});
    }
  }
  return tokens;
}

bool is_parameter_file(const std::string& argument) {
  return argument.ends_with(".cfg") || argument.ends_with(".ini");
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
  refuse("{}: {} is no command.{} {}", kWhere, shown(name), nearest_hint(name, command_names()), known);
}

/// "convoy train my.cfg --help" asks about train.
std::vector<std::string> help_topics(const Tokens& tokens) {
  if (tokens.positional.empty()) return {};
  const Command* const command = find_command(tokens.positional.front());
  if (!command || command->takes == Takes::kTopics) return {};
  return {command->name};
}

[[noreturn]] void refuse_argument(const Command& command, const std::string& argument) {
  const std::string name = argument.substr(std::min(argument.find_first_not_of('-'), argument.size()));
  if (find_key(name.substr(0, name.find('=')))) {
    refuse("{}: {}: a key begins with two dashes. Nearest: --{}.", kWhere, shown(argument), shown(name));
  }
  const char* takes = command.takes == Takes::kParameterFiles ? "parameter files (*.cfg, *.ini)"
                      : command.takes == Takes::kPaths        ? "paths"
                      : command.takes == Takes::kTopics       ? "names of keys, sections and commands"
                                                              : "nothing";
  refuse("{}: {}: convoy {} takes {}, and keys as --section.key=value. All of it: convoy {} --help.", kWhere,
         shown(argument), command.name, takes, command.name);
}

void check_arguments(const Command& command, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const bool is_option = argument.size() > 1 && argument.front() == '-';
    const bool wanted = command.takes == Takes::kPaths || command.takes == Takes::kTopics ||
                        (command.takes == Takes::kParameterFiles && is_parameter_file(argument));
    if (is_option || !wanted) refuse_argument(command, argument);
  }
}

void check_keys(const Tokens& tokens) {
  for (const Given& given : tokens.given) {
    const Key* const key = find_key(given.key);
    if (!key) refuse_unknown_key(given.key, given.value);
    if (given.value.empty() && !key->value.may_be_empty) refuse_missing_value(given.key);
  }
}

}  // namespace

Request parse_command_line(int argc, const char* const* argv) {
  // 1. What stands there
  const Tokens tokens = sort_tokens(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  if (tokens.help) return {.command = "help", .arguments = help_topics(tokens), .params = {}, .commanded = {}};
  if (tokens.version) return {.command = "version", .arguments = {}, .params = {}, .commanded = {}};
  check_keys(tokens);

  // 2. What to do, with what
  const Command& command = command_of(tokens);
  const std::vector<std::string> arguments(tokens.positional.begin() + 1, tokens.positional.end());
  check_arguments(command, arguments);
  Request request{.command = command.name, .arguments = {}, .params = {}, .commanded = {}};

  // 3. Files in order, then the keys of the command line
  Draft draft;
  if (command.takes == Takes::kParameterFiles) {
    for (const std::string& path : arguments) assign_file(draft, path);
  } else {
    request.arguments = arguments;
  }
  for (const Given& given : tokens.given) {
    assign(draft, given);
    request.commanded.insert(given.key);
  }

  // 4. What no key can tell by itself
  check_paths(draft);
  check_reachable(draft, command);
  check_consistency(draft);
  check_needs(draft, command);
  request.params = std::move(draft.values);
  return request;
}

Parameters parse_parameters(const std::string& text, const std::string& where) {
  Draft draft;
  assign_text(draft, text, where);
  check_consistency(draft);
  return std::move(draft.values);
}

}  // namespace convoy
