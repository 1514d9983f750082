/// The cells of residual networks: stems, blocks and heads. He et al. 2015, "Deep residual learning", figures 2 and 5;
/// with groups, Xie et al. 2016, "Aggregated residual transformations", figure 3 (c).
#pragma once

#include <memory>
#include <string>

#include "convoy/model/cell.h"

namespace convoy {

/// A stem for photographs: 7x7 convolution at stride 2, batch norm, ReLU, 3x3 maximum at stride 2.
std::unique_ptr<Cell> imagenet_stem(const Shape& images, std::int64_t num_filters, DataType type);

struct SmallImageStemSpec {
  Shape images;
  std::int64_t num_filters = 0;
  bool relu = true;
  DataType type = DataType::kFloat32;
};

/// A stem for small images: 3x3 convolution, batch norm, and optionally ReLU.
std::unique_ptr<Cell> small_image_stem(const SmallImageStemSpec& spec);

/// The path from a block's input to its output if their shapes differ.
enum class ShortcutKind {
  kProjection,  ///< 1x1 convolution and batch norm ("option B"; torchvision's downsample)
  kPadding,     ///< every stride-th pixel, new channels zero ("option A")
};

struct BlockSpec {
  std::string name;  ///< layer1.0
  Shape x;
  std::int64_t num_filters = 0;  ///< of the 3x3 convolutions
  std::int64_t num_outputs = 0;  ///< only for a bottleneck: channels of y
  std::int64_t groups = 1;       ///< of a bottleneck's 3x3 convolution
  std::int64_t stride = 1;
  ShortcutKind shortcut = ShortcutKind::kProjection;
  DataType type = DataType::kFloat32;
};

/// A block of two 3x3 convolutions: y = relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)).
std::unique_ptr<Cell> basic_block(const BlockSpec& spec);

/// A block y = relu(bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x)))))))) + shortcut(x)) of convolutions 1x1, 3x3 with the
/// stride (v1.5, as in torchvision), and 1x1 to num_outputs.
std::unique_ptr<Cell> bottleneck(const BlockSpec& spec);

/// The mean over the image, then a fully connected layer: logits (N,1,1,classes).
std::unique_ptr<Cell> classifier_head(const Shape& x, std::int64_t num_classes, DataType type);

/// A head after blocks that begin with batch norm and ReLU, so that none ends with them: batch norm, ReLU, then the
/// layers of classifier_head().
std::unique_ptr<Cell> preactivation_head(const Shape& x, std::int64_t num_classes, DataType type);

}  // namespace convoy
