/// The text in which plans travel and are kept: a heading, then a line "key <tab> value" each.
#include "convoy/ops/plan_cache.h"

#include <cassert>

#include "convoy/base/error.h"

namespace convoy::ops {

namespace {

constexpr std::string_view kHeading = "convoy plans 1";
[[maybe_unused]] constexpr std::string_view kSeparators = "\t\n";  // read by an assertion alone

}  // namespace

const std::string* PlanCache::find(std::string_view key) const {
  const auto found = plans_.find(key);
  return found == plans_.end() ? nullptr : &found->second;
}

void PlanCache::insert(const std::string& key, const std::string& value) {
  assert(key.find_first_of(kSeparators) == std::string::npos && value.find_first_of(kSeparators) == std::string::npos);
  plans_.insert_or_assign(key, value);
}

std::string PlanCache::serialise() const {
  std::string text(kHeading);
  text += '\n';
  for (const auto& [key, value] : plans_) text += fmt::format("{}\t{}\n", key, value);
  return text;
}

PlanCache PlanCache::parse(std::string_view text) {
  PlanCache cache;
  for (int number = 1; !text.empty() || number == 1; ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t tab = line.find('\t');
    const bool is_good = end != std::string_view::npos && (number == 1 ? line == kHeading : tab != line.npos);
    if (!is_good) fail("line {} of the plans, '{}', is none; without the file they are measured anew", number, line);
    if (number > 1) cache.insert(std::string(line.substr(0, tab)), std::string(line.substr(tab + 1)));
    text.remove_prefix(end + 1);
  }
  return cache;
}

}  // namespace convoy::ops
