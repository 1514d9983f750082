/// A cell's calls: each walks over the layers.
#include "convoy/model/cell.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "convoy/ops/elementwise.h"

#include "model/cell_graph.h"

namespace convoy {

namespace {
constexpr std::int64_t kAlignmentBytes = 64;
constexpr std::int64_t kAlignmentFloats = kAlignmentBytes / static_cast<std::int64_t>(sizeof(float));

/// Tells the frame's observer, if it has one, of the work that has been issued.
class ObservedCall {
 public:
  ObservedCall(const Cell& cell, const Frame& frame) : observer_(frame.observer), is_split_(frame.splits_backward()) {
    if (observer_ != nullptr) observer_->begin_cell(cell);
  }
  void end(const Layer& layer, LayerWork work) const {
    if (observer_ != nullptr) observer_->end_layer(layer.number, work, is_split_);
  }

 private:
  LayerObserver* observer_;
  bool is_split_;
};

void backward_weight_of(const Layer& layer, const Frame& frame, const ObservedCall& observed) {
  if (!layer.has_weights()) return;
  layer.backward_weight(frame);
  observed.end(layer, LayerWork::kWeightGradient);
}

}  // namespace

const char* name_of(LayerWork work) {
  switch (work) {
    case LayerWork::kForward:
      return "forward";
    case LayerWork::kRecompute:
      return "recomputing";
    case LayerWork::kInputGradient:
      return "gradient of x";
    case LayerWork::kWeightGradient:
      return "gradient of w";
    case LayerWork::kGradientSum:
      return "sum of gradients";
  }
  return "";
}

double LayerFlop::of(LayerWork work) const {
  switch (work) {
    case LayerWork::kForward:
    case LayerWork::kRecompute:
      return forward;
    case LayerWork::kInputGradient:
      return input_gradient;
    case LayerWork::kWeightGradient:
      return weight_gradient;
    case LayerWork::kGradientSum:
      return 0;
  }
  return 0;
}

ParameterRef CellMemory::parameter(ParameterSpec spec) {
  const ParameterRef ref{arena_count_};
  arena_count_ += round_up(spec.count(), kAlignmentFloats);
  parameters_.push_back({std::move(spec), ref});
  return ref;
}

void CellMemory::drop_backward() {
  activation_bytes_ = weight_gradient_input_bytes_ = scratch_bytes_ = 0;
  needs_draw_key_ = false;
}

std::int64_t CellMemory::reserve(std::int64_t& total_bytes, std::int64_t size_bytes) {
  const std::int64_t offset = total_bytes;
  total_bytes += round_up(size_bytes, kAlignmentBytes);
  return offset;
}

Cell::Cell(std::string name, std::unique_ptr<CellGraph> graph) : name_(std::move(name)), graph_(std::move(graph)) {}

Cell::~Cell() = default;

const TensorSpec& Cell::x() const {
  return graph_->x->spec;
}

const TensorSpec& Cell::y() const {
  return graph_->y->spec;
}

TensorSpec Cell::dx() const {
  return {x().shape, graph_->x->gradient_type};
}

TensorSpec Cell::dy() const {
  return {y().shape, graph_->y->gradient_type};
}

const std::vector<Feature>& Cell::features() const {
  return graph_->features;
}

const std::vector<std::string>& Cell::objectives() const {
  return graph_->objectives;
}

const CellMemory& Cell::memory() const {
  return graph_->memory;
}

void Cell::freeze(const std::function<bool(const std::string& name)>& wanted) {
  std::vector<CellMemory::Entry>& entries = graph_->memory.parameters();
  for (CellMemory::Entry& entry : entries) entry.spec.frozen = wanted(entry.spec.name);
  frozen_ = std::all_of(entries.begin(), entries.end(),
                        [](const CellMemory::Entry& entry) { return entry.spec.frozen || entry.spec.is_statistic(); });
  if (!frozen_) return;
  for (CellMemory::Entry& entry : entries) entry.spec.frozen = true;
}

void Cell::set_rates(const std::function<double(const std::string& name)>& factor) {
  for (CellMemory::Entry& entry : graph_->memory.parameters()) entry.spec.rate_factor = factor(entry.spec.name);
}

void Cell::drop_backward() {
  graph_->drop_backward();
}

bool Cell::has_backward() const {
  return graph_->has_backward;
}

void Cell::create_ops(ops::Backend& backend) {
  graph_->create_ops(backend);
}

void Cell::load_weights(const Weights& weights) {
  for (const auto& layer : graph_->layers) layer->load_weights(weights);
}

std::vector<Buffer*> Cell::packed_weights() const {
  std::vector<Buffer*> packed;
  for (const auto& layer : graph_->layers) std::ranges::copy(layer->packed_weights(), std::back_inserter(packed));
  return packed;
}

std::vector<LayerInfo> Cell::layers() const {
  std::vector<LayerInfo> infos;
  for (const auto& layer : graph_->layers)
    infos.push_back({.operation = layer->operation(),
                     .name = layer->full_name,
                     .weight_shape = layer->weight_shape,
                     .x = layer->x().spec,
                     .y = layer->y().spec,
                     .flop = layer->flop(/*is_split=*/false),
                     .split_flop = layer->flop(/*is_split=*/true)});
  return infos;
}

bool Cell::takes_dy_in_parts() const {
  if (graph_->backward.empty()) return false;
  const BackwardStep& first = graph_->backward.front();
  return first.layer == graph_->y->producer && first.layer->takes_dy_in_parts() && first.copies.empty();
}

bool Cell::can_leave_dx_in_parts() const {
  return graph_->last_sum.has_value();
}

void Cell::forward(const Frame& frame) const {
  assert(has_backward() || !frame.training);
  const ObservedCall observed(*this, frame);
  for (const auto& layer : graph_->layers) {
    layer->forward(frame);
    observed.end(*layer, LayerWork::kForward);
  }
}

void Cell::recompute(const Frame& frame) const {
  assert(has_backward());
  const ObservedCall observed(*this, frame);
  for (const Layer* layer : graph_->recomputed(frame)) {
    layer->recompute(frame);
    observed.end(*layer, LayerWork::kRecompute);
  }
}

void Cell::backward(const Frame& frame) const {
  assert(has_backward());
  const ObservedCall observed(*this, frame);
  ops::ElementwiseOps& elementwise = graph_->elementwise();
  const auto add = [&](const GradientSum& sum) {
    elementwise.add(sum.type, frame[*sum.a], frame[*sum.b], frame[*sum.sum], sum.count);
  };
  for (const BackwardStep& step : graph_->backward) {
    for (const GradientCopy& copy : step.copies)
      if (frame[*copy.from] != frame[*copy.to]) elementwise.copy(frame[*copy.from], frame[*copy.to], copy.bytes);
    if (step.layer != nullptr) {
      step.layer->backward_input(frame);
      observed.end(*step.layer, LayerWork::kInputGradient);
      if (frame.gradients != nullptr && !frame.splits_backward()) backward_weight_of(*step.layer, frame, observed);
    }
    for (const GradientSum& sum : step.sums) add(sum);
    if (step.layer != nullptr && !step.sums.empty()) observed.end(*step.layer, LayerWork::kGradientSum);
  }
  if (graph_->last_sum.has_value() && !frame.leaves_dx_in_parts) {
    add(*graph_->last_sum);
    observed.end(*graph_->backward.back().layer, LayerWork::kGradientSum);
  }
}

void Cell::backward_weight(const Frame& frame) const {
  assert(has_backward());
  const ObservedCall observed(*this, frame);
  std::for_each(graph_->layers.rbegin(), graph_->layers.rend(),
                [&](const auto& layer) { backward_weight_of(*layer, frame, observed); });
}

}  // namespace convoy
