/// ConvNeXts for photographs: Liu et al. 2022, "A ConvNet for the 2020s", figure 4 and section 2, with parameters named
/// as torchvision's. The smallest is of Woo et al. 2023, "ConvNeXt V2", table 9, with the blocks of the first paper.
#include <algorithm>
#include <numeric>

#include "convoy/base/error.h"

#include "model/layers/activation.h"
#include "model/layers/convolution.h"
#include "model/layers/dropout.h"
#include "model/layers/layer_norm.h"
#include "model/layers/layer_scale.h"
#include "model/layers/linear.h"
#include "model/layers/pooling.h"
#include "model/layers/sum.h"
#include "model/network_families.h"

namespace convoy {

namespace {

struct Convnext {
  const char* name;
  std::int64_t num_blocks[4];  // per layer
  std::int64_t num_channels;   // of the first layer; each layer doubles them
};
constexpr Convnext kConvnexts[] = {{"convnext_atto", {2, 2, 6, 2}, 40},
                                   {"convnext_tiny", {3, 3, 9, 3}, 96},
                                   {"convnext_small", {3, 3, 27, 3}, 96},
                                   {"convnext_base", {3, 3, 27, 3}, 128}};
constexpr std::int64_t kMinSide = 32;  // pixels: after the strides 4, 2, 2, 2 one is left
constexpr float kEpsilon = 1e-6f;
constexpr double kInitialScale = 1e-6;
constexpr InitialValues kInitialWeight{InitialValues::Kind::kNormal, 0.02}, kInitialBias{};

Value norm(const std::string& name, const Value& x) {
  return layer_norm(name, x, kEpsilon);
}

Value fully_connected(const std::string& name, const Value& x, std::int64_t num_outputs) {
  return linear(x, {.weight = name + ".weight",
                    .bias = name + ".bias",
                    .num_outputs = num_outputs,
                    .initial_weight = kInitialWeight,
                    .initial_bias = kInitialBias});
}

// A convolution that makes one pixel of each patch of `size` x `size` pixels.
Value patches(const std::string& name, const Value& x, std::int64_t size, std::int64_t num_channels) {
  return convolution(
      name, x,
      {.num_filters = num_channels, .kernel = size, .stride = size, .bias = true, .initial_weight = kInitialWeight});
}

std::unique_ptr<Cell> convnext_stem(const Shape& images, std::int64_t num_channels, DataType type) {
  CellBuilder cell({.name = "features.0", .parameters = "features.0.", .type = type});
  const Value x = cell.feature(features::kImage, {images, type});   // (N,H,W,C)
  return cell.finish(norm("1", patches("0", x, 4, num_channels)));  // (N,H/4,W/4,K)
}

struct ConvnextBlock {
  std::string name;
  Shape x;
  double drop = 0;  // share of samples for which the block is left out
  DataType type = DataType::kFloat32;
};

std::unique_ptr<Cell> convnext_block(const ConvnextBlock& spec) {
  CellBuilder cell({.name = spec.name, .parameters = spec.name + ".", .type = spec.type});
  const std::int64_t c = spec.x.c;
  const Value x = cell.input(spec.x);  // (N,H,W,C)
  const ConvolutionSettings depthwise{
      .num_filters = c, .kernel = 7, .padding = 3, .groups = c, .bias = true, .initial_weight = kInitialWeight};
  const Value a = norm("block.2", convolution("block.0", x, depthwise));                        // (N,H,W,C)
  const Value b = activate(ops::Activation::kGelu, fully_connected("block.3", a, 4 * c));       // (N,H,W,4C)
  const Value d = layer_scale("layer_scale", fully_connected("block.5", b, c), kInitialScale);  // (N,H,W,C)
  return cell.finish(x + stochastic_depth(d, spec.drop));
}

std::unique_ptr<Cell> convnext_downsampling(const std::string& name, const Shape& shape, DataType type) {
  CellBuilder cell({.name = name, .parameters = name + ".", .type = type});
  const Value x = cell.input(shape);                               // (N,H,W,C)
  return cell.finish(patches("1", norm("0", x), 2, 2 * shape.c));  // (N,H/2,W/2,2C)
}

std::unique_ptr<Cell> convnext_head(const Shape& shape, std::int64_t num_classes, DataType type) {
  CellBuilder cell({.name = "classifier", .parameters = "classifier.", .type = type});
  const Value mean = norm("0", global_average_pool(cell.input(shape)));  // (N,1,1,C)
  return cell.finish(logits("2", mean, num_classes));                    // (N,1,1,K)
}

Network make_convnext(const Convnext& convnext, const NetworkSpec& spec) {
  const ImageShape& image = image_of(spec);
  if (std::min(image.h, image.w) < kMinSide)
    refuse(
        "model.name = {}: the data holds {} images; each side must be at least {} pixels. Import larger ones "
        "(import.size), or take a network for small images.",
        spec.name, to_string(image), kMinSide);
  const std::int64_t num_blocks = std::reduce(std::begin(convnext.num_blocks), std::end(convnext.num_blocks));
  Network network;
  network.push_back(convnext_stem(image.batch(spec.micro_batch), convnext.num_channels, spec.type));
  std::int64_t number = 0;
  for (std::size_t layer = 0; layer < std::size(convnext.num_blocks); ++layer) {
    if (layer > 0)
      network.push_back(
          convnext_downsampling(fmt::format("features.{}", 2 * layer), network.back()->y().shape, spec.type));
    for (std::int64_t block = 0; block < convnext.num_blocks[layer]; ++block, ++number)
      network.push_back(convnext_block(
          {.name = fmt::format("features.{}.{}", 2 * layer + 1, block),
           .x = network.back()->y().shape,
           .drop = spec.stochastic_depth * static_cast<double>(number) / static_cast<double>(num_blocks - 1),
           .type = spec.type}));
  }
  network.push_back(convnext_head(network.back()->y().shape, spec.num_classes, spec.type));
  return network;
}

std::optional<Network> find_convnext(const NetworkSpec& spec) {
  for (const Convnext& convnext : kConvnexts)
    if (spec.name == convnext.name) return make_convnext(convnext, spec);
  return std::nullopt;
}

}  // namespace

NetworkFamily convnext_family() {
  NetworkFamily family{.drops_blocks = true,
                       .about =
                           "Liu et al. 2022, for photographs of at least 32 x 32; model.stochastic_depth is 0.1 in the "
                           "paper's training of tiny, 0.4 of small, 0.5 of base. atto: Woo et al. 2023. Names of "
                           "parameters and their counts are those of torchvision",
                       .make = find_convnext};
  for (const Convnext& convnext : kConvnexts) family.names.emplace_back(convnext.name);
  return family;
}

}  // namespace convoy
