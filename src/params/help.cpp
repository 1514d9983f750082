/// Writes --help: the commands, then every key; for a command, a section or a key only what belongs to it. Writes the
/// same as Markdown.
#include <algorithm>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/params/parse.h"

#include "params/command_table.h"
#include "params/key_table.h"

namespace convoy {

namespace {

using namespace params;

using Names = std::vector<std::string>;

/// The indents of a paragraph's first line and of the others, in blanks.
struct Indent {
  std::size_t first = 0, others = 0;
};

/// Breaks a text into lines of at most `columns` characters; a longer word gets its own line.
std::string paragraph(const std::string& text, const Indent& indent, int columns) {
  std::string lines, line(indent.first, ' ');
  bool is_empty = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (!is_empty && line.size() + 1 + end - begin > static_cast<std::size_t>(columns)) {
      lines += line + "\n";
      line.assign(indent.others, ' ');
      is_empty = true;
    }
    line += (is_empty ? "" : " ") + text.substr(begin, end - begin);
    is_empty = false;
    begin = end + 1;
  }
  return lines + line + "\n";
}

/// The help of a key: "batch.global = 128 (integer: 1 to 16777216 samples)", and its sentence.
std::string format_key(const Key& key, int columns) {
  const std::string value = key.default_text();
  const std::string head = fmt::format("{}{} ({}: {}{})", key.name, value.empty() ? "" : " = " + value, key.value.type,
                                       key.value.allowed, key.unit.empty() ? "" : " " + key.unit);
  return paragraph(head, {.first = 2, .others = 6}, columns) +
         paragraph(key.sentence, {.first = 6, .others = 6}, columns);
}

/// The help of the wanted keys, section by section; empty if there are none.
template <typename IsWanted>
std::string format_keys(const IsWanted& is_wanted, int columns) {
  std::string text, section;
  for (const Key& key : keys()) {
    if (!is_wanted(key)) continue;
    if (key.section() != section) text += fmt::format("\n[{}]\n", section = key.section());
    text += format_key(key, columns);
  }
  if (text.empty()) return "";
  return paragraph("Keys: name = default (type: what is allowed), then what it is for", {}, columns) + text;
}

std::string format_commands(int columns) {
  std::string text = "Commands\n";
  for (const Command& command : commands())
    text += paragraph(fmt::format("{:<9} {}", command.name, command.sentence), {.first = 2, .others = 12}, columns);
  return text;
}

/// The usage of a command, and its sentence.
std::string format_command(const Command& command, int columns) {
  const char* takes =
      command.takes == Takes::kParameterFiles ? " [FILE.cfg ...] [--section.key=value ...]"
      : command.takes == Takes::kPaths        ? " PATH ..."
      : command.takes == Takes::kParameterFilesOrNetwork
          ? " [FILE.cfg ...] [NETWORK | FILE.lua] [--section.key=value ...]"
      : command.takes == Takes::kPathsOrNetworks       ? " [PATH | NETWORK | FILE.lua ...] [--section.key=value ...]"
      : command.takes == Takes::kPathsOrParameterFiles ? " PATH ..., or FILE.cfg ... [--section.key=value ...]"
      : command.takes == Takes::kTopics                ? " [COMMAND | SECTION | KEY | WORD ...]"
                                                       : "";
  std::string usage = fmt::format("convoy {}{}", command.name, takes);
  if (command.takes_run) usage.insert(usage.find("FILE.cfg"), "RUN | ");
  return paragraph(usage, {.first = 0, .others = 4}, columns) +
         paragraph(command.sentence, {.first = 4, .others = 4}, columns) + "\n";
}

/// Whether the topic names the key. A word that names both a command and a section, such as train, means the command,
/// which reads the section.
bool is_named(const Key& key, const std::string& topic) {
  if (const Command* command = find_command(topic)) return command->is_reading(key);
  return key.is_called(topic) || topic == key.section() || topic == key.leaf();
}

/// The nearest topic: a word with a dot can only be a key ("lr.powr"), another word may be any topic ("optimzer").
std::string nearest_topic(const std::string& topic) {
  if (topic.find('.') != std::string::npos) return nearest_key(topic);
  Names words = sections();
  for (const Command& command : commands()) words.push_back(command.name);
  for (const Key& key : keys()) words.push_back(key.leaf());
  return nearest(topic, words);
}

bool is_name(const std::string& topic) {
  const auto has_name = [&](const Key& key) { return is_named(key, topic); };
  return find_command(topic) || std::any_of(keys().begin(), keys().end(), has_name);
}

/// The quality of a match between a text and a word, in ascending order.
enum class Match { kNone, kInside, kBegin, kWord };

/// The best match of `word` in the text: as a whole word (or its plural), as the beginning of one, or inside of one.
Match match_of(const std::string& given, const std::string& word) {
  const std::string text = lower_case(given);
  const auto is_letter = [&](std::size_t at) {
    return at < text.size() && ((text[at] >= 'a' && text[at] <= 'z') || (text[at] >= '0' && text[at] <= '9'));
  };
  Match best = Match::kNone;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_letter(at - 1);
    const bool ends = !is_letter(end) || (text[end] == 's' && !is_letter(end + 1));
    best = std::max(best, begins && ends ? Match::kWord : begins ? Match::kBegin : Match::kInside);
  }
  return best;
}

