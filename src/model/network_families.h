/// The list of all networks. Each family of networks has its own file, which knows the family's names and creates the
/// network of a name.
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
  std::vector<std::string> names;  ///< names of all networks; empty if names contain numbers that the user chooses
  std::string form = {};           ///< form of names with chosen numbers: "pyramidnetDEPTH-aALPHA"; or empty
  bool reads_texts = false;        ///< true: reads texts; false: reads images
  bool drops_blocks = false;       ///< whether the networks support stochastic depth
  std::string about = {};          ///< description in the help: paper, variant, kind of images
  /// Makes the network spec.name; returns nothing if the name is of another family. Throws RequestError if the name has
  /// this family's form but no such network exists, or if the network cannot read images of this shape.
  std::function<std::optional<Network>(const NetworkSpec& spec)> make = {};
};

/// Returns the two numbers in the name of a network such as "wrn28-10": 28, between the prefix "wrn" and the separator
/// "-", and 10, after the separator. Returns nothing if the name has another form, or if a number is too large for an
/// std::int64_t.
std::optional<std::pair<std::int64_t, std::int64_t>> numbers_of(std::string_view name, std::string_view prefix,
                                                                std::string_view separator);

/// Appends residual blocks to the network, each of which reads the output of the block before: layer1.0, layer1.1, ...
/// num_blocks[l] is the number of blocks of layer l, counted from 0. From the second layer on, the first block of each
/// layer has stride 2. make_block(spec, l) makes a block; num_filters of this spec is not set.
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

NetworkFamily resnet_family();        ///< ResNets for photographs (ImageNet)
NetworkFamily resnet_cifar_family();  ///< ResNets for small images (CIFAR)
NetworkFamily wide_resnet_family();   ///< Wide ResNets for small images (CIFAR)
NetworkFamily pyramidnet_family();
NetworkFamily convnext_family();
NetworkFamily vit_family();
NetworkFamily transformer_family();
NetworkFamily bert_family();  ///< BERT for pre-training, and for classification that starts from pre-trained weights

inline std::vector<NetworkFamily> network_families() {
  return {resnet_family(),   resnet_cifar_family(), wide_resnet_family(), pyramidnet_family(),
          convnext_family(), vit_family(),          transformer_family(), bert_family()};
}

}  // namespace convoy
