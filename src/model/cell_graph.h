/// The layers of a cell, and what follows from their order: the memory of each tensor, and the order of backward.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/layer.h"

namespace convoy {

/// A copy of a gradient that backward makes: to = from. Nothing is copied if both are the same memory.
struct GradientCopy {
  const GradientLocation *from = nullptr, *to = nullptr;
  std::int64_t bytes = 0;
};

/// A sum of gradients that backward computes: sum = a + b.
struct GradientSum {
  const GradientLocation *a = nullptr, *b = nullptr, *sum = nullptr;
  std::int64_t count = 0;
  DataType type = DataType::kFloat32;
};

/// One step of a cell's backward: usually the backward of one layer, with the copies and sums that it needs.
struct BackwardStep {
  std::vector<GradientCopy> copies;  ///< made before the layer's backward
  const Layer* layer = nullptr;      ///< null: the step makes only copies
  std::vector<GradientSum> sums;     ///< computed after the layer's backward, for tensors with several readers
};

class CellGraph {
 public:
  explicit CellGraph(DataType type) : memory(type) {}

  /// Completes the graph after the last layer was added: merges layers that one operation computes, chooses the memory
  /// of all tensors, and finds the layers that recomputing must run.
  void finish();
  /// Drops everything that only backward needs, as Cell::drop_backward() says.
  void drop_backward();
  void create_ops(ops::Backend& backend);

  CellMemory memory;
  std::deque<Tensor> tensors;  ///< a deque, so that pointers to them stay valid
  std::vector<Feature> features;
  std::vector<std::string> objectives;  ///< names of the objectives (losses) whose scores y holds; empty: y holds none
  Tensor* x = nullptr;
  Tensor* y = nullptr;
  std::vector<std::unique_ptr<Layer>> layers;  ///< in the order of forward
  bool has_backward = true;                    ///< false after drop_backward(): `backward` and `last_sum` are empty
  std::vector<BackwardStep> backward;
  /// The last sum of backward, if it is dx = dy + dx of the cell. It is not in `backward`, because the cell before may
  /// compute it instead (Frame::leaves_dx_in_parts). Nothing if backward does not end with such a sum.
  std::optional<GradientSum> last_sum;
  std::deque<GradientLocation> gradient_locations;  ///< owns the locations to which tensors and backward steps point

  /// The layers whose forward must run again, in order, to recompute the tensors that the part of backward that `frame`
  /// asks for will read.
  const std::vector<const Layer*>& recomputed(const Frame& frame) const;
  ops::ElementwiseOps& elementwise() const { return *elementwise_; }

 private:
  /// The kinds of backward: of input and weights together, of the input only, of the weights only, and that of a frozen
  /// cell.
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

/// Decides the order of backward and the memory of each gradient (gradient_flow.cpp): sets graph.backward and last_sum,
/// the locations of all gradients, and the size of the scratch memory that they need.
///
/// Layers run in the order opposite to forward. If several layers read a tensor, its gradient is the sum of the
/// gradients that they give, added in the order in which their backward runs: ((first + second) + third). A layer with
/// the rule kAdds waits until another reader has written its input's gradient, if another one writes it.
void lay_out_gradients(CellGraph& graph);

}  // namespace convoy
