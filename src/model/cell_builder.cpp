/// Layers and tensors in the order of the description.
#include "model/cell_builder.h"

#include <stdexcept>

#include <fmt/format.h>

namespace convoy {

CellBuilder::CellBuilder(const CellSpec& spec) : spec_(spec), graph_(std::make_unique<CellGraph>(spec.type)) {}

Value CellBuilder::input(const Shape& x, bool has_gradient) {
  graph_->x = &graph_->tensors.emplace_back(Tensor{.shape = x, .type = type(), .has_gradient = has_gradient});
  return {*this, *graph_->x};
}

Value CellBuilder::add(std::unique_ptr<Layer> layer, std::vector<LayerInput> inputs, const Output& output) {
  Tensor& y =
      graph_->tensors.emplace_back(Tensor{.shape = output.shape, .type = output.type, .is_small = output.is_small});
  layer->inputs = std::move(inputs);
  layer->outputs = {&y};
  graph_->layers.push_back(std::move(layer));
  return {*this, y};
}

std::unique_ptr<Cell> CellBuilder::finish(const Value& y) {
  graph_->y = &y.tensor();
  graph_->finish();
  return std::make_unique<Cell>(spec_.name, std::move(graph_));
}

}  // namespace convoy
