/// Builds a network's cells from its name.
#include "convoy/model/network.h"

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/base/text.h"
#include "convoy/model/network_file.h"

#include "model/built_in_networks.h"
#include "model/listed_cell.h"

namespace convoy {

namespace {

// Sides of 1 suffice: every convolution is padded, so that no stride can make a side smaller than one pixel.
void check_input(const NetworkSpec& spec) {
  const auto* const image = std::get_if<ImageShape>(&spec.input);
  if (image != nullptr && (image->h < 1 || image->w < 1 || image->c < 1))
    refuse("model.name = {}: the data holds {} images; every side must be at least 1.", spec.name, to_string(*image));
}

template <typename Accept>
std::int64_t count_values(const Network& network, const Accept& accept) {
  std::int64_t count = 0;
  for (const auto& cell : network)
    for (const auto& entry : cell->memory().parameters())
      if (accept(entry.spec)) count += entry.spec.count();
  return count;
}

NetworkList list_of(const NetworkSpec& spec) {
  if (spec.list != nullptr) return *spec.list;
  return build_network_list({.name = spec.name,
                             .settings = spec.settings,
                             .input = spec.input,
                             .num_classes = spec.num_classes,
                             .target = spec.target})
      .list;
}

Network make_cells(const NetworkSpec& spec) {
  if (spec.make_cells != nullptr) return spec.make_cells(spec);
  return build_cells(list_of(spec), {.input = spec.input,
                                     .num_classes = spec.num_classes,
                                     .target = spec.target,
                                     .micro_batch = spec.micro_batch,
                                     .type = spec.type});
}

}  // namespace

const ImageShape& image_of(const NetworkSpec& spec) {
  if (const auto* const image = std::get_if<ImageShape>(&spec.input)) return *image;
  refuse("model.name = {} reads images, and the data holds texts. Give a network of texts, or a data set of images.",
         spec.name);
}

const TextShape& text_of(const NetworkSpec& spec) {
  if (const auto* const text = std::get_if<TextShape>(&spec.input)) return *text;
  refuse("model.name = {} reads texts, and the data holds images. Give a network of images, or a data set of texts.",
         spec.name);
}

Network make_network(const NetworkSpec& spec) {
  check_input(spec);
  Network network = make_cells(spec);
  if (!spec.freeze.empty()) freeze_parameters(spec.freeze, network);
  group_rates(spec.rate_groups, network);
  if (!spec.trains)
    for (const auto& cell : network) cell->drop_backward();
  return network;
}

void check_network_name(const std::string& name) {
  std::map<std::string, std::string> settings;
  find_built_in_network(name, settings);
}

std::uint64_t hash_of(const NetworkSpec& spec) {
  return spec.make_cells == nullptr ? hash_name(to_text(list_of(spec))) : 0;
}

std::vector<NetworkFamilyNames> network_family_names() {
  std::vector<NetworkFamilyNames> all;
  for (const auto& [source, declaration] : built_in_networks())
    all.push_back({.names = declaration.names.empty() ? std::vector{shown_form(declaration.form)} : declaration.names,
                   .about = declaration.about});
  return all;
}

std::int64_t count_parameters(const Network& network) {
  return count_values(network, [](const ParameterSpec& spec) { return !spec.is_statistic(); });
}

std::int64_t count_frozen_parameters(const Network& network) {
  return count_values(network, [](const ParameterSpec& spec) { return !spec.is_statistic() && spec.frozen; });
}

}  // namespace convoy
