/// --help: the commands, then every key in aligned columns; convoy help TOPIC: those of them that it names.
#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/params/parse.h"

#include "params/command_table.h"
#include "params/key_table.h"

namespace convoy {

namespace {

using namespace params;

/// Column widths of the key table; with a blank between and two before, 120 in all.
constexpr std::array<std::size_t, 6> kWidths = {32, 8, 22, 7, 10, 34};
using Row = std::array<std::string, kWidths.size()>;

/// Words into lines of at most that width; a word that is longer stands alone.
std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    lines.back() += lines.back().empty() ? word : " " + word;
    begin = end + 1;
  }
  return lines;
}

/// Each cell wrapped within its column.
std::string format_row(const Row& row) {
  std::array<std::vector<std::string>, kWidths.size()> cells;
  std::size_t num_lines = 1;
  for (std::size_t c = 0; c < row.size(); ++c) {
    cells[c] = wrap(row[c], kWidths[c]);
    num_lines = std::max(num_lines, cells[c].size());
  }
  std::string text;
  for (std::size_t i = 0; i < num_lines; ++i) {
    std::string line = " ";
    for (std::size_t c = 0; c < row.size(); ++c) {
      line += fmt::format(" {:<{}}", i < cells[c].size() ? cells[c][i] : "", kWidths[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string format_key(const Key& key) {
  const std::string value = key.default_text();
  return format_row({key.name, key.value.type, key.value.allowed, key.unit, value.empty() ? "-" : value, key.sentence});
}

using Names = std::vector<std::string>;

/// Without topics everything is wanted.
bool is_wanted(const Names& names, const Names& topics) {
  return topics.empty() || std::find_first_of(names.begin(), names.end(), topics.begin(), topics.end()) != names.end();
}

std::string format_commands(const Names& topics) {
  std::string text;
  for (const Command& command : commands()) {
    if (is_wanted({command.name}, topics)) text += fmt::format("  {:<10}{}\n", command.name, command.sentence);
  }
  return text.empty() ? "" : "Commands\n" + text;
}

std::string format_keys(const Names& topics) {
  std::string text, section;
  for (const Key& key : keys()) {
    if (!is_wanted({key.name, key.section(), key.leaf()}, topics)) continue;
    if (key.section() != section) text += "\n";
    section = key.section();
    text += format_key(key);
  }
  return text.empty() ? "" : "Keys\n" + format_row({"", "type", "allowed", "unit", "default", ""}) + text;
}

/// With a dot it can only be a key ("lr.powr"), else any word that is a topic ("optimzer").
std::string nearest_topic(const std::string& topic) {
  if (topic.find('.') != std::string::npos) return nearest_key(topic);
  Names words = sections();
  for (const Command& command : commands()) words.push_back(command.name);
  for (const Key& key : keys()) words.push_back(key.leaf());
  return nearest(topic, words);
}

void check_topic(const std::string& topic) {
  if (!format_commands({topic}).empty() || !format_keys({topic}).empty()) return;
  const std::string near = nearest_topic(topic);
  refuse("convoy help {}: there is no such key, section or command.{} All of them: convoy help.", shown(topic),
         near.empty() ? "" : fmt::format(" Nearest: {}.", near));
}

std::string format_topics(const Names& topics) {
  for (const std::string& topic : topics) check_topic(topic);
  const std::string commands = format_commands(topics), keys = format_keys(topics);
  return commands + (commands.empty() || keys.empty() ? "" : "\n") + keys;
}

}  // namespace

std::string help_text(const std::vector<std::string>& topics) {
  if (!topics.empty()) return format_topics(topics);
  return "Convoy trains residual networks, cut over the ranks of mpirun or srun.\n"
         "\n"
         "  convoy COMMAND [FILE.cfg ...] [--section.key=value ...]\n"
         "  mpirun -n 4 convoy train input/fashion_resnet20.cfg --grid.stages=2 --run.directory=runs/a\n"
         "\n"
         "A FILE.cfg has its keys in sections; # begins a comment:\n"
         "\n"
         "  [batch]\n"
         "  global = 128   # samples a step\n"
         "\n"
         "What comes later overrides what came before, and the command line overrides the files.\n"
         "\n" +
         format_commands({}) + "\n" + format_keys({}) +
         "\n"
         "Exit status: 0 done; 1 the run failed; 2 the request was wrong; 75 stopped early with a checkpoint: run the "
         "same\n"
         "command again.\n";
}

}  // namespace convoy
