/// Parameters of networks, from the section of the parameter file and from model.set.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/model/network_file.h"

namespace convoy {

NetworkSettings network_settings(const TransformerParams& transformer, double stochastic_depth) {
  NetworkSettings settings;
  const auto add = [&](const char* name, const auto& value, const auto& usual) {
    if (value != usual) settings[name] = fmt::format("{}", value);
  };
  const TransformerParams usual;
  add("layers", transformer.layers, usual.layers);
  add("heads", transformer.heads, usual.heads);
  add("width", transformer.width, usual.width);
  add("feedforward", transformer.feedforward, usual.feedforward);
  add("dropout", transformer.dropout, usual.dropout);
  add("activation", std::string_view(name_of(transformer.activation)), name_of(usual.activation));
  add("positions", std::string_view(name_of(transformer.positions)), name_of(usual.positions));
  add("norm", std::string_view(name_of(transformer.norm)), name_of(usual.norm));
  add("stochastic_depth", stochastic_depth, 0.0);
  return settings;
}

NetworkSettings parse_network_settings(std::string_view text) {
  NetworkSettings settings;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const std::string name(without_blanks(part.substr(0, equals)));
    if (equals == std::string_view::npos || name.empty())
      refuse("model.set: '{}' is no parameter with a value, as in width=32, depth=20", excerpt(part));
    if (!settings.emplace(name, without_blanks(part.substr(equals + 1))).second)
      refuse("model.set: the parameter {} is given twice", excerpt(name));
  }
  return settings;
}

}  // namespace convoy
