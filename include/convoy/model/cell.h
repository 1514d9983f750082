/// A cell is the smallest unit that the partitioner gives to a stage: the stem, a residual block, the head. It knows
/// its layers, its parameters and its memory before any device is there; create_ops() then gives it a device's
/// operations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "convoy/base/features.h"
#include "convoy/base/tensor_spec.h"
#include "convoy/model/layer_watch.h"
#include "convoy/model/parameter.h"
#include "convoy/ops/backend.h"

namespace convoy {

/// One of the cell's parameters: its offset in floats within the cell's part of the arena.
struct ParameterRef {
  std::int64_t offset = 0;
};

/// A cell's part of the parameter arena in the type that convolutions and products read: the masters themselves where
/// that is float32, else a rounded copy with the same layout.
struct Weights {
  const std::byte* data = nullptr;
  DataType type = DataType::kFloat32;

  const void* operator[](ParameterRef p) const { return data + p.offset * size_of(type); }
};

struct TensorLocation;
struct GradientLocation;

/// All the memory of one call of a cell, and who watches it.
struct Frame {
  std::byte* x = nullptr;                ///< read
  std::byte* y = nullptr;                ///< overwritten by forward, read by backward
  std::byte* dy = nullptr;               ///< read by backward, which may overwrite it
  const std::byte* dy_addend = nullptr;  ///< what is to be added to dy first; may be dx; null: nothing
  std::byte* dx = nullptr;               ///< overwritten by backward; null for the network's first cell
  bool leaves_dx_in_parts = false;       ///< the gradient is then the sum of what backward leaves in dy and in dx
  std::byte* activations = nullptr;      ///< this cell's part, of this micro-batch; or what recomputed cells share
  std::byte* statistics = nullptr;       ///< this cell's part, of this micro-batch: small, and never recomputed
  /// This cell's part, of this micro-batch: what the weights' gradients are computed from, where a backward with
  /// respect to the input comes first and one with respect to the weights later. Null where backward is one, and in a
  /// frozen cell.
  std::byte* weight_gradient_inputs = nullptr;
  std::byte* features = nullptr;  ///< this cell's part, of this micro-batch: what it reads of the samples beside x
  std::byte* scratch = nullptr;   ///< the stage's, for one call
  /// Of this micro-batch, for layers that draw random numbers in training; null where no cell of the chunk does.
  const ops::DrawKey* draw_key = nullptr;
  const float* parameters = nullptr;  ///< this cell's part of the parameter arena
  Weights weights;                    ///< likewise, as load_weights() had them
  float* gradients = nullptr;         ///< this cell's part of this micro-batch's gradients; null where none are wanted:
                                      ///< in forward, in backward with respect to the input, and in a frozen cell
  bool training = true;               ///< false: running statistics, in evaluation and in a frozen cell
  LayerWatch* watch = nullptr;        ///< is told of each layer's work; null: nobody is

  bool splits_backward() const { return weight_gradient_inputs != nullptr; }
  std::byte* operator[](const TensorLocation& location) const;
  std::byte* operator[](const GradientLocation& location) const;
  const float* operator[](ParameterRef p) const { return parameters + p.offset; }
  float* gradient(ParameterRef p) const { return gradients + p.offset; }
};

/// Where a tensor lies in a cell's memory.
struct TensorLocation {
  std::byte* Frame::*part = nullptr;
  std::int64_t offset_bytes = 0;

  bool operator==(const TensorLocation&) const = default;
};

/// Where a gradient lies: in a backward that is one, and in one of two parts.
struct GradientLocation {
  TensorLocation joint, split;
};

inline std::byte* Frame::operator[](const TensorLocation& location) const {
  return this->*location.part + location.offset_bytes;
}
inline std::byte* Frame::operator[](const GradientLocation& location) const {
  return (*this)[splits_backward() ? location.split : location.joint];
}

/// What a cell reads of the micro-batch's samples: the stage that holds the cell has it loaded.
struct Feature {
  std::string name;  ///< image
  TensorSpec spec;
  std::int64_t num_values = 0;  ///< of integers: each is one of 0..num_values-1, or counts for nothing
  TensorLocation location;
};

/// What layers ask for while a cell is put together. Every offset is a multiple of 64 bytes.
class CellMemory {
 public:
  explicit CellMemory(DataType type) : type_(type) {}

