/// The cells of residual networks: stems, blocks and heads. Blocks are those of He et al. 2015, "Deep residual
/// learning", figures 2 and 5. Bottlenecks with groups are those of Xie et al. 2016, "Aggregated residual
/// transformations", figure 3 (c).
#pragma once

#include <memory>
#include <string>

#include "convoy/model/cell.h"

namespace convoy {

/// Returns a stem (first cell) for photographs: 7x7 convolution at stride 2, batch norm, ReLU, 3x3 max pooling at
/// stride 2.
std::unique_ptr<Cell> imagenet_stem(const Shape& images, std::int64_t num_filters, DataType type);

struct SmallImageStemSpec {
  Shape images;
  std::int64_t num_filters = 0;
  bool relu = true;
  DataType type = DataType::kFloat32;
};

/// Returns a stem (first cell) for small images: 3x3 convolution, batch norm, and optionally ReLU.
std::unique_ptr<Cell> small_image_stem(const SmallImageStemSpec& spec);

/// The path from a block's input to its output if their shapes differ.
enum class ShortcutKind {
  kProjection,  ///< 1x1 convolution and batch norm ("option B"; torchvision's downsample)
  kPadding,     ///< every stride-th pixel, padded with zero channels ("option A")
};

struct BlockSpec {
  std::string name;  ///< name of the cell and prefix of its parameters' names: "layer1.0"
  Shape x;
  std::int64_t num_filters = 0;  ///< number of filters of each 3x3 convolution
  std::int64_t num_outputs = 0;  ///< number of channels of y; only for a bottleneck
  std::int64_t groups = 1;       ///< number of groups of the 3x3 convolution; only for a bottleneck
  std::int64_t stride = 1;
  ShortcutKind shortcut = ShortcutKind::kProjection;
  DataType type = DataType::kFloat32;
};

/// Returns a residual block of two 3x3 convolutions: y = relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)).
std::unique_ptr<Cell> basic_block(const BlockSpec& spec);

/// Returns a bottleneck block: y = relu(bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x)))))))) + shortcut(x)). Its
/// convolutions are 1x1, 3x3 with the stride (v1.5, as in torchvision), and 1x1 with num_outputs filters.
std::unique_ptr<Cell> bottleneck(const BlockSpec& spec);

/// Returns a head (last cell): global average pooling, then a linear layer that gives the logits (N,1,1,classes).
std::unique_ptr<Cell> classifier_head(const Shape& x, std::int64_t num_classes, DataType type);

/// Returns a head (last cell) for pre-activation blocks, which begin with batch norm and ReLU and do not end with them:
/// batch norm, ReLU, then the layers of classifier_head().
std::unique_ptr<Cell> preactivation_head(const Shape& x, std::int64_t num_classes, DataType type);

}  // namespace convoy
