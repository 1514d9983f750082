/// The list of all networks: each family has its own file, which knows its names and builds the network of one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "convoy/model/network.h"

#include "model/residual_cells.h"

namespace convoy {

struct NetworkFamily {
  std::vector<std::string> names;  ///< all of them; empty if they contain numbers to choose
  std::string form = {};           ///< form of names with numbers to choose: "pyramidnetDEPTH-aALPHA"
  bool reads_texts = false;        ///< false: images
  bool drops_blocks = false;       ///< whether it has stochastic depth
  std::string about = {};          ///< for the help: paper, variant, kind of images
  /// Makes the network spec.name; returns nothing if the name is of another family. Throws RequestError if the name has
  /// this family's form but no such network exists, or not for these images.
  std::function<std::optional<Network>(const NetworkSpec& spec)> make = {};
};

/// The numbers of a name such as "wrn28-10": the one between the prefix "wrn" and the separator "-", and the one after
/// it. Nothing if the name has another form or a number does not fit.
std::optional<std::pair<std::int64_t, std::int64_t>> numbers_of(std::string_view name, std::string_view prefix,
                                                                std::string_view separator);

/// Adds layers of blocks, each of which reads the block before: layer1.0, layer1.1, ... From the second layer on, the
/// first block of each layer has stride 2. make_block(spec, layer) gets a spec without filters, and the layer counted
/// from 0.
template <typename MakeBlock>
void add_layers(std::span<const std::int64_t> num_blocks, Network& network, MakeBlock&& make_block) {
  for (std::size_t layer = 0; layer < num_blocks.size(); ++layer) {
    for (std::int64_t block = 0; block < num_blocks[layer]; ++block) {
      const Cell& before = *network.back();
      network.push_back(make_block(BlockSpec{.name = fmt::format("layer{}.{}", layer + 1, block),
                                             .x = before.y().shape,
                                             .stride = layer > 0 && block == 0 ? 2 : 1,
                                             .type = before.memory().type()},
                                   layer));
    }
  }
}

NetworkFamily resnet_family();        ///< for photographs
NetworkFamily resnet_cifar_family();  ///< for small images
NetworkFamily wide_resnet_family();   ///< for small images
NetworkFamily pyramidnet_family();
NetworkFamily convnext_family();
NetworkFamily vit_family();
NetworkFamily transformer_family();
NetworkFamily bert_family();  ///< pre-training, and classification from its weights

inline std::vector<NetworkFamily> network_families() {
  return {resnet_family(),   resnet_cifar_family(), wide_resnet_family(), pyramidnet_family(),
          convnext_family(), vit_family(),          transformer_family(), bert_family()};
}

}  // namespace convoy
