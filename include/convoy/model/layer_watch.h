/// What a cell's layers are, and who is told while they compute: how a profile finds out where a step's time goes.
#pragma once

#include <cstddef>
#include <string>

#include "convoy/base/tensor_spec.h"

namespace convoy {

class Cell;

/// What a layer can be asked for.
enum class LayerWork {
  kForward,
  kRecompute,
  kInputGradient,
  kWeightGradient,
  kGradientSum,  ///< after its gradient of x: of the gradients of a tensor that several layers read
};

/// "forward", "recomputing", "gradient of x", "gradient of w", "sum of gradients".
const char* name_of(LayerWork work);

/// Floating-point operations of a layer's matrix products, of one micro-batch: a multiply-add is two. 0 in layers
/// without products.
struct LayerFlop {
  double forward = 0, input_gradient = 0, weight_gradient = 0;

  double backward() const { return input_gradient + weight_gradient; }
  double of(LayerWork work) const;  ///< 0 of sums
};

/// A layer as people see it.
struct LayerInfo {
  std::string operation;     ///< convolution
  std::string name;          ///< what the names of its parameters begin with: layer1.0.conv1; of two layers in one
                             ///< "layer2.0.downsample.1 + layer2.0.bn2"; empty where it has none
  std::string weight_shape;  ///< of the first of them: 64x64x3x3; empty likewise
  TensorSpec x, y;
  LayerFlop flop;        ///< where backward is one
  LayerFlop split_flop;  ///< where the gradient of x comes first and that of w later
};

/// Is told of a cell's work while the cell issues it.
class LayerWatch {
 public:
  virtual ~LayerWatch() = default;
  /// A call of the cell begins.
  virtual void begin_cell(const Cell& cell) = 0;
  /// The work of its layer of this number (of Cell::layers()) was issued; it began where the work before ended.
  /// `is_split`: in a backward of two parts.
  virtual void end_layer(std::size_t layer, LayerWork work, bool is_split) = 0;
};

}  // namespace convoy
