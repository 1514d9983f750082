/// The layers of a cell, and what follows from their order: where each tensor lies, how gradients flow back.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/layer.h"

namespace convoy {

/// to = from, where they are not one location.
struct GradientCopy {
  const GradientLocation *from = nullptr, *to = nullptr;
  std::int64_t bytes = 0;
};

/// sum = a + b
struct GradientSum {
  const GradientLocation *a = nullptr, *b = nullptr, *sum = nullptr;
  std::int64_t count = 0;
  DataType type = DataType::kFloat32;
};

/// One layer's turn in backward.
struct BackwardStep {
  std::vector<GradientCopy> copies;  ///< first
  const Layer* layer = nullptr;      ///< null: none
  std::vector<GradientSum> sums;     ///< after it: of gradients whose parts come from several readers
};

class CellGraph {
 public:
  explicit CellGraph(DataType type) : memory(type) {}

  /// No layer is added any more: merges layers that one operation computes, lays out the memory, and finds what
  /// recomputing needs.
  void finish();
  /// As Cell has it.
  void drop_backward();
  void create_ops(ops::Backend& backend);

  CellMemory memory;
  std::deque<Tensor> tensors;  ///< a deque: they stay where they are
  std::vector<Feature> features;
  std::vector<std::string> objectives;  ///< names, where y is their scores
  Tensor* x = nullptr;
  Tensor* y = nullptr;
  std::vector<std::unique_ptr<Layer>> layers;  ///< in the order of forward
  bool has_backward = true;                    ///< false: `backward` and `last_sum` are empty
  std::vector<BackwardStep> backward;
  /// The last of backward's sums, where it is dx = dy + dx, of what the steps have left there: the cell before may make
  /// it itself.
  std::optional<GradientSum> last_sum;
  std::deque<GradientLocation> gradient_locations;  ///< that tensors and steps point to

  /// The layers that compute again what this part of backward reads.
  const std::vector<const Layer*>& recomputed(const Frame& frame) const;
  ops::ElementwiseOps& elementwise() const { return *elementwise_; }

 private:
  /// Of a backward: both parts, the one with respect to the input, that to the weights; or any of a frozen cell.
  enum Part { kJoint, kInput, kWeight, kFrozen, kNumParts };

  void merge_layers();
  void fuse_layers();
  Layer* only_reader(const Tensor& tensor) const;
  void replace_both(std::size_t i, Layer& next, std::unique_ptr<Layer> both);
  void link();
  void locate_tensors();
  void locate_in_scratch(const std::vector<Tensor*>& in_scratch);
  bool is_read_by(const Layer& layer, const Tensor& tensor, Part part) const;
  bool is_read_by_backward(const Tensor& tensor) const;
  std::vector<const Layer*> layers_to_recompute(Part part) const;

  std::vector<const Layer*> recomputed_[kNumParts];
  ops::ElementwiseOps* elementwise_ = nullptr;
};

/// Lays out how gradients flow back through the layers (gradient_flow.cpp): sets graph.backward and last_sum, the
/// locations of all gradients, and the scratch that they need.
///
/// Layers run in the order opposite to forward. Where a tensor has several readers, its gradient is the sum of their
/// parts in the order in which they run: ((first + second) + third). A layer that can only add to its input's gradient
/// waits until another reader has written it.
/// Throws std::logic_error where there is no such reader.
void lay_out_gradients(CellGraph& graph);

}  // namespace convoy
