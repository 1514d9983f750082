/// The elements of a cell: tensors, and layers that each bind one operation of the device to the tensors that it reads
/// and writes.
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
  bool has_gradient = true;   ///< whether its gradient is wanted
  bool is_small = false;      ///< stored with the statistics: never computed again
  Layer* producer = nullptr;  ///< null: an input of the cell
  std::vector<Layer*> readers;
  TensorLocation location;
  const GradientLocation* gradient = nullptr;  ///< of the sum over all readers, as the producer's backward reads it
};

/// The way in which a layer's backward gives the gradient with respect to an input, dx, from that of its output, dy.
enum class GradientRule {
  kNone,        ///< gives no dx
  kWrites,      ///< writes dx to other memory than dy
  kMayReplace,  ///< writes dx to other memory or over dy
  kReplaces,    ///< writes dx over dy
  kIsTheSame,   ///< does nothing: dx is dy
  kAdds,        ///< adds dx to what other readers of the input have written before
};

struct LayerInput {
  Tensor* tensor = nullptr;
  GradientRule rule = GradientRule::kWrites;
  bool can_add = false;  ///< backward can write the sum of dx and of what other readers have written before
  const GradientLocation* dx = nullptr;      ///< the layer writes its part of the tensor's gradient here, or adds it
  const GradientLocation* addend = nullptr;  ///< to be added to dx, maybe at the same location; null: nothing
};

/// The tensors that a layer reads in forward or in a part of backward.
using Reads = std::vector<const Tensor*>;

/// A layer: y = layer(x, ...), with forward and backward. The cell decides its memory and the order of its calls.
class Layer {
 public:
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  std::vector<LayerInput> inputs;
  std::vector<Tensor*> outputs;  ///< the first one has a gradient; others are small by-products
  Tensor& x() const { return *inputs.front().tensor; }
  Tensor& y() const { return *outputs.front(); }
  const GradientLocation& dy() const { return *y().gradient; }
  const GradientLocation& dx() const { return *inputs.front().dx; }
  bool wants_dx() const { return inputs.front().dx != nullptr; }
  /// The addend of dx; null: none.
  const std::byte* addend(const Frame& frame) const {
    const GradientLocation* location = inputs.front().addend;
    return location == nullptr ? nullptr : frame[*location];
  }
  /// The addend of dy; null: none.
  const std::byte* dy_addend(const Frame& frame) const {
    return y().location.part == &Frame::y ? frame.dy_addend : nullptr;
  }
  TensorLocation forward_scratch, backward_scratch;  ///< its own memory during a call, if it asks for some
  std::string full_name, weight_shape;               ///< LayerInfo::name and weight_shape
  std::size_t number = 0;                            ///< index in the order of forward, set when the cell is complete

  /// The name of its operation: "convolution".
  virtual std::string operation() const = 0;
  /// Its floating-point operations, known when the cell is complete. `is_split`: whether backward comes in two parts.
  virtual LayerFlop flop(bool /*is_split*/) const { return {}; }

  // These are called in this order when the cell is complete.
  /// Takes over the work of `next`, which alone reads this layer's output, if one operation does both. Returns whether
  /// it did.
  virtual bool merge(Layer& /*next*/) { return false; }
  /// Returns a layer, with its inputs set, that does the work of both this one and `next`, which alone reads this one's
  /// output; null if no such layer exists. Called when no more layers can be merged.
  virtual std::unique_ptr<Layer> fused_with(Layer& /*next*/) { return nullptr; }
  /// Sets what follows from the layers around it.
  virtual void connect(CellGraph& /*graph*/) {}
  /// Says that only forward will be called from now on.
  virtual void drop_backward() {}

  virtual bool has_weights() const { return false; }
  /// Whether backward_input changes the output's gradient; backward_weight then reads the changed one.
  virtual bool overwrites_dy() const { return false; }
  /// Whether backward_input reads dy_addend.
  virtual bool takes_dy_in_parts() const { return false; }
  /// Whether backward_weight reads the output's gradient.
  virtual bool backward_weight_reads_dy() const { return false; }

  /// The size of its own memory during forward, and during each part of backward.
  virtual std::int64_t forward_scratch_bytes() const { return 0; }
  virtual std::int64_t backward_scratch_bytes() const { return 0; }

  // The tensors that it reads, in addition to the output's gradient.
  virtual Reads read_by_forward() const;
  virtual Reads read_by_backward_input(bool /*training*/) const { return {}; }
  virtual Reads read_by_backward_weight() const { return {}; }

  virtual void create_ops(ops::Backend& backend) = 0;
  virtual void load_weights(const Weights& /*weights*/) {}
  virtual std::vector<Buffer*> packed_weights() { return {}; }
  virtual void forward(const Frame& frame) const = 0;
  /// Runs forward again with the statistics that it left, and gives the same bits.
  virtual void recompute(const Frame& frame) const { forward(frame); }
  /// Computes the gradients with respect to all inputs.
  virtual void backward_input(const Frame& frame) const = 0;
  /// Computes the gradients with respect to the weights: right after backward_input in a joint backward, at any later
  /// time in a split one.
  virtual void backward_weight(const Frame& /*frame*/) const {}

 protected:
  Layer() = default;
};

}  // namespace convoy
