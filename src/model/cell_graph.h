/// The layers of a cell, and what follows from their order: the location of each tensor, and the flow of gradients.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/layer.h"

namespace convoy {

/// Copies to = from, unless both are the same location.
struct GradientCopy {
  const GradientLocation *from = nullptr, *to = nullptr;
  std::int64_t bytes = 0;
};

/// Computes sum = a + b.
struct GradientSum {
  const GradientLocation *a = nullptr, *b = nullptr, *sum = nullptr;
  std::int64_t count = 0;
  DataType type = DataType::kFloat32;
};

/// One layer's turn in backward.
struct BackwardStep {
  std::vector<GradientCopy> copies;  ///< made before the layer's backward
  const Layer* layer = nullptr;      ///< null: no layer
  std::vector<GradientSum> sums;     ///< computed after the layer's backward, for tensors with several readers
};

class CellGraph {
 public:
  explicit CellGraph(DataType type) : memory(type) {}

  /// Completes the graph after the last layer was added: merges layers that one operation computes, lays out the
  /// memory, and finds what recomputing needs.
  void finish();
  /// Drops everything that only backward needs, as Cell::drop_backward() says.
  void drop_backward();
  void create_ops(ops::Backend& backend);

  CellMemory memory;
  std::deque<Tensor> tensors;  ///< a deque, so that pointers to them stay valid
  std::vector<Feature> features;
  std::vector<std::string> objectives;  ///< their names if y holds their scores
  Tensor* x = nullptr;
  Tensor* y = nullptr;
  std::vector<std::unique_ptr<Layer>> layers;  ///< in the order of forward
  bool has_backward = true;                    ///< false: `backward` and `last_sum` are empty
  std::vector<BackwardStep> backward;
  /// The last of backward's sums, if it is dx = dy + dx of the final contents of both: the cell before may compute it
  /// itself.
  std::optional<GradientSum> last_sum;
  std::deque<GradientLocation> gradient_locations;  ///< tensors and steps point to these

  /// The layers that must run again to recompute the tensors that this part of backward reads.
  const std::vector<const Layer*>& recomputed(const Frame& frame) const;
  ops::ElementwiseOps& elementwise() const { return *elementwise_; }

 private:
  /// A part of backward: joint, with respect to the input, with respect to the weights, or any of a frozen cell.
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
/// Layers run in the order opposite to forward. If a tensor has several readers, its gradient is the sum of their parts
/// in the order in which they run: ((first + second) + third). A layer that can only add to its input's gradient waits
/// until another reader has written it. Throws std::logic_error if no other reader writes it.
void lay_out_gradients(CellGraph& graph);

}  // namespace convoy
