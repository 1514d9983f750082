/// Selects parameters by patterns of their names: those that train.freeze keeps unchanged, and those that
/// optimizer.groups gives other learning rates.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fnmatch.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/model/network.h"

namespace convoy {

namespace {

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

// The names of all parameters, with or without running statistics, which have no learning rate.
std::vector<std::string> names_of(const Network& network, bool with_statistics) {
  std::vector<std::string> names;
  for (const auto& cell : network)
    for (const auto& entry : cell->memory().parameters())
      if (with_statistics || !entry.spec.is_statistic()) names.push_back(entry.spec.name);
  return names;
}

// What a pattern could have meant: every name, and every group of names as "layer1.*" or "layer1.0.*".
std::vector<std::string> candidates(const std::vector<std::string>& names) {
  std::set<std::string> all(names.begin(), names.end());
  for (const std::string& name : names)
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
      all.insert(name.substr(0, dot) + ".*");
  return {all.begin(), all.end()};
}

// The groups "conv1.*, bn1.*, layer1.* ..." in the network's order.
std::vector<std::string> first_groups(const std::vector<std::string>& names) {
  std::vector<std::string> groups;
  for (const std::string& name : names) {
    const std::string group = name.substr(0, name.find('.')) + ".*";
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

void check_matches_something(const char* key, const std::string& pattern, const std::vector<std::string>& names) {
  if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return matches(pattern, name); })) return;
  const std::string near = nearest(pattern, candidates(names));
  refuse("{}: '{}' matches no parameter.{} The parameters are {}.", key, pattern,
         near.empty() ? "" : fmt::format(" Nearest: {}.", near), fmt::join(first_groups(names), ", "));
}

}  // namespace

void freeze_parameters(const std::vector<std::string>& patterns, Network& network) {
  const std::vector<std::string> names = names_of(network, /*with_statistics=*/true);
  for (const std::string& pattern : patterns) check_matches_something("train.freeze", pattern, names);
  for (const auto& cell : network)
    cell->freeze([&](const std::string& name) {
      return std::any_of(patterns.begin(), patterns.end(),
                         [&](const std::string& pattern) { return matches(pattern, name); });
    });
  if (std::all_of(network.begin(), network.end(), [](const auto& cell) { return cell->is_frozen(); }))
    refuse("train.freeze = {} leaves nothing to train. Leave out the last layers, such as fc.*.",
           fmt::join(patterns, ", "));
}

void group_rates(const std::vector<RateGroup>& groups, Network& network) {
  if (groups.empty()) return;
  const std::vector<std::string> names = names_of(network, /*with_statistics=*/false);
  for (const RateGroup& group : groups) check_matches_something("optimizer.groups", group.pattern, names);
  for (const auto& cell : network)
    cell->set_rates([&](const std::string& name) {
      const auto group =
          std::find_if(groups.begin(), groups.end(), [&](const RateGroup& g) { return matches(g.pattern, name); });
      return group == groups.end() ? 1 : group->factor;
    });
}

}  // namespace convoy
