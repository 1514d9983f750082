/// The cells of residual networks: stems, blocks and the head. He et al. 2015, "Deep residual learning", figures 2
/// and 5.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "convoy/model/cell.h"

#include "model/layers.h"

namespace convoy {

/// 3x3, padded: the same size at stride 1.
ops::ConvolutionSpec conv3x3(const Shape& x, std::int64_t num_filters, std::int64_t stride = 1);

/// Images of photographs: 7x7 convolution at stride 2, batch norm, ReLU, 3x3 maximum at stride 2.
class ImageNetStem final : public Cell {
 public:
  ImageNetStem(const Shape& x, std::int64_t num_filters, DataType type);

  void plan(ops::Library& library) override;
  void load_weights(const Weights& weights) override { conv1_.load_weights(weights); }
  void forward(const Frame& frame, const void* x, void* y) const override;
  void recompute(const Frame& frame, const void* x) const override;
  void backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const override;
  void backward_weight(const Frame& frame, const void* x) const override;

 private:
  ConvBatchNorm conv1_;
  ops::PoolingSpec pool_spec_;
  Saved b_;
  Noted winner_;
  Scratch db_;
  std::unique_ptr<ops::MaxPoolOp> pool_;
};

struct SmallImageStemSpec {
  Shape x;
  std::int64_t num_filters = 0;
  bool relu = true;
  DataType type = DataType::kFloat32;
};

/// Small images: 3x3 convolution, batch norm, ReLU or none.
class SmallImageStem final : public Cell {
 public:
  explicit SmallImageStem(const SmallImageStemSpec& spec);

  void plan(ops::Library& library) override;
  void load_weights(const Weights& weights) override { conv1_.load_weights(weights); }
  void forward(const Frame& frame, const void* x, void* y) const override;
  void recompute(const Frame& frame, const void* x) const override;
  void backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const override;
  void backward_weight(const Frame& frame, const void* x) const override;

 private:
  ConvBatchNorm conv1_;
};

/// How a block's input reaches its output when the shapes differ.
enum class ShortcutKind {
  kProjection,  ///< 1x1 convolution and batch norm ("option B"; torchvision's downsample)
  kPadding,     ///< every stride-th pixel, new channels zero ("option A")
};

struct BlockSpec {
  std::string name;  ///< layer1.0
  Shape x;
  std::int64_t num_filters = 0;  ///< of the 3x3 convolutions
  std::int64_t stride = 1;
  ShortcutKind shortcut = ShortcutKind::kProjection;
  DataType type = DataType::kFloat32;
};

/// The path around a block: nothing where shapes agree, else a projection or option A.
class BlockShortcut {
 public:
  BlockShortcut(CellMemory& memory, const BlockSpec& spec, const Shape& y);

  void plan(ops::Library& library);
  void load_weights(const Weights& weights);

  /// What is added to the block's other branch: x itself or a place in scratch.
  const void* forward(const Frame& frame, const void* x) const;
  /// What its backward reads.
  void recompute(const Frame& frame, const void* x) const;
  /// dx += shortcut's gradient. ds (the shape of y) is consumed.
  void backward(const Frame& frame, const void* x, void* ds, void* dx) const;
  void backward_weight(const Frame& frame, const void* x) const;

 private:
  struct Projection {
    ConvBatchNorm conv;
    Scratch dx_part;
  };
  Shape x_;
  DataType type_;
  std::optional<Projection> projection_;
  std::optional<ops::ShortcutSpec> padding_spec_;
  std::unique_ptr<ops::ShortcutOp> padding_;
  Scratch s_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

/// y = relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)), 3x3 convolutions.
class BasicBlock final : public Cell {
 public:
  explicit BasicBlock(const BlockSpec& spec);

  void plan(ops::Library& library) override;
  void load_weights(const Weights& weights) override;
  void forward(const Frame& frame, const void* x, void* y) const override;
  void recompute(const Frame& frame, const void* x) const override;
  void backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const override;
  void backward_weight(const Frame& frame, const void* x) const override;

 private:
  ConvBatchNorm conv1_, conv2_;
  BlockShortcut shortcut_;
  Saved b_;
  Scratch dc_, db_;
};

/// y = relu(bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x)))))))) + shortcut(x)): 1x1, 3x3 with the stride (v1.5, as
/// torchvision has it), 1x1 to four times the filters.
class Bottleneck final : public Cell {
 public:
  static constexpr std::int64_t kExpansion = 4;
  explicit Bottleneck(const BlockSpec& spec);

  void plan(ops::Library& library) override;
  void load_weights(const Weights& weights) override;
  void forward(const Frame& frame, const void* x, void* y) const override;
  void recompute(const Frame& frame, const void* x) const override;
  void backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const override;
  void backward_weight(const Frame& frame, const void* x) const override;

 private:
  ConvBatchNorm conv1_, conv2_, conv3_;
  BlockShortcut shortcut_;
  Saved b_, d_;
  Scratch de_, dd_, db_;
};

/// Mean over the image, then the fully connected layer: logits (N,1,1,classes).
class ClassifierHead final : public Cell {
 public:
  ClassifierHead(const Shape& x, std::int64_t num_classes, DataType type);

  void plan(ops::Library& library) override;
  void load_weights(const Weights&) override {}
  void forward(const Frame& frame, const void* x, void* y) const override;
  void recompute(const Frame& frame, const void* x) const override;
  void backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const override;
  void backward_weight(const Frame& frame, const void* x) const override;

 private:
  Linear fc_;
  Noted mean_;
  Scratch dmean_;
  std::unique_ptr<ops::GlobalAveragePoolOp> pool_;
};

}  // namespace convoy
