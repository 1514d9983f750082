/// ResNets for photographs: He et al. 2015, table 1, with the stride on the 3x3 convolution (v1.5).
#include "model/resnet.h"

#include "model/residual_cells.h"

namespace convoy {

const std::vector<ResnetDepth>& resnet_depths() {
  static const std::vector<ResnetDepth> kDepths = {{18, {2, 2, 2, 2}, false},
                                                   {34, {3, 4, 6, 3}, false},
                                                   {50, {3, 4, 6, 3}, true},
                                                   {101, {3, 4, 23, 3}, true},
                                                   {152, {3, 8, 36, 3}, true}};
  return kDepths;
}

Network make_resnet(const ResnetDepth& depth, const NetworkSpec& spec) {
  Network network;
  network.push_back(imagenet_stem(spec.image.batch(spec.micro_batch), 64, spec.type));
  for (int layer = 0; layer < 4; ++layer) {
    for (std::int64_t block = 0; block < depth.blocks[layer]; ++block) {
      const BlockSpec block_spec{.name = fmt::format("layer{}.{}", layer + 1, block),
                                 .x = network.back()->y().shape,
                                 .num_filters = std::int64_t{64} << layer,
                                 .stride = layer > 0 && block == 0 ? 2 : 1,
                                 .shortcut = ShortcutKind::kProjection,
                                 .type = spec.type};
      network.push_back(depth.bottleneck ? bottleneck(block_spec) : basic_block(block_spec));
    }
  }
  network.push_back(classifier_head(network.back()->y().shape, spec.num_classes, spec.type));
  return network;
}

}  // namespace convoy
