/// A cell is the smallest unit that the partitioner gives to a stage: the stem, a residual block, the head. It knows
/// its layers, its parameters and its memory before any device exists; create_ops() then gives it the operations of a
/// device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "convoy/base/data_type.h"
#include "convoy/base/tensor_spec.h"
#include "convoy/device/device.h"
#include "convoy/model/layer_observer.h"
#include "convoy/model/parameter.h"
#include "convoy/ops/backend.h"

namespace convoy {

namespace ops {
struct DrawKey;
}

/// A parameter of a cell: its offset in floats within the cell's part of the arena.
struct ParameterRef {
  std::int64_t offset = 0;
};

/// The weights of a cell in the type that convolutions and matrix products read: the float32 parameters in the arena
/// themselves, or, if the type has 16 bits, a rounded copy with the same layout.
struct Weights {
  const std::byte* data = nullptr;
  DataType type = DataType::kFloat32;

  const void* operator[](ParameterRef p) const { return data + p.offset * size_of(type); }
};

struct TensorLocation;
struct GradientLocation;

/// The memory of one call of a cell (forward, recompute, backward or backward_weight), and the observer that is told of
/// its work. All memory is the device's; "this cell's part" is the cell's range of an array that all cells of the stage
/// share.
struct Frame {
  std::byte* x = nullptr;  ///< input of the cell, which forward and backward read
  std::byte* y = nullptr;  ///< output of the cell, overwritten by forward and read by backward
  /// Gradient with respect to y, or one of its two parts if dy_addend is set. Backward reads it and may overwrite it.
  std::byte* dy = nullptr;
  /// Second part of the gradient with respect to y, which backward adds to dy first; may be dx; null: dy is all.
  const std::byte* dy_addend = nullptr;
  std::byte* dx = nullptr;  ///< gradient with respect to x, overwritten by backward; null for the network's first cell
  /// True: the gradient with respect to x is the sum of dy and dx as backward leaves them, which the caller must add.
  bool leaves_dx_in_parts = false;
  /// Tensors that backward needs: this cell's part for this micro-batch, or memory that all recomputed cells share.
  std::byte* activations = nullptr;
  /// Small tensors, such as means, that are never recomputed: this cell's part for this micro-batch.
  std::byte* statistics = nullptr;
  /// Values from which backward_weight() computes the gradients of the weights if backward is split: this cell's part
  /// for this micro-batch. Null if backward is not split, and in a frozen cell.
  std::byte* weight_gradient_inputs = nullptr;
  /// Features of the samples other than x, such as lengths: this cell's part for this micro-batch.
  std::byte* features = nullptr;
  std::byte* scratch = nullptr;  ///< scratch memory of the stage, valid during one call only
  /// The key of this micro-batch's random numbers, for dropout and other random layers in training. Null if no cell of
  /// the chunk has such a layer.
  const ops::DrawKey* draw_key = nullptr;
  const float* parameters = nullptr;  ///< float32 parameters: this cell's part of the arena
  Weights weights;  ///< weights in the type that products read, this cell's part: the argument of load_weights()
  /// Gradients of the parameters: this cell's part for this micro-batch. Null if none are computed: in forward, in a
  /// backward with respect to the input only, and in a frozen cell.
  float* gradients = nullptr;
  bool training = true;  ///< false in evaluation and in a frozen cell: batch normalisation uses its running statistics
  LayerObserver* observer = nullptr;  ///< told of each layer's work; null: no observer

  bool splits_backward() const { return weight_gradient_inputs != nullptr; }
  std::byte* operator[](const TensorLocation& location) const;
  std::byte* operator[](const GradientLocation& location) const;
  const float* operator[](ParameterRef p) const { return parameters + p.offset; }
  float* gradient(ParameterRef p) const { return gradients + p.offset; }
};

/// The location of a tensor in a cell's memory.
struct TensorLocation {
  std::byte* Frame::*part = nullptr;
  std::int64_t offset_bytes = 0;

