/// Descriptions of a cell's layers, and an interface that is told of their work while they compute. So a profile finds
/// out how a step's time is spent.
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
  kGradientSum,  ///< after its gradient of x: adds the gradients of a tensor that several layers read
};

/// The name of a kind of work: "forward", "recomputing", "gradient of x", "gradient of w", "sum of gradients".
const char* name_of(LayerWork work);

/// Floating-point operations of a layer's matrix products per micro-batch; a multiply-add counts as two. 0 in layers
/// without products.
struct LayerFlop {
  double forward = 0, input_gradient = 0, weight_gradient = 0;

  double backward() const { return input_gradient + weight_gradient; }
  double of(LayerWork work) const;  ///< 0 for sums
};

/// The description of a layer for people.
struct LayerInfo {
  std::string operation;     ///< "convolution"
  std::string name;          ///< common prefix of its parameters' names: layer1.0.conv1; for two layers in one
                             ///< "layer2.0.downsample.1 + layer2.0.bn2"; empty if it has no parameters
  std::string weight_shape;  ///< of its first parameter: 64x64x3x3; empty if it has no parameters
  TensorSpec x, y;
  LayerFlop flop;        ///< if backward is joint
  LayerFlop split_flop;  ///< if the gradient of x comes first and that of w later
};

/// An object that is told of a cell's work while the cell issues it.
class LayerWatch {
 public:
  virtual ~LayerWatch() = default;
  /// A call of the cell begins.
  virtual void begin_cell(const Cell& cell) = 0;
  /// The work of layer number `layer` (in Cell::layers()) has been issued; it began when the work before ended.
  /// `is_split` says whether this is a backward in two parts.
  virtual void end_layer(std::size_t layer, LayerWork work, bool is_split) = 0;
};

}  // namespace convoy
