/// Builds a cell from the description of what it computes, in the order of the paper:
///   CellBuilder cell({.name = "layer1.0", .parameters = "layer1.0.", .type = type});
///   const Value x = cell.input(spec.x);                                               // (N,H,W,C)
///   const Value b = relu(batch_norm("bn1", convolution("conv1", x, {.num_filters = k, .kernel = 3, .padding = 1})));
///   return cell.finish(relu(batch_norm("bn2", ...) + x));
/// The parameters lie in the stage's parameter arena in the order of these calls. The functions that add a layer, such
/// as relu(), are in layers/.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "model/cell_graph.h"

namespace convoy {

class CellBuilder;

/// A handle to a tensor of the cell that is being built: the input or the output of a layer.
class Value {
 public:
  Value(CellBuilder& cell, Tensor& tensor) : cell_(&cell), tensor_(&tensor), shape_(tensor.spec.shape) {}

  CellBuilder& cell() const { return *cell_; }
  Tensor& tensor() const { return *tensor_; }
  const Shape& shape() const { return shape_; }
  /// Returns the same values in another shape of as many values. Nothing is copied. A layer takes the shape of what it
  /// reads from here: the tensor has one shape, and its readers may see others.
  Value as(const Shape& shape) const;

 private:
  CellBuilder* cell_;
  Tensor* tensor_;
  Shape shape_;
};

struct CellSpec {
  std::string name;        ///< name of the cell: "layer1.0"
  std::string parameters;  ///< prefix of the parameters' names: "layer1.0."
  DataType type = DataType::kFloat32;
};

class CellBuilder {
 public:
  explicit CellBuilder(const CellSpec& spec);

  /// Returns the cell's input, which is the output of the cell before it. Must be called first, and once: else it
  /// throws std::logic_error. A network's first cell does not call it.
  Value input(const Shape& x);
  /// Returns a feature of the samples, which the loader gives; no gradient with respect to it is computed. If the cell
  /// has no input, its first feature takes the place of the input, in Frame::x. num_values: see Feature::num_values.
  Value feature(const std::string& name, const TensorSpec& spec, std::int64_t num_values = 0);
  /// Whether a layer writes the value, in its shape, so that it can be the output of the cell.
  bool is_written(const Value& value) const;
  /// Completes the cell, whose output is y. Throws std::logic_error if no layer writes it, or if its gradients cannot
  /// be computed.
  std::unique_ptr<Cell> finish(const Value& y);

  // The functions in layers/ call these.
  CellMemory& memory() { return graph_->memory; }
  DataType type() const { return graph_->memory.type(); }
  std::string parameter_name(const std::string& name) const { return spec_.parameters + name; }
  /// Returns a number, for a layer that uses random numbers (dropout), that no other layer of the network has. The
  /// random numbers depend on it. It follows from the cell's name and the number of such layers that were added before.
  std::uint64_t number_of_drawing_layer();
  void add_objective(const std::string& name) { graph_->objectives.push_back(name); }
  struct Output {
    TensorSpec spec;
    bool is_small = false;
    std::optional<DataType> gradient_type = {};  ///< by default the cell's type
  };
  Value add(std::unique_ptr<Layer> layer, std::vector<LayerInput> inputs, const Output& output);

 private:
  void name(Layer& layer);

  CellSpec spec_;
  std::unique_ptr<CellGraph> graph_;
  std::size_t num_named_ = 0;  ///< number of parameters that belong to the layers that have been added
  std::int64_t num_drawing_layers_ = 0;
};

}  // namespace convoy
