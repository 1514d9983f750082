/// convoy help --markdown: input/keys.md, the page of all commands, networks and keys.
#include <fmt/core.h>

#include "convoy/params/parse.h"

#include "params/command_table.h"
#include "params/key_table.h"

namespace convoy {

namespace {

using namespace params;

constexpr const char* kIntroduction = R"(# All commands and keys

This page is written by `convoy help --markdown > input/keys.md` from the texts in `src/params`. [README.md](README.md)
explains how to write a parameter file. In the terminal, `convoy help train` prints a command with the keys that it
reads, `convoy help lr` a section, and `convoy help optimizer.lr` a key.
)";

/// Text as a table's cell: nothing in it ends the cell or is taken for Markdown.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '<' || c == '`' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string code(const std::string& text) {
  return text.empty() ? "" : "`" + text + "`";
}

std::string format_commands() {
  std::string text = "\n## Commands\n\n| `convoy` | meaning |\n| --- | --- |\n";
  for (const Command& command : commands())
    text += fmt::format("| `{}` | {} |\n", command.name, cell(command.sentence));
  return text;
}

std::string format_section(const std::string& section) {
  std::string text =
      fmt::format("\n## [{}]\n\n| key | default | allowed | meaning |\n| --- | --- | --- | --- |\n", section);
  for (const Key& key : keys()) {
    if (key.section() != section) continue;
    text += fmt::format("| `{}` | {} | {}: {}{} | {} |\n", key.leaf(), code(key.default_text()), key.value.type,
                        cell(key.value.allowed), key.unit.empty() ? "" : " " + key.unit, cell(key.sentence));
  }
  return text;
}

}  // namespace

std::string markdown_help(const std::vector<NetworkHelp>& networks) {
  std::string text = kIntroduction + format_commands();
  text += "\n## Networks\n\n| `model.name` | is |\n| --- | --- |\n";
  for (const NetworkHelp& network : networks) text += fmt::format("| {} | {} |\n", network.names, network.sentence);
  for (const std::string& section : sections()) text += format_section(section);
  return text;
}

}  // namespace convoy
