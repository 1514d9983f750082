/// Builds a cell from the description of what it computes, in the order of the paper:
///   CellBuilder cell({.name = "layer1.0", .parameters = "layer1.0.", .type = type});
///   const Value x = cell.input(spec.x);                                               // (N,H,W,C)
///   const Value b = relu(batch_norm("bn1", convolution("conv1", x, {.num_filters = k, .kernel = 3, .padding = 1})));
///   return cell.finish(relu(batch_norm("bn2", ...) + x));
/// The order of the parameters in the arena is that of the calls. layers/ holds the functions that return values.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "model/cell_graph.h"

namespace convoy {

class CellBuilder;

/// A value of the cell that is being built.
class Value {
 public:
  Value(CellBuilder& cell, Tensor& tensor) : cell_(&cell), tensor_(&tensor) {}

  CellBuilder& cell() const { return *cell_; }
  Tensor& tensor() const { return *tensor_; }
  const Shape& shape() const { return tensor_->spec.shape; }

 private:
  CellBuilder* cell_;
  Tensor* tensor_;
};

struct CellSpec {
  std::string name;        ///< "layer1.0"
  std::string parameters;  ///< prefix of the parameters' names: "layer1.0."
  DataType type = DataType::kFloat32;
};

class CellBuilder {
 public:
  explicit CellBuilder(const CellSpec& spec);

  /// The output of the cell before.
  Value input(const Shape& x);
  /// A feature of the samples, which the loader gives; its gradient is not wanted. The network's first cell has no
  /// input; its first feature is located there. num_values: see Feature.
  Value feature(const std::string& name, const TensorSpec& spec, std::int64_t num_values = 0);
  /// Completes the cell, whose output is y. Throws std::logic_error if its gradients cannot be computed.
  std::unique_ptr<Cell> finish(const Value& y);

  // The functions in layers/ call these.
  CellMemory& memory() { return graph_->memory; }
  DataType type() const { return graph_->memory.type(); }
  std::string parameter_name(const std::string& name) const { return spec_.parameters + name; }
  /// The number by which a layer that draws random numbers differs from all others of the network. It is a part of the
  /// results: it follows from the cell's name and the number of such layers before it in the cell.
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
  std::size_t num_named_ = 0;  ///< number of parameters that belong to the layers so far
  std::int64_t num_drawing_layers_ = 0;
};

}  // namespace convoy
