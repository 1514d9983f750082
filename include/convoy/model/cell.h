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
#include "convoy/model/layer_watch.h"
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

/// A cell's part of the parameter arena in the type that convolutions and products read: the masters themselves if that
/// is float32, else a rounded copy with the same layout.
struct Weights {
  const std::byte* data = nullptr;
  DataType type = DataType::kFloat32;

  const void* operator[](ParameterRef p) const { return data + p.offset * size_of(type); }
};

struct TensorLocation;
struct GradientLocation;

/// All the memory of one call of a cell, and the watch that is told of its work.
struct Frame {
  std::byte* x = nullptr;                ///< read
  std::byte* y = nullptr;                ///< overwritten by forward, read by backward
  std::byte* dy = nullptr;               ///< read by backward, which may overwrite it
  const std::byte* dy_addend = nullptr;  ///< to be added to dy first; may be dx; null: nothing
  std::byte* dx = nullptr;               ///< overwritten by backward; null for the network's first cell
  bool leaves_dx_in_parts = false;       ///< true: the gradient is the sum of what backward leaves in dy and in dx
  std::byte* activations = nullptr;  ///< this cell's part, of this micro-batch; or memory that recomputed cells share
  std::byte* statistics = nullptr;   ///< this cell's part, of this micro-batch: small, and never recomputed
  /// This cell's part, of this micro-batch: the values from which the weights' gradients are computed if a backward
  /// with respect to the input comes first and one with respect to the weights later. Null if backward is not split,
  /// and in a frozen cell.
  std::byte* weight_gradient_inputs = nullptr;
  std::byte* features = nullptr;  ///< this cell's part, of this micro-batch: features of the samples other than x
  std::byte* scratch = nullptr;   ///< of the stage, for one call
  /// The key of this micro-batch for layers that draw random numbers in training; null if no cell of the chunk has any.
  const ops::DrawKey* draw_key = nullptr;
  const float* parameters = nullptr;  ///< this cell's part of the parameter arena
  Weights weights;                    ///< this cell's part of the weights, as given to load_weights()
  float* gradients = nullptr;         ///< this cell's part of this micro-batch's gradients; null if none are wanted:
                                      ///< in forward, in backward with respect to the input, and in a frozen cell
  bool training = true;               ///< false: uses running statistics, in evaluation and in a frozen cell
  LayerWatch* watch = nullptr;        ///< is told of each layer's work; null: no watch

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

/// The location of a gradient, in a joint backward and in one that is split into two parts.
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
  std::string name;  ///< "image", as in convoy/base/features.h
  TensorSpec spec;
  std::int64_t num_values = 0;  ///< for integers: each is in 0..num_values-1, or counts for nothing
  TensorLocation location;
};

/// The memory that layers ask for while a cell is built. Every offset is a multiple of 64 bytes.
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
  /// Asks for scratch memory. Forward and backward each lay out their own; the larger size counts.
  void need_scratch(std::int64_t bytes) { scratch_bytes_ = std::max(scratch_bytes_, bytes); }
  void need_draw_key() { needs_draw_key_ = true; }
  /// Forgets the memory of activations and for backward, the scratch (to be laid out anew) and the need for a draw key.
  void drop_backward();
  void add_flop(const LayerFlop& flop) { forward_flop_ += flop.forward, backward_flop_ += flop.backward(); }

  struct Entry {
    ParameterSpec spec;
    ParameterRef ref;
  };
  const std::vector<Entry>& parameters() const { return parameters_; }
  std::vector<Entry>& parameters() { return parameters_; }
  std::int64_t arena_count() const { return arena_count_; }  ///< floats, padding included
  std::int64_t feature_bytes() const { return feature_bytes_; }
  std::int64_t activation_bytes() const { return activation_bytes_; }
  std::int64_t statistic_bytes() const { return statistic_bytes_; }
  std::int64_t weight_gradient_input_bytes() const { return weight_gradient_input_bytes_; }
  std::int64_t scratch_bytes() const { return scratch_bytes_; }
  bool needs_draw_key() const { return needs_draw_key_; }  ///< whether a layer draws random numbers
  double forward_flop() const { return forward_flop_; }    ///< floating-point operations per micro-batch
  /// Floating-point operations of backward per micro-batch: with respect to the input, if that gradient is wanted, and
  /// to the weights.
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

/// One cell: y = cell(x); dx, dparameters = backward(dy). Shapes include the micro-batch's size. A CellBuilder makes it
/// from the description of what it computes; everything below follows from that.
class Cell {
 public:
  Cell(std::string name, std::unique_ptr<CellGraph> graph);
  ~Cell();
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  const std::string& name() const { return name_; }
  const TensorSpec& x() const;  ///< input; for a cell without an input its first feature
  const TensorSpec& y() const;
  TensorSpec dx() const;  ///< has the network's type, like all gradients of activations but those of scores
  TensorSpec dy() const;
  const CellMemory& memory() const;
  /// The features of the samples that the cell reads.
  const std::vector<Feature>& features() const;
  /// The cell's layers in the order of forward.
  std::vector<LayerInfo> layers() const;
  /// The names of the cell's objectives if y is not logits but their scores, (O,N,1,3) float32 as ops::SampleScore.
  /// Else empty.
  const std::vector<std::string>& objectives() const;

  /// Freezes the parameters and statistics whose names `wanted` accepts. If no trained parameter is left, the whole
  /// cell is frozen: batch norm then uses its running statistics, which do not change, in training too.
  void freeze(const std::function<bool(const std::string& name)>& wanted);
  bool is_frozen() const { return frozen_; }
  /// Sets the factor of each parameter's learning rate to factor(its name).
  void set_rates(const std::function<double(const std::string& name)>& factor);

  /// For a network that is only evaluated: neither backward, recompute nor a forward in training may be called any
  /// more. Nothing is kept for them, and convolutions are planned without them. Forward gives the same bits as before.
  void drop_backward();
  bool has_backward() const;

  /// Creates the operations on a device. Must be called before the functions below; may be called again for another
  /// device.
  void create_ops(ops::Backend& backend);
  /// Tells the operations that the parameters (this cell's part of the arena) have changed.
  void load_weights(const Weights& weights);
  /// The operations' own copies of the weights (ops::ConvolutionOp::packed_weights()), always in the same order.
  std::vector<Buffer*> packed_weights() const;
  /// Computes y = cell(x): reads frame.x and overwrites frame.y.
  void forward(const Frame& frame) const;
  /// Computes again, with the same bits, the activations that the backward of this frame reads. For a frame after
  /// forward whose activations have been overwritten.
  void recompute(const Frame& frame) const;
  /// Whether backward can take dy as a sum of two parts, Frame::dy and Frame::dy_addend; and whether it can leave dx as
  /// a sum of two parts, for the cell before to add. This saves a pass over memory, and gives the same bits.
  bool takes_dy_in_parts() const;
  bool can_leave_dx_in_parts() const;
  /// Computes the gradients; x and y must be those of forward. Consumes dy and overwrites dx. Overwrites every gradient
  /// of the cell's parameters, unless the cell is frozen. If the frame splits backward, computes only dx, and stores
  /// what backward_weight needs.
  void backward(const Frame& frame) const;
  /// Computes the gradients of the parameters after a split backward with the same frame. They are overwritten, with
  /// the bits that a joint backward gives. Not for frozen cells.
  void backward_weight(const Frame& frame) const;

 private:
  std::string name_;
  std::unique_ptr<CellGraph> graph_;
  bool frozen_ = false;
};

}  // namespace convoy
