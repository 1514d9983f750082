/// From a network's name to its cells.
#include "convoy/model/network.h"

#include <numeric>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

#include "model/freezing.h"
#include "model/pyramidnet.h"
#include "model/resnet.h"

namespace convoy {

namespace {

// Every convolution is padded, so that no stride can take a side below one pixel.
void check_image(const NetworkSpec& spec) {
  if (spec.image.h < 1 || spec.image.w < 1 || spec.image.c < 1)
    refuse("model.name = {}: the data holds {} images; every side must be at least 1.", spec.name,
           to_string(spec.image));
}

template <typename Accept>
std::int64_t count_values(const Network& network, const Accept& accept) {
  std::int64_t count = 0;
  for (const auto& cell : network)
    for (const auto& entry : cell->memory().parameters())
      if (accept(entry.spec)) count += entry.spec.count();
  return count;
}

Network make_cells(const NetworkSpec& spec) {
  for (const ResnetDepth& depth : resnet_depths())
    if (spec.name == fmt::format("resnet{}", depth.depth)) return make_resnet(depth, spec);
  for (const int depth : resnet_cifar_depths())
    if (spec.name == fmt::format("resnet{}", depth)) return make_resnet_cifar(depth, spec);
  if (const auto size = parse_pyramidnet(spec.name)) return make_pyramidnet(*size, spec);
  const std::string suggestion = nearest(spec.name, network_names());
  refuse("model.name = {} is not known. Known: {}, pyramidnetDEPTH-aALPHA.{}", spec.name,
         fmt::join(network_names(), ", "), suggestion.empty() ? "" : fmt::format(" Nearest: {}.", suggestion));
}

}  // namespace

Network make_network(const NetworkSpec& spec) {
  check_image(spec);
  Network network = make_cells(spec);
  if (!spec.freeze.empty()) freeze_parameters(spec.freeze, network);
  return network;
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const ResnetDepth& depth : resnet_depths()) names.push_back(fmt::format("resnet{}", depth.depth));
  for (const int depth : resnet_cifar_depths()) names.push_back(fmt::format("resnet{}", depth));
  return names;
}

std::int64_t count_parameters(const Network& network) {
  return count_values(network, [](const ParameterSpec& spec) { return !spec.is_statistic(); });
}

std::int64_t count_frozen_parameters(const Network& network) {
  return count_values(network, [](const ParameterSpec& spec) { return !spec.is_statistic() && spec.frozen; });
}

}  // namespace convoy
