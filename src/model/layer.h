/// What a cell is made of: tensors, and layers that each bind one operation of the device to the tensors that it reads
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

/// A value inside a cell: what the cell reads, or what a layer gives.
struct Tensor {
  TensorSpec spec;
  DataType gradient_type = DataType::kFloat32;
  bool has_gradient = true;   ///< whether anybody asks for its gradient
  bool is_small = false;      ///< stored with the statistics: never computed again
  Layer* producer = nullptr;  ///< null: what the cell reads
  std::vector<Layer*> readers;
  TensorLocation location;
  const GradientLocation* gradient = nullptr;  ///< of the sum over all readers, where the producer's backward reads it
};

/// How a layer's backward gives the gradient with respect to an input, dx, from that of its output, dy.
enum class GradientRule {
  kNone,        ///< not at all
  kWrites,      ///< writes dx to memory of its own
  kMayReplace,  ///< writes dx to memory of its own or over dy
  kReplaces,    ///< writes dx over dy
  kIsTheSame,   ///< does nothing: dx is dy
  kAdds,        ///< adds to what other readers of the input have written before
};

struct LayerInput {
  Tensor* tensor = nullptr;
  GradientRule rule = GradientRule::kWrites;
  bool can_add = false;  ///< backward can write the sum of this part and of what other readers have written before
  const GradientLocation* dx = nullptr;      ///< where the layer writes its part of the tensor's gradient, or adds to
  const GradientLocation* addend = nullptr;  ///< what it adds to dx, maybe there already; null: nothing
};

/// The tensors that a layer reads, in some direction.
using Reads = std::vector<const Tensor*>;

/// y = layer(x, ...), with backward beside forward. Memory and order of calls are given to it.
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
  /// Of dx; null: none.
  const std::byte* addend(const Frame& frame) const {
    const GradientLocation* location = inputs.front().addend;
    return location == nullptr ? nullptr : frame[*location];
  }
  /// Of dy; null: none.
  const std::byte* dy_addend(const Frame& frame) const {
    return y().location.part == &Frame::y ? frame.dy_addend : nullptr;
  }
  TensorLocation forward_scratch, backward_scratch;  ///< memory of its own during a call, where it asks for some
  std::string full_name, weight_shape;               ///< as LayerInfo has them
  std::size_t number = 0;                            ///< in the order of forward, once the cell is complete

  /// "convolution"
  virtual std::string operation() const = 0;
  /// Once the cell is complete. `is_split`: whether backward comes in two parts.
  virtual LayerFlop flop(bool /*is_split*/) const { return {}; }

  // Called in this order when the cell is complete.
  /// Takes over the work of `next`, which alone reads this layer's output, where one operation does both.
  virtual bool merge(Layer& /*next*/) { return false; }
  /// A layer for the work of both this one and `next`, which alone reads this one's output, with its inputs set; null
  /// where there is none. Asked when nothing is left to be merged.
  virtual std::unique_ptr<Layer> fused_with(Layer& /*next*/) { return nullptr; }
  /// Takes over what follows from the layers around it.
  virtual void connect(CellGraph& /*graph*/) {}
  /// From now on only forward will be called.
  virtual void drop_backward() {}

  virtual bool has_weights() const { return false; }
  /// Whether backward_input changes the output's gradient, which backward_weight then reads as it is.
  virtual bool overwrites_dy() const { return false; }
  /// Whether backward_input reads dy_addend.
  virtual bool takes_dy_in_parts() const { return false; }
  /// Whether backward_weight reads the output's gradient.
  virtual bool backward_weight_reads_dy() const { return false; }

  /// Of memory that nobody else touches during forward, or during each part of backward.
  virtual std::int64_t forward_scratch_bytes() const { return 0; }
  virtual std::int64_t backward_scratch_bytes() const { return 0; }

  // Beside the output's gradient.
  virtual Reads read_by_forward() const;
  virtual Reads read_by_backward_input(bool /*training*/) const { return {}; }
  virtual Reads read_by_backward_weight() const { return {}; }

  virtual void create_ops(ops::Backend& backend) = 0;
  virtual void load_weights(const Weights& /*weights*/) {}
  virtual std::vector<Buffer*> packed_weights() { return {}; }
  virtual void forward(const Frame& frame) const = 0;
  /// forward once more, with the statistics that it left: the same bits.
  virtual void recompute(const Frame& frame) const { forward(frame); }
  /// The gradients with respect to all inputs.
  virtual void backward_input(const Frame& frame) const = 0;
  /// Right after backward_input in a joint backward, any time later in one of two parts.
  virtual void backward_weight(const Frame& /*frame*/) const {}

 protected:
  Layer() = default;
};

}  // namespace convoy
