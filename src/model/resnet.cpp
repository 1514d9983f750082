/// ResNets: He et al. 2015. For photographs: those of table 1, with the stride on the 3x3 convolution (v1.5), and
/// networks with other 3x3 convolutions in their bottlenecks: twice as many filters (Zagoruyko & Komodakis 2016, "Wide
/// residual networks") or groups (Xie et al. 2016). For small images: those of section 4.2, three layers of n blocks
/// with 16, 32, 64 filters, depth 6n + 2.
#include "model/network_families.h"

namespace convoy {

namespace {

struct Resnet {
  const char* name;
  std::int64_t num_blocks[4];  // per layer
  bool bottleneck = false;
  std::int64_t num_filters = 64;  // of the first layer's 3x3 convolutions; each layer doubles them
  std::int64_t groups = 1;        // of a bottleneck's 3x3 convolution
};
constexpr Resnet kResnets[] = {{"resnet18", {2, 2, 2, 2}},
                               {"resnet34", {3, 4, 6, 3}},
                               {"resnet50", {3, 4, 6, 3}, true},
                               {"resnet101", {3, 4, 23, 3}, true},
                               {"resnet152", {3, 8, 36, 3}, true},
                               {"wide_resnet50_2", {3, 4, 6, 3}, true, 128},
                               {"wide_resnet101_2", {3, 4, 23, 3}, true, 128},
                               {"resnext50_32x4d", {3, 4, 6, 3}, true, 32 * 4, 32},
                               {"resnext101_32x8d", {3, 4, 23, 3}, true, 32 * 8, 32}};
constexpr Resnet kSmallResnets[] = {{"resnet20", {3, 3, 3}},
                                    {"resnet32", {5, 5, 5}},
                                    {"resnet44", {7, 7, 7}},
                                    {"resnet56", {9, 9, 9}},
                                    {"resnet110", {18, 18, 18}}};

Network make_resnet(const Resnet& resnet, const NetworkSpec& spec) {
  Network network;
  network.push_back(imagenet_stem(image_of(spec).batch(spec.micro_batch), 64, spec.type));
  add_layers(resnet.num_blocks, network, [&](BlockSpec block, std::size_t layer) {
    block.num_filters = resnet.num_filters << layer;
    block.num_outputs = std::int64_t{256} << layer;
    block.groups = resnet.groups;
    return resnet.bottleneck ? bottleneck(block) : basic_block(block);
  });
  network.push_back(classifier_head(network.back()->y().shape, spec.num_classes, spec.type));
  return network;
}

Network make_small_resnet(const Resnet& resnet, const NetworkSpec& spec) {
  Network network;
  network.push_back(
      small_image_stem({.images = image_of(spec).batch(spec.micro_batch), .num_filters = 16, .type = spec.type}));
  add_layers(resnet.num_blocks, network, [](BlockSpec block, std::size_t layer) {
    block.num_filters = std::int64_t{16} << layer;
    block.shortcut = ShortcutKind::kPadding;
    return basic_block(block);
  });
  network.push_back(classifier_head(network.back()->y().shape, spec.num_classes, spec.type));
  return network;
}

NetworkFamily family_of(std::span<const Resnet> resnets, Network (*make)(const Resnet&, const NetworkSpec&),
                        const char* about) {
  NetworkFamily family{.about = about, .make = [resnets, make](const NetworkSpec& spec) -> std::optional<Network> {
                         for (const Resnet& resnet : resnets)
                           if (spec.name == resnet.name) return make(resnet, spec);
                         return std::nullopt;
                       }};
  for (const Resnet& resnet : resnets) family.names.emplace_back(resnet.name);
  return family;
}

}  // namespace

NetworkFamily resnet_family() {
  return family_of(kResnets, make_resnet,
                   "He et al. 2015 for photographs; v1.5: the stride is in the 3 x 3 convolution. Wide: Zagoruyko & "
                   "Komodakis 2016. ResNeXt: Xie et al. 2016. Names of parameters and their counts are those of "
                   "torchvision");
}

NetworkFamily resnet_cifar_family() {
  return family_of(kSmallResnets, make_small_resnet, "He et al. 2015, section 4.2, for small images");
}

}  // namespace convoy
