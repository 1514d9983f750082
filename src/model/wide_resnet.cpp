/// Wide residual networks for small images: Zagoruyko & Komodakis 2016, table 1, with blocks of two 3x3 convolutions
/// that begin with batch norm and ReLU.
#include "convoy/base/error.h"

#include "model/layers/activation.h"
#include "model/layers/batch_norm.h"
#include "model/layers/convolution.h"
#include "model/layers/sum.h"
#include "model/network_families.h"

namespace convoy {

namespace {

constexpr std::int64_t kStemChannels = 16;
constexpr std::int64_t kMaxDepth = 2000, kMaxWidth = 1000;

std::unique_ptr<Cell> wide_stem(const Shape& images, DataType type) {
  CellBuilder cell({.name = "stem", .type = type});
  const Value x = cell.feature(features::kImage, {images, type});  // (N,H,W,C)
  return cell.finish(convolution_3x3("conv1", x, kStemChannels));  // (N,H,W,16)
}

// If the shapes differ, the shortcut is a convolution of the output of the first batch norm and ReLU; else it is x
// itself.
std::unique_ptr<Cell> wide_block(const BlockSpec& spec) {
  CellBuilder cell({.name = spec.name, .parameters = spec.name + ".", .type = spec.type});
  const std::int64_t k = spec.num_filters;
  const Value x = cell.input(spec.x);                                                    // (N,H,W,C)
  const Value a = relu(batch_norm("bn1", x));                                            // (N,H,W,C)
  const Value b = relu(batch_norm("bn2", convolution_3x3("conv1", a, k, spec.stride)));  // (N,P,Q,K)
  const Value c = convolution_3x3("conv2", b, k);                                        // (N,P,Q,K)
  if (x.shape() == c.shape()) return cell.finish(c + x);
  return cell.finish(c + convolution_1x1("downsample", a, k, spec.stride));
}

struct WideResnetSize {
  std::int64_t depth = 0;  // 6n + 4: three layers of n blocks
  std::int64_t width = 0;  // factor of 16, 32, 64 filters
};

// Returns nothing if the name is of another family. Throws RequestError if DEPTH or WIDTH is not possible.
std::optional<WideResnetSize> parse_wide_resnet(const std::string& name) {
  constexpr std::string_view kPrefix = "wrn";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto numbers = numbers_of(name, kPrefix, "-");
  const WideResnetSize size = numbers ? WideResnetSize{numbers->first, numbers->second} : WideResnetSize{};
  if (size.depth < 10 || size.depth > kMaxDepth || (size.depth - 4) % 6 != 0 || size.width < 1 ||
      size.width > kMaxWidth)
    refuse(
        "model.name = {}: a wide residual network is wrnDEPTH-WIDTH with DEPTH 6n + 4 from 10 to {} and WIDTH from 1 "
        "to {}, as in wrn28-10.",
        name, kMaxDepth, kMaxWidth);
  return size;
}

Network make_wide_resnet(const WideResnetSize& size, const NetworkSpec& spec) {
  Network network;
  network.push_back(wide_stem(image_of(spec).batch(spec.micro_batch), spec.type));
  add_layers(std::vector(3, (size.depth - 4) / 6), network, [&](BlockSpec block, std::size_t layer) {
    block.num_filters = (kStemChannels * size.width) << layer;
    return wide_block(block);
  });
  network.push_back(preactivation_head(network.back()->y().shape, spec.num_classes, spec.type));
  return network;
}

std::optional<Network> find_wide_resnet(const NetworkSpec& spec) {
  const auto size = parse_wide_resnet(spec.name);
  return size ? std::optional(make_wide_resnet(*size, spec)) : std::nullopt;
}

}  // namespace

NetworkFamily wide_resnet_family() {
  return {.names = {},
          .form = "wrnDEPTH-WIDTH",
          .about = "Zagoruyko & Komodakis 2016, for small images; for example wrn28-10, without dropout",
          .make = find_wide_resnet};
}

}  // namespace convoy