  bool operator==(const TensorLocation&) const = default;
};

/// The location of a gradient: in a joint backward, and in one that is split into backward with respect to the input
/// and to the weights.
struct GradientLocation {
  TensorLocation joint, split;
};

inline std::byte* Frame::operator[](const TensorLocation& location) const {
  return this->*location.part + location.offset_bytes;
}
inline std::byte* Frame::operator[](const GradientLocation& location) const {
  return (*this)[splits_backward() ? location.split : location.joint];
}

/// A feature of the micro-batch's samples that a cell reads; the stage that holds the cell loads it.
struct Feature {
  std::string name;  ///< a name of convoy/base/features.h: "image"
  TensorSpec spec;
  /// Integer features: each value is in 0..num_values-1, or marks padding; 0 for floating-point features.
  std::int64_t num_values = 0;
  TensorLocation location;
};

/// The memory that the layers of a cell request while the cell is built. A CellMemory counts sizes and hands out
/// offsets, multiples of 64 bytes; it allocates nothing.
class CellMemory {
 public:
  explicit CellMemory(DataType type) : type_(type) {}

  /// The type of activations, of their gradients, and of the weights that they are multiplied by.
  DataType type() const { return type_; }
  ParameterRef parameter(ParameterSpec spec);
  TensorLocation feature(std::int64_t bytes) { return {&Frame::features, reserve(feature_bytes_, bytes)}; }
  TensorLocation activation(std::int64_t bytes) { return {&Frame::activations, reserve(activation_bytes_, bytes)}; }
  TensorLocation statistic(std::int64_t bytes) { return {&Frame::statistics, reserve(statistic_bytes_, bytes)}; }
  TensorLocation weight_gradient_input(std::int64_t bytes) {
    return {&Frame::weight_gradient_inputs, reserve(weight_gradient_input_bytes_, bytes)};
  }
  /// Requests scratch memory for one call. Each call of the cell uses the same scratch, so its size is the largest
  /// request.
  void need_scratch(std::int64_t bytes) { scratch_bytes_ = std::max(scratch_bytes_, bytes); }
  void need_draw_key() { needs_draw_key_ = true; }
  /// Sets the sizes of activations, of what backward_weight() needs and of scratch to 0, and forgets that a draw key is
  /// needed. The caller requests new scratch for forward.
  void drop_backward();
  void add_flop(const LayerFlop& flop) { forward_flop_ += flop.forward, backward_flop_ += flop.backward(); }

  struct Entry {
    ParameterSpec spec;
    ParameterRef ref;
  };
  const std::vector<Entry>& parameters() const { return parameters_; }
  std::vector<Entry>& parameters() { return parameters_; }
  /// Number of floats of the cell's parameters in the arena, padding included.
  std::int64_t arena_count() const { return arena_count_; }
  std::int64_t feature_bytes() const { return feature_bytes_; }
  std::int64_t activation_bytes() const { return activation_bytes_; }
  std::int64_t statistic_bytes() const { return statistic_bytes_; }
  std::int64_t weight_gradient_input_bytes() const { return weight_gradient_input_bytes_; }
  std::int64_t scratch_bytes() const { return scratch_bytes_; }
  bool needs_draw_key() const { return needs_draw_key_; }  ///< whether a layer needs random numbers
  double forward_flop() const { return forward_flop_; }    ///< floating-point operations of forward per micro-batch
  /// Floating-point operations of backward per micro-batch: the gradients with respect to the input, if it is wanted,
  /// and to the weights.
  double backward_flop() const { return backward_flop_; }

 private:
  static std::int64_t reserve(std::int64_t& total_bytes, std::int64_t size_bytes);

