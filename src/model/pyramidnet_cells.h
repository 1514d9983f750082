/// The cells of PyramidNets: Han et al. 2017, "Deep pyramidal residual networks", figure 6 (d), with the zero-padded
/// identity shortcut of figure 5 (b).
#pragma once

#include <memory>
#include <optional>

#include "convoy/model/cell.h"

#include "model/layers.h"

namespace convoy {

struct PyramidBlockSpec {
  std::string name;  ///< layer1.0
  Shape x;
  std::int64_t num_filters = 0;  ///< K, at least as many as x has channels
  std::int64_t stride = 1;       ///< 1 or 2
  DataType type = DataType::kFloat32;
};

/// y = bn3(conv2(relu(bn2(conv1(bn1(x)))))) + shortcut(x), 3x3 convolutions, no ReLU behind the join. The shortcut is x
/// with zero channels behind its own, averaged over 2x2 pixels at stride 2.
class PyramidBlock final : public Cell {
 public:
  explicit PyramidBlock(const PyramidBlockSpec& spec);

  void plan(ops::Library& library) override;
  void load_weights(const Weights& weights) override;
  void forward(const Frame& frame, const void* x, void* y) const override;
  void recompute(const Frame& frame, const void* x) const override;
  void backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const override;
  void backward_weight(const Frame& frame, const void* x) const override;

 private:
  const void* forward_shortcut(const Frame& frame, const void* x) const;
  void backward_shortcut(const Frame& frame, const void* ds, void* dx) const;

  BatchNorm bn1_;
  ConvBatchNorm conv1_, conv2_;
  ops::ShortcutSpec padding_spec_;
  std::optional<ops::PoolingSpec> pool_spec_;  ///< at stride 2
  Saved a_, b_;
  Scratch dc_, db_, padded_, s_;
  std::unique_ptr<ops::ShortcutOp> padding_;
  std::unique_ptr<ops::AveragePoolOp> pool_;
};

/// Batch norm and ReLU, which no block ends with, the mean over the image, the fully connected layer.
class PyramidHead final : public Cell {
 public:
  PyramidHead(const Shape& x, std::int64_t num_classes, DataType type);

  void plan(ops::Library& library) override;
  void load_weights(const Weights&) override {}
  void forward(const Frame& frame, const void* x, void* y) const override;
  void recompute(const Frame& frame, const void* x) const override;
  void backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const override;
  void backward_weight(const Frame& frame, const void* x) const override;

 private:
  BatchNorm bn_;
  Linear fc_;
  Saved a_;
  Noted mean_;
  Scratch da_, dmean_;
  std::unique_ptr<ops::GlobalAveragePoolOp> pool_;
};

}  // namespace convoy
