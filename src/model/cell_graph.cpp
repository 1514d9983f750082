/// Merges and links layers, gives tensors their locations, and traces back through the layers what a part of backward
/// reads.
#include "model/cell_graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "model/scratch_layout.h"

namespace convoy {

namespace {

template <typename Range, typename Value>
bool contains(const Range& range, const Value& value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

// The name of a layer that does the work of two.
std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + " + " + second;
}

}  // namespace

Reads Layer::read_by_forward() const {
  Reads reads;
  for (const LayerInput& in : inputs) reads.push_back(in.tensor);
  return reads;
}

void CellGraph::finish() {
  link();
  merge_layers();
  fuse_layers();
  for (const auto& layer : layers) layer->connect(*this);
  link();
  lay_out_gradients(*this);
  locate_tensors();
  for (const Part part : {kJoint, kInput, kWeight, kFrozen}) recomputed_[part] = layers_to_recompute(part);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i]->number = i;
    memory.add_flop(layers[i]->flop(/*is_split=*/false));
  }
}

// Finds the layers that write and read each tensor, and the tensors whose gradient is wanted: outputs of trained
// layers, and what depends on them.
void CellGraph::link() {
  for (Tensor& tensor : tensors) {
    tensor.producer = nullptr;
    tensor.readers.clear();
  }
  for (const auto& layer : layers) {
    bool has_gradient = layer->has_weights();
    for (LayerInput& in : layer->inputs) {
      in.tensor->readers.push_back(layer.get());
      if (!in.tensor->has_gradient) in.rule = GradientRule::kNone;
      if (in.rule != GradientRule::kNone) has_gradient = true;
    }
    for (Tensor* tensor : layer->outputs) {
      tensor->producer = layer.get();
      tensor->has_gradient = has_gradient && tensor == layer->outputs.front();
    }
  }
}

void CellGraph::merge_layers() {
  for (std::size_t i = 0; i < layers.size();) {
    Layer* const next = only_reader(layers[i]->y());
    if (next != nullptr && layers[i]->merge(*next)) {
      replace_both(i, *next, std::move(layers[i]));
    } else {
      ++i;
    }
  }
}

void CellGraph::fuse_layers() {
  for (std::size_t i = 0; i < layers.size();) {
    Layer* const next = only_reader(layers[i]->y());
    std::unique_ptr<Layer> both = next == nullptr ? nullptr : layers[i]->fused_with(*next);
    if (both != nullptr) {
      both->full_name = joined(layers[i]->full_name, next->full_name);
      both->weight_shape = layers[i]->weight_shape.empty() ? next->weight_shape : layers[i]->weight_shape;
      replace_both(i, *next, std::move(both));
    } else {
      ++i;
    }
  }
}

// The layer that alone reads the tensor; null if no layer or several read it, or it is the cell's output. Null also if
// the layer reads it in another shape: one operation has one shape.
Layer* CellGraph::only_reader(const Tensor& tensor) const {
  return &tensor != y && !tensor.has_several_shapes && tensor.readers.size() == 1 ? tensor.readers.front() : nullptr;
}

// Replaces layer i and `next` by `both`, which does the work of both and runs when `next` would have run.
void CellGraph::replace_both(std::size_t i, Layer& next, std::unique_ptr<Layer> both) {
  both->outputs = next.outputs;
  *std::find_if(layers.begin(), layers.end(), [&](const auto& layer) { return layer.get() == &next; }) =
      std::move(both);
  layers.erase(layers.begin() + static_cast<std::ptrdiff_t>(i));
  link();
}

void CellGraph::locate_tensors() {
  std::vector<Tensor*> in_scratch;
  for (Tensor& tensor : tensors) {
    if (tensor.producer == nullptr) {  // read by the cell; features have their locations already
      if (&tensor == x) tensor.location = {&Frame::x};
    } else if (&tensor == y) {
      tensor.location = {&Frame::y};
    } else if (tensor.is_small) {
      tensor.location = memory.statistic(tensor.spec.bytes());
    } else if (is_read_by_backward(tensor)) {
      tensor.location = memory.activation(tensor.spec.bytes());
    } else {
      in_scratch.push_back(&tensor);
    }
  }
  locate_in_scratch(in_scratch);
}

