/// The elements of a cell: tensors, and layers. A layer calls one operation of the device with the tensors that the
/// operation reads and writes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "convoy/model/cell.h"

namespace convoy {

class Layer;
class CellGraph;

/// A value inside a cell: an input of the cell, or the output of a layer.
struct Tensor {
  TensorSpec spec;
  DataType gradient_type = DataType::kFloat32;
  bool has_gradient = true;         ///< whether backward computes its gradient
  bool is_small = false;            ///< true: it is stored in Frame::statistics and never recomputed
  bool has_several_shapes = false;  ///< true: some layers read it in other shapes (Value::as)
  Layer* producer = nullptr;        ///< the layer that writes it; null: it is an input of the cell
  std::vector<Layer*> readers;
  TensorLocation location;
  const GradientLocation* gradient = nullptr;  ///< memory of its whole gradient, which the producer's backward reads
};

/// The way in which a layer's backward gives the gradient with respect to an input, dx, from that of its output, dy.
enum class GradientRule {
  kNone,        ///< gives no dx
  kWrites,      ///< writes dx to other memory than dy
  kMayReplace,  ///< writes dx to other memory or over dy
  kReplaces,    ///< writes dx over dy
  kIsTheSame,   ///< does nothing: dx is dy
  kAdds,        ///< adds dx to what the other readers of its only input write; writes dx if none of them writes
};

struct LayerInput {
  Tensor* tensor = nullptr;
  GradientRule rule = GradientRule::kWrites;
  bool can_add = false;                      ///< whether backward can write dx + addend in one pass
  const GradientLocation* dx = nullptr;      ///< where backward writes its gradient; null: it writes none
  const GradientLocation* addend = nullptr;  ///< gradient from other readers, to be added to dx; may be dx; null: none

  const std::byte* addend_in(const Frame& frame) const { return addend == nullptr ? nullptr : frame[*addend]; }
};

/// The tensors that a layer reads in forward, in backward_input or in backward_weight.
using Reads = std::vector<const Tensor*>;

/// A layer: y = layer(x, ...), with forward and backward. The cell decides in which memory its tensors lie, and in
/// which order its functions are called.
class Layer {
 public:
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  std::vector<LayerInput> inputs;
  std::vector<Tensor*> outputs;  ///< the first is y; further ones are small by-products without a gradient
  Tensor& x() const { return *inputs.front().tensor; }
  Tensor& y() const { return *outputs.front(); }
  const GradientLocation& dy() const { return *y().gradient; }
  const GradientLocation& dx() const { return *inputs.front().dx; }
  bool wants_dx() const { return inputs.front().dx != nullptr; }
  /// Memory of the gradient that must be added to dx of the first input; null: nothing is added.
  const std::byte* addend(const Frame& frame) const { return inputs.front().addend_in(frame); }
  /// Memory of the gradient that must be added to dy: Frame::dy_addend, if this layer gives the cell's output. Null:
  /// nothing is added.
  const std::byte* dy_addend(const Frame& frame) const {
    return y().location.part == &Frame::y ? frame.dy_addend : nullptr;
  }
  TensorLocation forward_scratch, backward_scratch;  ///< scratch memory for one call; not set if its size is 0
  std::string full_name, weight_shape;               ///< the texts of LayerInfo::name and LayerInfo::weight_shape
  std::size_t number = 0;                            ///< index in the order of forward, set when the cell is complete

  /// The name of the layer's operation, for people: "convolution".
  virtual std::string operation() const = 0;
  /// The number of floating-point operations per micro-batch, known when the cell is complete. `is_split` says whether
  /// the weights' gradients are computed later than the input's.
  virtual LayerFlop flop(bool /*is_split*/) const { return {}; }

  // CellGraph::finish() calls merge, fused_with and connect in this order when all layers have been added.
  /// Takes over the work of `next`, the only reader of this layer's output, if one operation can do both. Returns
  /// whether it did.
  virtual bool merge(Layer& /*next*/) { return false; }
  /// Returns a new layer, with its inputs set, that does the work of this layer and of `next`, the only reader of this
  /// layer's output. Returns null if no such layer exists. Called when no more layers can be merged.
  virtual std::unique_ptr<Layer> fused_with(Layer& /*next*/) { return nullptr; }
  /// Sets the properties that depend on the layers before and after this one. Called after merging and fusing.
  virtual void connect(CellGraph& /*graph*/) {}
  /// Called if only forward will be called from now on.
  virtual void drop_backward() {}

  virtual bool has_weights() const { return false; }
  /// Whether backward_input overwrites dy, the gradient of the output. backward_weight then reads the new contents.
  virtual bool overwrites_dy() const { return false; }
  /// Whether backward_input adds dy_addend() to dy.
  virtual bool takes_dy_in_parts() const { return false; }
  /// Whether backward_weight reads dy, the gradient of the output.
  virtual bool backward_weight_reads_dy() const { return false; }

  /// The size in bytes of the scratch memory that forward needs; 0: none.
  virtual std::int64_t forward_scratch_bytes() const { return 0; }
  /// The size in bytes of the scratch memory that backward needs; 0: none.
  virtual std::int64_t backward_scratch_bytes() const { return 0; }

  // The tensors that each pass reads, in addition to dy.
  /// Returns all inputs, unless a layer overrides it.
  virtual Reads read_by_forward() const;
  virtual Reads read_by_backward_input(bool /*training*/) const { return {}; }
  virtual Reads read_by_backward_weight() const { return {}; }

  virtual void create_ops(ops::Backend& backend) = 0;
  virtual void load_weights(const Weights& /*weights*/) {}
  virtual std::vector<Buffer*> packed_weights() { return {}; }
  virtual void forward(const Frame& frame) const = 0;
  /// Computes the outputs again, with the same bits. Uses the statistics that forward has stored in the frame.
  virtual void recompute(const Frame& frame) const { forward(frame); }
  /// Computes the gradients with respect to all inputs.
  virtual void backward_input(const Frame& frame) const = 0;
  /// Computes the gradients with respect to the weights. It is called right after backward_input or, if the frame
  /// splits backward, at any later time.
  virtual void backward_weight(const Frame& /*frame*/) const {}

 protected:
  Layer() = default;
};

}  // namespace convoy
