/// ResNets for small images: He et al. 2015, section 4.2. Three layers of n blocks with 16, 32, 64 filters, depth 6n
/// + 2.
#include "model/residual_cells.h"
#include "model/resnet.h"

namespace convoy {

const std::vector<int>& resnet_cifar_depths() {
  static const std::vector<int> kDepths = {20, 32, 44, 56, 110};
  return kDepths;
}

Network make_resnet_cifar(int depth, const NetworkSpec& spec) {
  const int num_blocks = (depth - 2) / 6;
  Network network;
  network.push_back(
      small_image_stem({.images = spec.image.batch(spec.micro_batch), .num_filters = 16, .type = spec.type}));
  for (int layer = 0; layer < 3; ++layer) {
    for (int block = 0; block < num_blocks; ++block) {
      network.push_back(basic_block({.name = fmt::format("layer{}.{}", layer + 1, block),
                                     .x = network.back()->y().shape,
                                     .num_filters = std::int64_t{16} << layer,
                                     .stride = layer > 0 && block == 0 ? 2 : 1,
                                     .shortcut = ShortcutKind::kPadding,
                                     .type = spec.type}));
    }
  }
  network.push_back(classifier_head(network.back()->y().shape, spec.num_classes, spec.type));
  return network;
}

}  // namespace convoy
