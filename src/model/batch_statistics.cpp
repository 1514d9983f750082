/// Finds the layers by the running statistics, parameters whose names contain the layer's.
#include "convoy/model/batch_statistics.h"

#include <algorithm>
#include <stdexcept>

namespace convoy {

namespace {

constexpr std::string_view kLast = ".running_var";

// Whether the layer has this name; "layer2.0.downsample.1 + layer2.0.bn2" has both names.
bool is_named(const LayerInfo& layer, const std::string& name) {
  constexpr std::string_view kBetween = " + ";
  std::string_view rest = layer.name;
  for (std::size_t end = 0; (end = rest.find(kBetween)) != std::string_view::npos;
       rest.remove_prefix(end + kBetween.size()))
    if (rest.substr(0, end) == name) return true;
  return rest == name;
}

}  // namespace

std::vector<BatchStatistics> trained_batch_statistics(const Network& network) {
  std::vector<BatchStatistics> all;
  for (const auto& cell : network) {
    if (cell->is_frozen()) continue;
    const std::vector<LayerInfo> layers = cell->layers();
    for (const CellMemory::Entry& entry : cell->memory().parameters()) {
      const ParameterSpec& spec = entry.spec;
      if (!spec.is_statistic() || !spec.name.ends_with(kLast)) continue;
      const std::string name = spec.name.substr(0, spec.name.size() - kLast.size());
      const auto layer = std::ranges::find_if(layers, [&](const LayerInfo& info) { return is_named(info, name); });
      if (layer == layers.end()) throw std::logic_error("no layer of cell " + cell->name() + " is called " + name);
      all.push_back({.layer = name, .x = layer->x.shape});
    }
  }
  return all;
}

}  // namespace convoy
