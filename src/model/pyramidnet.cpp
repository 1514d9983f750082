/// Additive pyramids of basic blocks: Han et al. 2017, "Deep pyramidal residual networks", figure 6 (d), with the
/// zero-padded identity shortcut of figure 5 (b).
#include <cmath>

#include "convoy/base/error.h"

#include "model/layers/activation.h"
#include "model/layers/batch_norm.h"
#include "model/layers/convolution.h"
#include "model/layers/pooling.h"
#include "model/layers/sum.h"
#include "model/network_families.h"

namespace convoy {

namespace {

constexpr std::int64_t kStemChannels = 16;
constexpr std::int64_t kMaxDepth = 2000, kMaxAlpha = 100'000;

// Rounds to the nearest number of channels; halves go to the even one.
std::int64_t channels_of(double width) {
  return std::llrint(width);
}

// A block of K filters, at least as many as x has channels. The shortcut is x with zero channels added after its own,
// averaged over 2x2 pixels at stride 2. No ReLU follows the sum.
std::unique_ptr<Cell> pyramid_block(const BlockSpec& spec) {
  CellBuilder cell({.name = spec.name, .parameters = spec.name + ".", .type = spec.type});
  const std::int64_t k = spec.num_filters;
  const Value x = cell.input(spec.x);                                                    // (N,H,W,C)
  const Value a = batch_norm("bn1", x);                                                  // (N,H,W,C)
  const Value b = relu(batch_norm("bn2", convolution_3x3("conv1", a, k, spec.stride)));  // (N,P,Q,K)
  const Value c = batch_norm("bn3", convolution_3x3("conv2", b, k));                     // (N,P,Q,K)
  const Value padded = pad_channels(x, {.num_channels = k});                             // (N,H,W,K)
  return cell.finish(c + (spec.stride > 1 ? average_pool(padded, {.kernel = 2, .stride = 2}) : padded));
}

struct PyramidnetSize {
  std::int64_t depth = 0;  // 6n + 2
  std::int64_t alpha = 0;  // channels added from the first block's input (16) to the last block's output
};

// Returns nothing if the name is of another family. Throws RequestError if DEPTH or ALPHA is not possible.
std::optional<PyramidnetSize> parse_pyramidnet(const std::string& name) {
  constexpr std::string_view kPrefix = "pyramidnet";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto numbers = numbers_of(name, kPrefix, "-a");
  const PyramidnetSize size = numbers ? PyramidnetSize{numbers->first, numbers->second} : PyramidnetSize{};
  if (size.depth < 8 || size.depth > kMaxDepth || (size.depth - 2) % 6 != 0 || size.alpha < 1 || size.alpha > kMaxAlpha)
    refuse(
        "model.name = {}: a PyramidNet is pyramidnetDEPTH-aALPHA with DEPTH 6n + 2 from 8 to {} and ALPHA from 1 to "
        "{}, as in pyramidnet110-a270.",
        name, kMaxDepth, kMaxAlpha);
  return size;
}

// Section 4.1: three layers of n basic blocks; block k of 3n has round(16 + k alpha / 3n) channels.
Network make_pyramidnet(const PyramidnetSize& size, const NetworkSpec& spec) {
  if (image_of(spec).h % 4 != 0 || image_of(spec).w % 4 != 0)
    refuse(
        "model.name = {}: the data holds {} images; a PyramidNet halves them twice, so both sides must be divisible by "
        "4.",
        spec.name, to_string(image_of(spec)));
  const std::int64_t num_blocks = (size.depth - 2) / 6;
  const double step = static_cast<double>(size.alpha) / static_cast<double>(3 * num_blocks);
  Network network;
  network.push_back(small_image_stem({.images = image_of(spec).batch(spec.micro_batch),
                                      .num_filters = kStemChannels,
                                      .relu = false,
                                      .type = spec.type}));
  double width = kStemChannels;
  add_layers(std::vector(3, num_blocks), network, [&](BlockSpec block, std::size_t /*layer*/) {
    width += step;
    block.num_filters = channels_of(width);
    return pyramid_block(block);
  });
  network.push_back(preactivation_head(network.back()->y().shape, spec.num_classes, spec.type));
  return network;
}

std::optional<Network> find_pyramidnet(const NetworkSpec& spec) {
  const auto size = parse_pyramidnet(spec.name);
  return size ? std::optional(make_pyramidnet(*size, spec)) : std::nullopt;
}

}  // namespace

NetworkFamily pyramidnet_family() {
  return {.names = {},
          .form = "pyramidnetDEPTH-aALPHA",
          .about = "Han et al. 2017, for small images; for example pyramidnet110-a270",
          .make = find_pyramidnet};
}

}  // namespace convoy
