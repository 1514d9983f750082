/// Builds a network's cells from its name.
#include "convoy/model/network.h"

#include <charconv>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

#include "model/network_families.h"

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

Network make_cells(const NetworkSpec& spec) {
  std::string forms;
  for (const NetworkFamily& family : network_families()) {
    if (auto network = family.make(spec)) {
      if (spec.stochastic_depth > 0 && !family.drops_blocks)
        refuse(
            "model.stochastic_depth = {}: model.name = {} has no stochastic depth. Set model.stochastic_depth = 0, or "
            "use a convnext or vit.",
            spec.stochastic_depth, spec.name);
      return std::move(*network);
    }
    if (!family.form.empty()) forms += ", " + family.form;
  }
  const std::string suggestion = nearest(spec.name, network_names());
  refuse("model.name = {} is not known. Known: {}{}.{}", spec.name, fmt::join(network_names(), ", "), forms,
         suggestion.empty() ? "" : fmt::format(" Nearest: {}.", suggestion));
}

}  // namespace

std::optional<std::pair<std::int64_t, std::int64_t>> numbers_of(std::string_view name, std::string_view prefix,
                                                                std::string_view separator) {
  if (!name.starts_with(prefix)) return std::nullopt;
  std::pair<std::int64_t, std::int64_t> numbers;
  const char* end = name.data() + name.size();
  const auto first = std::from_chars(name.data() + prefix.size(), end, numbers.first);
  if (first.ec != std::errc() || !std::string_view(first.ptr, end).starts_with(separator)) return std::nullopt;
  const auto second = std::from_chars(first.ptr + separator.size(), end, numbers.second);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return numbers;
}

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
  Network network = spec.make_cells != nullptr ? spec.make_cells(spec) : make_cells(spec);
  if (!spec.freeze.empty()) freeze_parameters(spec.freeze, network);
  group_rates(spec.rate_groups, network);
  if (!spec.trains)
    for (const auto& cell : network) cell->drop_backward();
  return network;
}

std::int64_t count_cells(const std::string& name, const TransformerParams& transformer) {
  NetworkSpec spec{.name = name,
                   .input = ImageShape{224, 224, 3},
                   .transformer = transformer,
                   .micro_batch = 1,
                   .num_classes = 1000};
  for (const NetworkFamily& family : network_families()) {
    NetworkSpec of_family = spec;
    if (family.reads_texts) of_family.input = TextShape{.length = 256, .vocabulary = 1000};
    if (const auto network = family.make(of_family)) return std::ssize(*network);
  }
  return std::ssize(make_cells(spec));  // throws, as no family has the name
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const NetworkFamily& family : network_families())
    names.insert(names.end(), family.names.begin(), family.names.end());
  return names;
}

std::vector<NetworkFamilyNames> network_family_names() {
  std::vector<NetworkFamilyNames> all;
  for (const NetworkFamily& family : network_families())
    all.push_back({.names = family.names.empty() ? std::vector{family.form} : family.names, .about = family.about});
  return all;
}

std::int64_t count_parameters(const Network& network) {
  return count_values(network, [](const ParameterSpec& spec) { return !spec.is_statistic(); });
}

std::int64_t count_frozen_parameters(const Network& network) {
  return count_values(network, [](const ParameterSpec& spec) { return !spec.is_statistic() && spec.frozen; });
}

}  // namespace convoy
