/// Additive pyramids of basic blocks: Han et al. 2017, "Deep pyramidal residual networks", figure 6 (d), with the
/// zero-padded identity shortcut of figure 5 (b).
#include "model/pyramidnet.h"

#include <charconv>
#include <cmath>

#include "convoy/base/error.h"

#include "model/layers/batch_norm.h"
#include "model/layers/convolution.h"
#include "model/layers/linear.h"
#include "model/layers/pooling.h"
#include "model/layers/sum_and_relu.h"
#include "model/residual_cells.h"

namespace convoy {

namespace {

constexpr std::int64_t kStemChannels = 16;
constexpr std::int64_t kMostDepth = 2000, kMostAlpha = 100'000;

// Half a channel goes to the even number of channels.
std::int64_t channels_of(double width) {
  return std::llrint(width);
}

struct PyramidBlockSpec {
  std::string name;  ///< layer1.0
  Shape x;
  std::int64_t num_filters = 0;  ///< K, at least as many as x has channels
  std::int64_t stride = 1;       ///< 1 or 2
  DataType type = DataType::kFloat32;
};

// The shortcut is x with zero channels after its own, averaged over 2x2 pixels at stride 2. No ReLU follows the sum.
std::unique_ptr<Cell> pyramid_block(const PyramidBlockSpec& spec) {
  CellBuilder cell({.name = spec.name, .parameters = spec.name + ".", .type = spec.type});
  const std::int64_t k = spec.num_filters;
  const Value x = cell.input(spec.x);                                                    // (N,H,W,C)
  const Value a = batch_norm("bn1", x);                                                  // (N,H,W,C)
  const Value b = relu(batch_norm("bn2", convolution_3x3("conv1", a, k, spec.stride)));  // (N,P,Q,K)
  const Value c = batch_norm("bn3", convolution_3x3("conv2", b, k));                     // (N,P,Q,K)
  const Value padded = pad_channels(x, {.num_channels = k});                             // (N,H,W,K)
  return cell.finish(c + (spec.stride > 1 ? average_pool(padded, {.kernel = 2, .stride = 2}) : padded));
}

// Batch norm and ReLU, which no block ends with, the mean over the image, the fully connected layer.
std::unique_ptr<Cell> pyramid_head(const Shape& shape, std::int64_t num_classes, DataType type) {
  CellBuilder cell({.name = "head", .type = type});
  const Value x = cell.input(shape);                                      // (N,H,W,C)
  const Value a = relu(batch_norm("bn_final", x));                        // (N,H,W,C)
  return cell.finish(linear("fc", global_average_pool(a), num_classes));  // (N,1,1,K)
}

}  // namespace

std::optional<PyramidnetSize> parse_pyramidnet(const std::string& name) {
  constexpr std::string_view kPrefix = "pyramidnet", kAlpha = "-a";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  PyramidnetSize size;
  const char* end = name.data() + name.size();
  const auto depth = std::from_chars(name.data() + kPrefix.size(), end, size.depth);
  bool known = depth.ec == std::errc() && std::string_view(depth.ptr, end).starts_with(kAlpha);
  if (known) {
    const auto alpha = std::from_chars(depth.ptr + kAlpha.size(), end, size.alpha);
    known = alpha.ec == std::errc() && alpha.ptr == end;
  }
  if (!known || size.depth < 8 || size.depth > kMostDepth || (size.depth - 2) % 6 != 0 || size.alpha < 1 ||
      size.alpha > kMostAlpha)
    refuse(
        "model.name = {}: a PyramidNet is pyramidnetDEPTH-aALPHA with DEPTH 6n + 2 from 8 to {} and ALPHA from 1 to "
        "{}, as "
        "in pyramidnet110-a270.",
        name, kMostDepth, kMostAlpha);
  return size;
}

Network make_pyramidnet(const PyramidnetSize& size, const NetworkSpec& spec) {
  if (spec.image.h % 4 != 0 || spec.image.w % 4 != 0)
    refuse(
        "model.name = {}: the data holds {} images; a PyramidNet halves them twice, so both sides must be divisible by "
        "4.",
        spec.name, to_string(spec.image));
  const std::int64_t num_blocks = (size.depth - 2) / 6;
  const double step = static_cast<double>(size.alpha) / static_cast<double>(3 * num_blocks);
  Network network;
  network.push_back(small_image_stem(
      {.images = spec.image.batch(spec.micro_batch), .num_filters = kStemChannels, .relu = false, .type = spec.type}));
  double width = kStemChannels;
  for (int layer = 0; layer < 3; ++layer) {
    for (std::int64_t block = 0; block < num_blocks; ++block) {
      width += step;
      network.push_back(pyramid_block({.name = fmt::format("layer{}.{}", layer + 1, block),
                                       .x = network.back()->y().shape,
                                       .num_filters = channels_of(width),
                                       .stride = layer > 0 && block == 0 ? 2 : 1,
                                       .type = spec.type}));
    }
  }
  network.push_back(pyramid_head(network.back()->y().shape, spec.num_classes, spec.type));
  return network;
}

}  // namespace convoy
