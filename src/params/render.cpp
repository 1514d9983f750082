/// Parameters as the file that gives them: every key, its value now, and what it means.
#include <fmt/format.h>

#include "convoy/params/parse.h"

#include "params/ini_line.h"
#include "params/key_table.h"

namespace convoy {

std::string render(const Parameters& params) {
  constexpr int kCommentColumn = 28;  // but for longer values
  std::string text = "# Convoy: all parameters, in effect. convoy train THIS.cfg does the same again.\n";
  std::string section;
  for (const params::Key& key : params::keys()) {
    if (key.section() != section) {
      section = key.section();
      text += fmt::format("\n[{}]\n", section);
    }
    const std::string assignment = fmt::format("{} = {}", key.leaf(), params::write_value(key.value.write(params)));
    const std::string unit = key.unit.empty() ? "" : fmt::format(" [{}]", key.unit);
    text += fmt::format("{:<{}}  # {}{}\n", assignment, kCommentColumn, key.sentence, unit);
  }
  return text;
}

std::vector<KeyChange> changed_keys(const Parameters& before, const Parameters& after) {
  std::vector<KeyChange> changes;
  for (const params::Key& key : params::keys()) {
    KeyChange change{.key = key.name, .before = key.value.write(before), .after = key.value.write(after)};
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace convoy