  /// Of activations and their gradients, and of the weights that they meet.
  DataType type() const { return type_; }
  ParameterRef parameter(ParameterSpec spec);
  TensorLocation feature(std::int64_t bytes) { return {&Frame::features, reserve(feature_bytes_, bytes)}; }
  TensorLocation activation(std::int64_t bytes) { return {&Frame::activations, reserve(activation_bytes_, bytes)}; }
  TensorLocation statistic(std::int64_t bytes) { return {&Frame::statistics, reserve(statistic_bytes_, bytes)}; }
  TensorLocation weight_gradient_input(std::int64_t bytes) {
    return {&Frame::weight_gradient_inputs, reserve(weight_gradient_input_bytes_, bytes)};
  }
  /// Forward and backward each lay out their scratch; the larger counts.
  void need_scratch(std::int64_t bytes) { scratch_bytes_ = std::max(scratch_bytes_, bytes); }
  void need_draw_key() { needs_draw_key_ = true; }
  /// Nothing is kept for backward, nothing is drawn, and scratch is laid out anew.
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
  bool needs_draw_key() const { return needs_draw_key_; }  ///< a layer draws random numbers
  double forward_flop() const { return forward_flop_; }    ///< of one micro-batch
  /// With respect to the input, where it is asked for, and to the weights.
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

/// y = cell(x); dx, dparameters = backward(dy). Shapes carry the micro-batch's size. Made by a CellBuilder from the
/// description of what it computes; everything below follows from that.
class Cell {
 public:
  Cell(std::string name, std::unique_ptr<CellGraph> graph);
  ~Cell();
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  const std::string& name() const { return name_; }
  const TensorSpec& x() const;  ///< of a cell without an input: its first feature
  const TensorSpec& y() const;
  TensorSpec dx() const;  ///< of the network's type, like all gradients of activations but those of scores
  TensorSpec dy() const;
  const CellMemory& memory() const;
  /// What it reads of the samples.
  const std::vector<Feature>& features() const;
  /// In the order of forward.
  std::vector<LayerInfo> layers() const;
  /// Where y is not logits but the scores of what the network is trained for, (O,N,1,3) float32 as ops::SampleScore:
  /// their names. Else empty.
  const std::vector<std::string>& objectives() const;

  /// Freezes the parameters and statistics whose names `wanted` accepts; where that is all that is trained here, the
  /// cell: batch norm then uses its running statistics, which do not change, in training too.
  void freeze(const std::function<bool(const std::string& name)>& wanted);
  bool is_frozen() const { return frozen_; }
  /// Gives each parameter the factor of its learning rate.
  void set_rates(const std::function<double(const std::string& name)>& factor);

  /// For a network that is only evaluated: from now on neither backward, recompute nor a forward in training may be
  /// called. Nothing is kept for them, and convolutions are planned without them. Forward keeps its bits.
  void drop_backward();
  bool has_backward() const;

  /// Creates the operations, before anything below; again for another device.
  void create_ops(ops::Backend& backend);
  /// Tells the operations that the parameters (this cell's part of the arena) have changed.
  void load_weights(const Weights& weights);
  /// The operations' own copies of them, as ops::ConvolutionOp::packed_weights() has them; always in the same order.
  std::vector<Buffer*> packed_weights() const;
  /// x read, y overwritten.
  void forward(const Frame& frame) const;
  /// After forward with this frame, when its activations have been overwritten: fills again those that the backward of
  /// this frame reads, with the same bits.
  void recompute(const Frame& frame) const;
  /// Whether backward can take dy in two parts, in Frame::dy and Frame::dy_addend; and whether it can leave the
  /// gradient with respect to x in two, for the cell before to add: it saves a pass over memory, and gives the same
  /// bits.
  bool takes_dy_in_parts() const;
  bool can_leave_dx_in_parts() const;
  /// x and y as in forward; dy is consumed; dx overwritten. Every gradient of the cell's parameters is overwritten,
  /// unless the cell is frozen. Where the frame splits backward, only dx is computed, and what backward_weight needs is
  /// stored.
  void backward(const Frame& frame) const;
  /// After the backward with respect to the input with the same frame, but for the gradients: they are overwritten,
  /// with the bits that the joint backward gives them. Not for frozen cells.
  void backward_weight(const Frame& frame) const;

 private:
  std::string name_;
  std::unique_ptr<CellGraph> graph_;
  bool frozen_ = false;
};

}  // namespace convoy
