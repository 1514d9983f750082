/// A network of cells that no paper has: values with several readers, sums that no batch norm takes over, gradients
/// that are only added to, an output that is read inside its cell, dropout.
#pragma once

#include "convoy/model/network.h"

#include "model/cell_builder.h"
#include "model/layers/activation.h"
#include "model/layers/batch_norm.h"
#include "model/layers/channels.h"
#include "model/layers/convolution.h"
#include "model/layers/dropout.h"
#include "model/layers/layer_norm.h"
#include "model/layers/linear.h"
#include "model/layers/pooling.h"
#include "model/layers/product.h"
#include "model/layers/softmax.h"
#include "model/layers/sum.h"

namespace convoy::test {

/// A value with three readers, two of which reach the output through batch norms and a sum; then the sum of two batch
/// norms of one value, one of them after a convolution, with a ReLU that is read inside the cell.
inline std::unique_ptr<Cell> read_three_times(const Shape& shape, DataType type) {
  CellBuilder cell({.name = "three", .parameters = "three.", .type = type});
  const Value x = cell.input(shape);
  const Value a = relu(batch_norm("bn1", convolution_3x3("conv1", x, shape.c)));
  const Value b = batch_norm("bn2", convolution_1x1("conv2", a, shape.c));
  const Value c = batch_norm("bn3", convolution_3x3("conv3", a, shape.c));
  const Value d = relu(b + (c + a));
  const Value e = relu(batch_norm("bn4", convolution_1x1("conv4", d, shape.c)) + batch_norm("bn5", d));
  return cell.finish(d + convolution_1x1("conv5", e, shape.c));
}

/// Sums of values that are no outputs of batch norms, with an x that has three readers; no ReLU at the end.
inline std::unique_ptr<Cell> plain_sums(const Shape& shape, DataType type) {
  CellBuilder cell({.name = "sums", .parameters = "sums.", .type = type});
  const Value x = cell.input(shape);
  const Value blurred = average_pool(x, {.kernel = 3, .stride = 1, .padding = 1});
  const Value a = convolution_3x3("conv1", blurred + x, shape.c);
  return cell.finish((a + x) + (a + blurred));
}

/// A pre-activated block: relu(bn(x)) is read by two convolutions, x by a padding, whose gradients are written, added
/// up and added to.
inline std::unique_ptr<Cell> pre_activated(const Shape& shape, std::int64_t num_filters, DataType type) {
  CellBuilder cell({.name = "pre", .parameters = "pre.", .type = type});
  const Value x = cell.input(shape);
  const Value padded = pad_channels(x, {.num_channels = num_filters, .stride = 2});
  const Value a = relu(batch_norm("bn1", x));
  const Value b = relu(batch_norm("bn2", convolution_3x3("conv1", a, num_filters, 2)));
  const Value c = convolution_3x3("conv2", b, num_filters);
  return cell.finish(c + (convolution_1x1("conv3", a, num_filters, 2) + padded));
}

/// A value with four readers; dropout comes before and after them: alone, in a linear layer, and with the sum that
/// follows.
inline std::unique_ptr<Cell> drops_values(const Shape& shape, DataType type) {
  CellBuilder cell({.name = "drops", .parameters = "drops.", .type = type});
  const Value x = cell.input(shape);
  const Value a = dropout(relu(batch_norm("bn1", convolution_3x3("conv1", x, shape.c))), 0.25);
  const Value b = batch_norm("bn2", convolution_1x1("conv2", a, shape.c));
  const Value c = batch_norm("bn3", convolution_3x3("conv3", a, shape.c));
  const Value d = dropout(relu(linear("linear1", a, 2 * shape.c)), 0.25);
  return cell.finish((x + dropout(relu(b + (c + a)), 0.5)) + dropout(linear("linear2", d, shape.c), 0.25));
}

/// A dense block on halves of its input: slices of one value, which a convolution reads, too, and of a value that no
/// other layer reads; concatenations of a value with itself and with what comes from it, at the end of the cell, too; a
/// convolution with dilation, and an average that counts padding.
inline std::unique_ptr<Cell> joins_channels(const Shape& shape, DataType type) {
  CellBuilder cell({.name = "joins", .parameters = "joins.", .type = type});
  const Value x = cell.input(shape);
  const std::int64_t half = shape.c / 2;
  const Value left = slice_channels(x, 0, half), right = slice_channels(x, half, shape.c - half);
  const Value a = concat(std::vector{relu(batch_norm("bn1", convolution_3x3("conv1", right, half))), left, left});
  const Value b = convolution_1x1("conv2", a, 2 * half);
  const Value c = slice_channels(b, 0, half), d = slice_channels(b, half, half);
  const Value e = concat(std::vector{a, relu(batch_norm("bn2", c)) + d, d});
  const Value f = convolution("conv4", e, {.num_filters = half, .kernel = 3, .padding = 2, .dilation = 2});
  const Value g = average_pool(left, {.kernel = 3, .stride = 1, .padding = 1, .counts_padding = true});
  return cell.finish(concat(std::vector{convolution_1x1("conv3", x, half), f, g}));
}

inline Network toy_network(const Shape& images, std::int64_t num_classes, DataType type) {
  constexpr std::int64_t kChannels = 6, kMoreChannels = 10;
  Network network;
  CellBuilder stem({.name = "stem", .type = type});
  network.push_back(stem.finish(max_pool(
      relu(batch_norm("bn1", convolution_3x3("conv1", stem.feature(features::kImage, {images, type}), kChannels))),
      {.kernel = 2})));
  network.push_back(read_three_times(network.back()->y().shape, type));
  network.push_back(drops_values(network.back()->y().shape, type));
  network.push_back(plain_sums(network.back()->y().shape, type));
  network.push_back(pre_activated(network.back()->y().shape, kMoreChannels, type));
  network.push_back(joins_channels(network.back()->y().shape, type));
  CellBuilder head({.name = "head", .type = type});
  const Value x = head.input(network.back()->y().shape);
  const Value a = relu(batch_norm("bn", adaptive_average_pool(x, 2, 2)));
  network.push_back(head.finish(logits("fc", global_average_pool(a), num_classes)));
  return network;
}

/// Squeeze-and-excitation (Hu et al. 2017): each channel of a sample is multiplied by a factor of its own, which the
/// pixels of all channels make. The factors read what they multiply.
inline std::unique_ptr<Cell> squeeze_and_excite(const Shape& shape, DataType type) {
  CellBuilder cell({.name = "squeeze", .parameters = "squeeze.", .type = type});
  const Value x = cell.input(shape);
  const Value a = activate(ops::Activation::kHardSwish, batch_norm("bn1", convolution_3x3("conv1", x, shape.c)));
  const Value squeezed = activate(ops::Activation::kSilu, linear("fc1", global_average_pool(a), 4));
  return cell.finish(x + activate(ops::Activation::kHardSigmoid, linear("fc2", squeezed, shape.c)) * a);
}

/// Products of values of one shape, of a value with itself, and of one that is read again; functions with numbers;
/// and two batch norms that no operation can compute together.
inline std::unique_ptr<Cell> gates(const Shape& shape, DataType type) {
  CellBuilder cell({.name = "gates", .parameters = "gates.", .type = type});
  const Value x = cell.input(shape);
  const Value a = activate(ops::Activation::kLeakyRelu, convolution_3x3("conv1", x, shape.c), {.factor = 0.1f});
  const Value gate = activate(ops::Activation::kSigmoid, convolution_1x1("conv2", x, shape.c));
  const Value scaled = activate(ops::Activation::kAffine, a * gate, {.factor = -0.75f, .constant = 0.5f});
  const Value b = relu(batch_norm("bn1", x, {.epsilon = 0.5f}) + batch_norm("bn2", scaled, {.epsilon = 0.25f}));
  return cell.finish(b + (scaled * scaled + (gate + x * activate(ops::Activation::kTanh, a))));
}

/// Norms whose input is read twice, and shares of the channels.
inline std::unique_ptr<Cell> norms(const Shape& shape, DataType type) {
  CellBuilder cell({.name = "norms", .parameters = "norms.", .type = type});
  const Value x = cell.input(shape);
  const Value a = group_norm("norm1", convolution_3x3("conv1", rms_norm("norm2", x), shape.c), 2);
  return cell.finish(a * softmax(a) + group_norm("norm3", x, shape.c) + rms_norm("norm4", a));
}

/// Values that layers read in two shapes: a batch norm whose ReLU reads another shape, and the input of the cell.
inline std::unique_ptr<Cell> flattens(const Shape& shape, DataType type) {
  CellBuilder cell({.name = "flat", .parameters = "flat.", .type = type});
  const Value x = cell.input(shape);
  const Value a = batch_norm("bn1", convolution_1x1("conv1", x, 2));
  const Value b = relu(flatten(a)) + batch_norm("bn2", flatten(convolution_1x1("conv2", x, 2)));
  return cell.finish(concat(std::vector{linear("fc1", b, 3), linear("fc2", flatten(x), 3), global_average_pool(a)}));
}

inline Network gated_network(const Shape& images, std::int64_t num_classes, DataType type) {
  constexpr std::int64_t kChannels = 6;
  Network network;
  CellBuilder stem({.name = "stem", .type = type});
  network.push_back(stem.finish(convolution_3x3("conv1", stem.feature(features::kImage, {images, type}), kChannels)));
  network.push_back(squeeze_and_excite(network.back()->y().shape, type));
  network.push_back(gates(network.back()->y().shape, type));
  network.push_back(norms(network.back()->y().shape, type));
  network.push_back(flattens(network.back()->y().shape, type));
  CellBuilder head({.name = "head", .type = type});
  network.push_back(head.finish(logits("fc", global_average_pool(head.input(network.back()->y().shape)), num_classes)));
  return network;
}

/// A batch norm, a ReLU and a max pooling that one operation computes; or, if cells are `apart`, two operations, as the
/// pooling is not the only reader of the first cell's output.
inline Network pooled_network(const Shape& images, std::int64_t num_classes, DataType type, bool apart) {
  Network network;
  CellBuilder stem({.name = "stem", .type = type});
  network.push_back(
      stem.finish(convolution_3x3("conv1", stem.feature(features::kImage, {images, type}), /*num_filters=*/64)));
  CellBuilder cell({.name = "pool", .parameters = "pool.", .type = type});
  const Value a = convolution_1x1("conv1", cell.input(network.back()->y().shape), /*num_filters=*/64);
  const Value normalised = relu(batch_norm("bn1", a));
  const PoolingSettings pooling{.kernel = 3, .stride = 2, .padding = 1};
  network.push_back(cell.finish(apart ? normalised : max_pool(normalised, pooling)));
  if (apart) {
    CellBuilder second({.name = "apart", .type = type});
    network.push_back(second.finish(max_pool(second.input(network.back()->y().shape), pooling)));
  }
  CellBuilder head({.name = "head", .type = type});
  network.push_back(head.finish(logits("fc", global_average_pool(head.input(network.back()->y().shape)), num_classes)));
  return network;
}

}  // namespace convoy::test