  DataType type_;
  std::vector<Entry> parameters_;
  std::int64_t arena_count_ = 0, feature_bytes_ = 0, activation_bytes_ = 0, statistic_bytes_ = 0,
               weight_gradient_input_bytes_ = 0, scratch_bytes_ = 0;
  bool needs_draw_key_ = false;
  double forward_flop_ = 0, backward_flop_ = 0;
};

class CellGraph;

/// One cell: y = cell(x); dx, dparameters = backward(dy). Shapes include the micro-batch's size. A CellBuilder
/// (model/cell_builder.h) makes it from a description of its layers.
class Cell {
 public:
  Cell(std::string name, std::unique_ptr<CellGraph> graph);
  ~Cell();
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  const std::string& name() const { return name_; }
  const TensorSpec& x() const;  ///< shape and type of the input; for a cell without an input, of its first feature
  const TensorSpec& y() const;
  /// Shape of x, with the network's type, as all gradients of activations except those of scores.
  TensorSpec dx() const;
  TensorSpec dy() const;
  const CellMemory& memory() const;
  /// The features of the samples (tokens, lengths, labels ...) that the cell reads.
  const std::vector<Feature>& features() const;
  /// The cell's layers in the order of forward.
  std::vector<LayerInfo> layers() const;
  /// The names of the cell's objectives (losses) if y holds their scores, (O,N,1,3) float32, each as ops::SampleScore.
  /// Empty if y holds logits or activations.
  const std::vector<std::string>& objectives() const;

  /// Freezes the parameters and statistics whose names `wanted` accepts. If no trained parameter is left, the whole
  /// cell is frozen: batch norm then uses its running statistics, which do not change, in training too.
  void freeze(const std::function<bool(const std::string& name)>& wanted);
  bool is_frozen() const { return frozen_; }
  /// Sets the factor of each parameter's learning rate to factor(its name).
  void set_rates(const std::function<double(const std::string& name)>& factor);

  /// Prepares the cell for evaluation only: afterwards neither backward, recompute nor a forward in training may be
  /// called. The memory that they need is given up, and operations are created without backward. Forward gives the same
  /// bits as before. Called before create_ops().
  void drop_backward();
  bool has_backward() const;

  /// Creates the operations on a device. Must be called before load_weights(), forward(), recompute() and backward().
  /// May be called again, for another device.
  void create_ops(ops::Backend& backend);
  /// Tells the operations that the parameters have changed. `weights` are those of this cell.
  void load_weights(const Weights& weights);
  /// The operations' own copies of the weights (ops::ConvolutionOp::packed_weights()), always in the same order.
  std::vector<Buffer*> packed_weights() const;
  /// Computes y = cell(x): reads frame.x and overwrites frame.y.
  void forward(const Frame& frame) const;
  /// Computes again, with the same bits, the activations that backward reads, after other micro-batches have
  /// overwritten them. The frame is that of an earlier forward.
  void recompute(const Frame& frame) const;
  /// Whether backward can take dy as a sum of two parts, Frame::dy and Frame::dy_addend. This saves a pass over memory,
  /// and gives the same bits.
  bool takes_dy_in_parts() const;
  /// Whether backward can leave dx as a sum of two parts, in Frame::dy and Frame::dx, which the cell before adds. This
  /// saves a pass over memory, and gives the same bits.
  bool can_leave_dx_in_parts() const;
  /// Computes the gradients. x and y of the frame must be those of forward. Consumes dy, and overwrites dx and every
  /// gradient of the cell's parameters, unless the cell is frozen. If frame.splits_backward(), computes only dx, and
  /// stores in the frame what backward_weight() needs.
  void backward(const Frame& frame) const;
  /// Computes the gradients of the parameters, after a backward of the same frame that computed only dx. Overwrites
  /// them with the same bits as a joint backward. Not for frozen cells.
  void backward_weight(const Frame& frame) const;

 private:
  std::string name_;
  std::unique_ptr<CellGraph> graph_;
  bool frozen_ = false;
};

}  // namespace convoy