// A tensor lives from its producer to its last reader; a layer's own scratch lives during its call.
void CellGraph::locate_in_scratch(const std::vector<Tensor*>& in_scratch) {
  std::vector<Lifetime> lifetimes;
  std::vector<TensorLocation*> locations;
  const auto number_of = [&](const Layer* layer) {
    return std::find_if(layers.begin(), layers.end(), [&](const auto& own) { return own.get() == layer; }) -
           layers.begin();
  };
  for (Tensor* tensor : in_scratch) {
    Lifetime lifetime{.bytes = tensor->spec.bytes(), .first_call = number_of(tensor->producer)};
    lifetime.last_call = lifetime.first_call;
    for (const Layer* reader : tensor->readers) lifetime.last_call = std::max(lifetime.last_call, number_of(reader));
    lifetimes.push_back(lifetime);
    locations.push_back(&tensor->location);
  }
  for (const auto& layer : layers) {
    if (layer->forward_scratch_bytes() == 0) continue;
    const std::int64_t call = number_of(layer.get());
    lifetimes.push_back({.bytes = layer->forward_scratch_bytes(), .first_call = call, .last_call = call});
    locations.push_back(&layer->forward_scratch);
  }
  const ScratchLayout layout = lay_out_scratch(lifetimes);
  for (std::size_t i = 0; i < locations.size(); ++i) *locations[i] = {&Frame::scratch, layout.offsets[i]};
  memory.need_scratch(layout.bytes);
}

bool CellGraph::is_read_by(const Layer& layer, const Tensor& tensor, Part part) const {
  return (part != kWeight && contains(layer.read_by_backward_input(part != kFrozen), &tensor)) ||
         (part != kInput && part != kFrozen && contains(layer.read_by_backward_weight(), &tensor));
}

bool CellGraph::is_read_by_backward(const Tensor& tensor) const {
  return std::any_of(layers.begin(), layers.end(), [&](const auto& layer) {
    return is_read_by(*layer, tensor, kJoint) || is_read_by(*layer, tensor, kFrozen);
  });
}

// Tensors that were in activations are now in scratch, from their producer to their last reader.
void CellGraph::drop_backward() {
  has_backward = false;
  backward.clear();
  last_sum.reset();
  for (std::vector<const Layer*>& chosen : recomputed_) chosen.clear();
  memory.drop_backward();
  for (const auto& layer : layers) layer->drop_backward();
  std::vector<Tensor*> in_scratch;
  for (Tensor& tensor : tensors)
    if (tensor.location.part == &Frame::activations || tensor.location.part == &Frame::scratch)
      in_scratch.push_back(&tensor);
  locate_in_scratch(in_scratch);
}

void CellGraph::create_ops(ops::Backend& backend) {
  elementwise_ = &backend.elementwise();
  for (const auto& layer : layers) layer->create_ops(backend);
}

std::vector<const Layer*> CellGraph::layers_to_recompute(Part part) const {
  std::set<const Tensor*> wanted;
  for (const Tensor& tensor : tensors)
    for (const auto& layer : layers)
      if (is_read_by(*layer, tensor, part)) wanted.insert(&tensor);
  std::vector<const Layer*> chosen;
  std::for_each(layers.rbegin(), layers.rend(), [&](const auto& layer) {
    const bool gives_some = std::any_of(layer->outputs.begin(), layer->outputs.end(), [&](const Tensor* tensor) {
      return wanted.contains(tensor) && tensor->location.part != &Frame::y &&
             tensor->location.part != &Frame::statistics;
    });
    if (!gives_some) return;
    chosen.insert(chosen.begin(), layer.get());
    for (const Tensor* tensor : layer->read_by_forward()) wanted.insert(tensor);
  });
  return chosen;
}

const std::vector<const Layer*>& CellGraph::recomputed(const Frame& frame) const {
  if (!frame.training) return recomputed_[kFrozen];
  if (!frame.splits_backward()) return recomputed_[kJoint];
  return recomputed_[frame.gradients == nullptr ? kInput : kWeight];
}

}  // namespace convoy
