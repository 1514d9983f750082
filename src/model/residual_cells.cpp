/// Residual cells: each follows a figure of the paper.
#include "model/residual_cells.h"

#include "convoy/base/features.h"

#include "model/layers/activation.h"
#include "model/layers/batch_norm.h"
#include "model/layers/convolution.h"
#include "model/layers/linear.h"
#include "model/layers/pooling.h"
#include "model/layers/sum.h"

namespace convoy {

namespace {

// The path around a block: x itself if the shapes agree.
Value shortcut(const Value& x, const Shape& y, const BlockSpec& spec) {
  if (x.shape() == y) return x;
  if (spec.shortcut == ShortcutKind::kPadding)
    return pad_channels(x, {.num_channels = y.c, .channels_before = (y.c - x.shape().c) / 2, .stride = spec.stride});
  return batch_norm("downsample.1", convolution_1x1("downsample.0", x, y.c, spec.stride));
}

}  // namespace

std::unique_ptr<Cell> imagenet_stem(const Shape& images, std::int64_t num_filters, DataType type) {
  CellBuilder cell({.name = "stem", .type = type});
  const Value x = cell.feature(features::kImage, {images, type});  // (N,H,W,C)
  const Value a = convolution("conv1", x, {.num_filters = num_filters, .kernel = 7, .stride = 2, .padding = 3});
  const Value b = relu(batch_norm("bn1", a));  // (N,P,Q,K)
  return cell.finish(max_pool(b, {.kernel = 3, .stride = 2, .padding = 1}));
}

std::unique_ptr<Cell> small_image_stem(const SmallImageStemSpec& spec) {
  CellBuilder cell({.name = "stem", .type = spec.type});
  const Value x = cell.feature(features::kImage, {spec.images, spec.type});          // (N,H,W,C)
  const Value b = batch_norm("bn1", convolution_3x3("conv1", x, spec.num_filters));  // (N,H,W,K)
  return cell.finish(spec.relu ? relu(b) : b);
}

std::unique_ptr<Cell> basic_block(const BlockSpec& spec) {
  CellBuilder cell({.name = spec.name, .parameters = spec.name + ".", .type = spec.type});
  const std::int64_t k = spec.num_filters;
  const Value x = cell.input(spec.x);                                                    // (N,H,W,C)
  const Value b = relu(batch_norm("bn1", convolution_3x3("conv1", x, k, spec.stride)));  // (N,P,Q,K)
  const Value c = batch_norm("bn2", convolution_3x3("conv2", b, k));                     // (N,P,Q,K)
  return cell.finish(relu(c + shortcut(x, c.shape(), spec)));
}

std::unique_ptr<Cell> bottleneck(const BlockSpec& spec) {
  CellBuilder cell({.name = spec.name, .parameters = spec.name + ".", .type = spec.type});
  const std::int64_t k = spec.num_filters;
  const Value x = cell.input(spec.x);                                       // (N,H,W,C)
  const Value b = relu(batch_norm("bn1", convolution_1x1("conv1", x, k)));  // (N,H,W,K)
  const ConvolutionSettings grouped{
      .num_filters = k, .kernel = 3, .stride = spec.stride, .padding = 1, .groups = spec.groups};
  const Value d = relu(batch_norm("bn2", convolution("conv2", b, grouped)));         // (N,P,Q,K)
  const Value e = batch_norm("bn3", convolution_1x1("conv3", d, spec.num_outputs));  // (N,P,Q,outputs)
  return cell.finish(relu(e + shortcut(x, e.shape(), spec)));
}

std::unique_ptr<Cell> classifier_head(const Shape& x, std::int64_t num_classes, DataType type) {
  CellBuilder cell({.name = "head", .type = type});
  const Value mean = global_average_pool(cell.input(x));  // (N,1,1,C)
  return cell.finish(logits("fc", mean, num_classes));    // (N,1,1,K)
}

std::unique_ptr<Cell> preactivation_head(const Shape& shape, std::int64_t num_classes, DataType type) {
  CellBuilder cell({.name = "head", .type = type});
  const Value x = cell.input(shape);                                      // (N,H,W,C)
  const Value a = relu(batch_norm("bn_final", x));                        // (N,H,W,C)
  return cell.finish(logits("fc", global_average_pool(a), num_classes));  // (N,1,1,K)
}

}  // namespace convoy
