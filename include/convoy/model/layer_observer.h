/// Describes a cell's layers, and defines an interface through which a profile learns when each layer works.
#pragma once

#include <cstddef>
#include <string>

#include "convoy/base/tensor_spec.h"

namespace convoy {

class Cell;

/// The kinds of work of a layer.
enum class LayerWork {
  kForward,
  kRecompute,
  kInputGradient,
  kWeightGradient,
  kGradientSum,  ///< sum of the gradients of a tensor that several layers read, computed after a layer's gradient of x
};

/// The name of a kind of work: "forward", "recomputing", "gradient of x", "gradient of w" or "sum of gradients".
const char* name_of(LayerWork work);

/// Floating-point operations of a layer's matrix products and convolutions per micro-batch; a multiply-add counts as
/// two. 0 in layers without products.
struct LayerFlop {
  double forward = 0, input_gradient = 0, weight_gradient = 0;

  double backward() const { return input_gradient + weight_gradient; }
  double of(LayerWork work) const;  ///< floating-point operations of this kind of work; 0 for kGradientSum
};

/// The description of a layer for people.
struct LayerInfo {
  std::string operation;  ///< name of the operation: "convolution"
  /// Common prefix of its parameters' names, "layer1.0.conv1". A layer that does the work of two has both:
  /// "layer2.0.downsample.1 + layer2.0.bn2". Empty if it has no parameters.
  std::string name;
  std::string weight_shape;  ///< shape of its first parameter: "64x64x3x3"; empty if it has no parameters
  TensorSpec x, y;
  LayerFlop flop;        ///< operations if backward computes the gradients of x and w in one call
  LayerFlop split_flop;  ///< operations if backward is split: first the gradient of x, later that of w
};

/// An observer that is told of a cell's work when the cell issues it to the device.
class LayerObserver {
 public:
  virtual ~LayerObserver() = default;
  /// Called when a call of the cell begins: forward, recompute, or backward. A backward in two parts is two calls.
  virtual void begin_cell(const Cell& cell) = 0;
  /// Called when the cell has issued work of a layer; `layer` is its index in Cell::layers(). The work began when the
  /// work before it ended, or with begin_cell(). `is_split` says whether the call belongs to a backward in two parts.
  virtual void end_layer(std::size_t layer, LayerWork work, bool is_split) = 0;
};

}  // namespace convoy