std::string text_of(const Key& key) {
  return fmt::format("{} {} {} {}", key.name, key.unit, key.value.allowed, key.sentence);
}
std::string text_of(const Command& command) {
  return fmt::format("{} {}", command.name, command.sentence);
}

/// The help of the commands and keys that match the word best; empty if none matches.
std::string search(const std::string& word, int columns) {
  constexpr std::size_t kMinLetters = 3;  // shorter words are in every text
  Match best = Match::kNone;
  for (const Key& key : keys()) best = std::max(best, match_of(text_of(key), word));
  for (const Command& command : commands()) best = std::max(best, match_of(text_of(command), word));
  if (best == Match::kNone || (best != Match::kWord && word.size() < kMinLetters)) return "";
  std::string text = paragraph(
      fmt::format("No command, section or key is called '{}'. These texts contain the word:", word), {}, columns);
  for (const Command& command : commands())
    if (match_of(text_of(command), word) == best) text += "\n" + format_command(command, columns);
  const auto has_word = [&](const Key& key) { return match_of(text_of(key), word) == best; };
  const std::string found = format_keys(has_word, columns);
  return text + (found.empty() ? "" : "\n" + found);
}

[[noreturn]] void refuse_topic(const std::string& topic) {
  const std::string near = nearest_topic(topic);
  refuse("convoy help {}: there is no such key, section or command.{} All of them: convoy help.", shown(topic),
         near.empty() ? "" : fmt::format(" Nearest: {}.", near));
}

std::string format_topics(Names topics, int columns) {
  std::string text, found;
  for (std::string& topic : topics) {
    topic = lower_case(topic);
    if (const Command* command = find_command(topic)) text += format_command(*command, columns);
    if (is_name(topic)) continue;
    const std::string places = search(topic, columns);
    if (places.empty()) refuse_topic(topic);
    found += (found.empty() ? "" : "\n") + places;
  }
  const auto is_wanted = [&](const Key& key) {
    return std::any_of(topics.begin(), topics.end(), [&](const std::string& topic) { return is_named(key, topic); });
  };
  text += format_keys(is_wanted, columns);
  return text + (text.empty() || found.empty() ? "" : "\n") + found;
}

/// The whole page of help.
std::string format_all(int columns) {
  const auto say = [columns](const std::string& text) { return paragraph(text, {}, columns) + "\n"; };
  return say("Convoy trains neural networks, distributed over the ranks that mpirun or srun starts.") +
         paragraph("convoy COMMAND [FILE.cfg ...] [--section.key=value ...]", {.first = 2, .others = 6}, columns) +
         paragraph("mpirun -n 4 convoy train input/fashion_resnet20.cfg --grid.stages=2 --run.directory=runs/a",
                   {.first = 2, .others = 6}, columns) +
         "\n" +
         say("A FILE.cfg has its keys in sections. A comment begins with # or ; at the start of a line or after a "
             "space or tab; a quoted value, \"...\" or '...', is used exactly as it is written:") +
         "  [batch]\n"
         "  global = 128   # samples per step\n"
         "\n" +
         say("A later value of a key overrides an earlier one, and the command line overrides the files. Capital and "
             "small letters are the same in the names of sections, keys, choices and networks.") +
         say("RUN is the directory of a run: convoy evaluate runs/a stands for convoy evaluate runs/a/params.cfg "
             "--run.directory=runs/a.") +
         format_commands(columns) + "\n" + say("convoy COMMAND --help prints one command and the keys that it reads.") +
         format_keys([](const Key&) { return true; }, columns) + "\n" +
         paragraph(
             "Exit status: 0 done; 1 the run failed; 2 the request was wrong; 75 stopped early with a checkpoint: run "
             "the same command again.",
             {}, columns);
}

// --- input/keys.md, the page of all commands, networks and keys ------------------------------------------------------

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

std::string markdown_commands() {
  std::string text = "\n## Commands\n\n| `convoy` | meaning |\n| --- | --- |\n";
  for (const Command& command : commands())
    text += fmt::format("| `{}` | {} |\n", command.name, cell(command.sentence));
  return text;
}

std::string markdown_section(const std::string& section) {
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

std::string help_text(const std::vector<std::string>& topics, int columns) {
  return topics.empty() ? format_all(columns) : format_topics(topics, columns);
}

std::string markdown_help(const std::vector<NetworkHelp>& networks, const std::string& functions) {
  std::string text = kIntroduction + markdown_commands();
  text += "\n## Networks\n\n| `model.name` | is |\n| --- | --- |\n";
  for (const NetworkHelp& network : networks) text += fmt::format("| {} | {} |\n", network.names, network.sentence);
  text += functions;
  for (const std::string& section : sections()) text += markdown_section(section);
  return text;
}

}  // namespace convoy
