/// Adds layers and tensors in the order of the description.
#include "model/cell_builder.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/random.h"

namespace convoy {

Value Value::as(const Shape& shape) const {
  if (shape.count() != shape_.count())
    throw std::logic_error(
        fmt::format("the shapes {} and {} have different numbers of values", to_string(shape_), to_string(shape)));
  Value same = *this;
  same.shape_ = shape;
  tensor_->has_several_shapes = tensor_->has_several_shapes || shape != shape_;
  return same;
}

CellBuilder::CellBuilder(const CellSpec& spec) : spec_(spec), graph_(std::make_unique<CellGraph>(spec.type)) {}

Value CellBuilder::input(const Shape& x) {
  if (graph_->x != nullptr) throw std::logic_error("a cell's input comes first, and once");
  graph_->x = &graph_->tensors.emplace_back(Tensor{.spec = {x, type()}, .gradient_type = type()});
  return {*this, *graph_->x};
}

Value CellBuilder::feature(const std::string& name, const TensorSpec& spec, std::int64_t num_values) {
  Tensor& tensor = graph_->tensors.emplace_back(Tensor{.spec = spec, .gradient_type = type(), .has_gradient = false});
  const bool is_x = graph_->x == nullptr;
  if (is_x) graph_->x = &tensor;
  tensor.location = is_x ? TensorLocation{&Frame::x} : memory().feature(spec.bytes());
  graph_->features.push_back({.name = name, .spec = spec, .num_values = num_values, .location = tensor.location});
  return {*this, tensor};
}

Value CellBuilder::add(std::unique_ptr<Layer> layer, std::vector<LayerInput> inputs, const Output& output) {
  Tensor& y = graph_->tensors.emplace_back(
      Tensor{.spec = output.spec, .gradient_type = output.gradient_type.value_or(type()), .is_small = output.is_small});
  name(*layer);
  layer->inputs = std::move(inputs);
  layer->outputs = {&y};
  graph_->layers.push_back(std::move(layer));
  return {*this, y};
}

// Names the layer by its parameters: those that were added since the layer before.
void CellBuilder::name(Layer& layer) {
  const std::vector<CellMemory::Entry>& all = memory().parameters();
  if (num_named_ == all.size()) return;
  const ParameterSpec& first = all[num_named_].spec;
  constexpr std::string_view kSuffix = ".weight";
  layer.full_name = first.name.substr(0, first.name.size() - (first.name.ends_with(kSuffix) ? kSuffix.size() : 0));
  layer.weight_shape = fmt::format("{}", fmt::join(first.dims, "x"));
  num_named_ = all.size();
}

std::uint64_t CellBuilder::number_of_drawing_layer() {
  memory().need_draw_key();
  return hash_name(fmt::format("{} draws {}", spec_.name, num_drawing_layers_++));
}

bool CellBuilder::is_written(const Value& value) const {
  const auto writes = [&](const auto& layer) { return &layer->y() == &value.tensor(); };
  return value.shape() == value.tensor().spec.shape && std::ranges::any_of(graph_->layers, writes);
}

std::unique_ptr<Cell> CellBuilder::finish(const Value& y) {
  if (!is_written(y)) throw std::logic_error("no layer writes the output of the cell");
  graph_->y = &y.tensor();
  graph_->finish();
  return std::make_unique<Cell>(spec_.name, std::move(graph_));
}

}  // namespace convoy
