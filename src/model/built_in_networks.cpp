/// Finds networks by the declarations of their files.
#include "model/built_in_networks.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/model/network.h"

#include "model/network_texts.h"

namespace convoy {

namespace {

std::vector<BuiltInNetwork> read_all() {
  std::vector<BuiltInNetwork> all;
  for (const NetworkText& file : network_texts()) {
    NetworkSource source{.name = std::string(file.name) + ".lua", .text = std::string(file.text)};
    NetworkDeclaration declaration = read_declaration(source);
    all.push_back({.source = std::move(source), .declaration = std::move(declaration)});
  }
  return all;
}

}  // namespace

const std::string& network_prelude() {
  static const std::string kText(network_prelude_text());
  return kText;
}

const std::vector<BuiltInNetwork>& built_in_networks() {
  static const std::vector<BuiltInNetwork> kAll = read_all();
  return kAll;
}

std::string shown_form(const std::string& form) {
  std::string shown;
  bool is_parameter = false;
  for (const char c : form) {
    if (c == '{' || c == '}')
      is_parameter = c == '{';
    else
      shown += is_parameter && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return shown;
}

const BuiltInNetwork& find_built_in_network(const std::string& name, NetworkSettings& settings) {
  std::string forms;
  for (const BuiltInNetwork& network : built_in_networks()) {
    const NetworkDeclaration& declaration = network.declaration;
    if (std::ranges::count(declaration.names, name) != 0) return network;
    if (declaration.form.empty()) continue;
    if (NetworkSettings given = match_form(declaration.form, name); !given.empty()) {
      settings.merge(given);
      return network;
    }
    if (name.starts_with(declaration.form.substr(0, declaration.form.find('{'))))
      refuse("model.name = {}: the name of such a network is {}. {}", name, shown_form(declaration.form),
             declaration.about);
    forms += ", " + shown_form(declaration.form);
  }
  const std::string suggestion = nearest(name, network_names());
  refuse("model.name = {} is not known. Known: {}{}.{}", name, fmt::join(network_names(), ", "), forms,
         suggestion.empty() ? "" : fmt::format(" Nearest: {}.", suggestion));
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const BuiltInNetwork& network : built_in_networks())
    names.insert(names.end(), network.declaration.names.begin(), network.declaration.names.end());
  return names;
}

}  // namespace convoy
