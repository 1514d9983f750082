/// The text in which engines are sent and stored: a heading, then a line "key <tab> value" for each engine.
#include "convoy/ops/engine_cache.h"

#include <cassert>

#include "convoy/base/error.h"

namespace convoy::ops {

namespace {

constexpr std::string_view kHeading = "convoy plans 1";            // plans: as version 0.9.0 called the engines
[[maybe_unused]] constexpr std::string_view kSeparators = "\t\n";  // read by an assertion alone

}  // namespace

const std::string* EngineCache::find(std::string_view key) const {
  const auto found = engines_.find(key);
  return found == engines_.end() ? nullptr : &found->second;
}

void EngineCache::insert(const std::string& key, const std::string& value) {
  assert(key.find_first_of(kSeparators) == std::string::npos && value.find_first_of(kSeparators) == std::string::npos);
  engines_.insert_or_assign(key, value);
}

std::string EngineCache::serialise() const {
  std::string text(kHeading);
  text += '\n';
  for (const auto& [key, value] : engines_) text += fmt::format("{}\t{}\n", key, value);
  return text;
}

EngineCache EngineCache::parse(std::string_view text) {
  EngineCache cache;
  for (int number = 1; !text.empty() || number == 1; ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t tab = line.find('\t');
    const bool is_entry = tab != line.npos && line.find('\t', tab + 1) == line.npos;
    const bool is_good = end != std::string_view::npos && (number == 1 ? line == kHeading : is_entry);
    if (!is_good)
      fail("line {} of the file of engines, '{}', names no engine. Remove the file to measure again", number, line);
    if (number > 1) cache.insert(std::string(line.substr(0, tab)), std::string(line.substr(tab + 1)));
    text.remove_prefix(end + 1);
  }
  return cache;
}

}  // namespace convoy::ops
