/// The flow of gradients back through the layers of a cell: the order of the layers, the location of each gradient, and
/// the sums for tensors with several readers. One walk from the output to the input gives each gradient a slot of
/// memory; then the slots get their locations.
#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>

#include "model/cell_graph.h"
#include "model/scratch_layout.h"

namespace convoy {

namespace {

// Memory that holds gradients at different times: the frame's dy or dx, or scratch between two steps; or a layer's
// scratch.
struct Slot {
  Lifetime lifetime;
  std::int64_t num_held = 0;                   // gradients that are here and are still to be read
  std::vector<GradientLocation*> joint, both;  // to be set to the slot's location: only in a joint backward, or in both
  Layer* of_layer = nullptr;                   // the layer whose scratch this is
};

// A tensor's gradient so far: the sum of the parts of the readers that have run.
struct Held {
  Slot* slot = nullptr;
  const GradientLocation* location = nullptr;
};

class GradientLayout {
 public:
  explicit GradientLayout(CellGraph& graph) : graph_(graph) {}

  void lay_out() {
    if (!graph_.y->has_gradient) return;
    hold(*graph_.y, {&dy_, location_in(dy_)});
    std::for_each(graph_.layers.rbegin(), graph_.layers.rend(), [&](const auto& layer) {
      if (held_.contains(&layer->y())) run_or_wait(*layer);
    });
    if (!waiting_.empty()) throw std::logic_error("a cell's layer adds to a gradient that no other layer writes");
    if (graph_.x->has_gradient) end_in_dx();
    set_last_sum_apart();
    set_locations();
  }

 private:
  void run_or_wait(Layer& layer) {
    waiting_.push_back(&layer);
    for (auto next = waiting_.begin(); next != waiting_.end();) {
      if (must_wait(**next)) {
        ++next;
        continue;
      }
      Layer& ready = **next;
      waiting_.erase(next);
      run(ready);
      next = waiting_.begin();
    }
  }

  bool must_wait(const Layer& layer) const {
    return std::any_of(layer.inputs.begin(), layer.inputs.end(), [&](const LayerInput& in) {
      return in.rule == GradientRule::kAdds && !held_.contains(in.tensor);
    });
  }

  void run(Layer& layer) {
    step_ = &graph_.backward.emplace_back(BackwardStep{.layer = &layer});
    Tensor& y = layer.y();
    Held dy = held_.at(&y);
    use(*dy.slot, y);
    if (layer.overwrites_dy() && dy.slot->num_held > 1) dy = moved_to_own_slot(dy, y);
    if (layer.backward_weight_reads_dy() && !is_written_where_it_stays(y)) {
      const GradientLocation* stored = lasting_location(*dy.slot, y);
      step_->copies.push_back({.from = dy.location, .to = stored, .bytes = gradient_bytes(y)});
      dy.location = stored;
    }
    y.gradient = dy.location;
    for (LayerInput& in : layer.inputs)
      if (in.rule != GradientRule::kNone) give_part(in, dy);
    --dy.slot->num_held;
    if (layer.backward_scratch_bytes() > 0) reserve_scratch(layer);
  }

  void reserve_scratch(Layer& layer) {
    const std::int64_t now = std::ssize(graph_.backward) - 1;
    Slot& slot = slots_.emplace_back();
    slot.lifetime = {.bytes = layer.backward_scratch_bytes(), .first_call = now, .last_call = now};
    slot.of_layer = &layer;
  }

  // Places one reader's part of a tensor's gradient.
  void give_part(LayerInput& in, const Held& dy) {
    Tensor& tensor = *in.tensor;
    if (in.rule == GradientRule::kAdds) {
      in.dx = held_alone(tensor).location;
      return;
    }
    if (in.can_add && held_.contains(&tensor)) {
      in.addend = held_.at(&tensor).location;
      in.dx = added_to(tensor, nullptr).location;
      return;
    }
    Held part = dy;
    if (in.rule != GradientRule::kIsTheSame) {
      part.slot = &slot_for(in, *dy.slot);
      use(*part.slot, tensor);
      part.location = in.dx =
          is_written_where_it_stays(tensor) ? lasting_location(*part.slot, tensor) : location_in(*part.slot);
    }
    if (held_.contains(&tensor)) {
      add(tensor, part);
    } else {
      hold(tensor, part);
    }
  }

  Slot& slot_for(const LayerInput& in, Slot& dy) {
    const bool is_alone = dy.num_held == 1;
    if (in.rule == GradientRule::kReplaces && is_alone) return dy;
    if (in.tensor == graph_.x && dx_.num_held == 0) return dx_;
    if (in.rule == GradientRule::kMayReplace && is_alone) return dy;
    return will_be_replaced_by_dx(*in.tensor) ? dx_ : slots_.emplace_back();
  }

  // Whether the tensor's producer may write the cell's dx over the tensor's gradient.
  bool will_be_replaced_by_dx(const Tensor& tensor) const {
    if (tensor.producer == nullptr || dx_.num_held > 0 || held_.contains(graph_.x)) return false;
    const LayerInput& in = tensor.producer->inputs.front();
    return in.rule == GradientRule::kMayReplace && in.tensor == graph_.x;
  }

  void add(Tensor& tensor, const Held& part) {
    const Held so_far = held_.at(&tensor);
    use(*part.slot, tensor);
    adds_dy_to_dx_ = &tensor == graph_.x && so_far.slot == &dy_ && part.slot == &dx_;
    step_->sums.push_back({.a = so_far.location,
                           .b = part.location,
                           .sum = added_to(tensor, part.slot).location,
                           .count = tensor.spec.shape.count(),
                           .type = tensor.gradient_type});
  }

  // Places the sum of the tensor's gradient so far and of a further part. `part` is the slot of that part; null if the
  // layer adds it itself.
  Held added_to(Tensor& tensor, Slot* part) {
    const Held so_far = held_.at(&tensor);
    Held sum = so_far;
    if (&tensor == graph_.x && so_far.slot != &dx_ && dx_.num_held == 0) {
      sum = {&dx_, location_in(dx_)};
    } else if (so_far.slot->num_held > 1) {
      Slot& slot = part != nullptr && part->num_held == 0 ? *part : slots_.emplace_back();
      sum = {&slot, location_in(slot)};
    }
    use(*so_far.slot, tensor);
    use(*sum.slot, tensor);
    --so_far.slot->num_held;
    hold(tensor, sum);
    return sum;
  }

  // The tensor's gradient so far, moved to its own slot if other gradients share its slot.
  Held held_alone(Tensor& tensor) {
    Held& held = held_.at(&tensor);
    use(*held.slot, tensor);
    return held.slot->num_held > 1 ? moved_to_own_slot(held, tensor) : held;
  }

  Held moved_to_own_slot(const Held& shared, const Tensor& tensor) {
    const Held own{&slots_.emplace_back(), location_in(slots_.back())};
    use(*own.slot, tensor);
    step_->copies.push_back({.from = shared.location, .to = own.location, .bytes = gradient_bytes(tensor)});
    --shared.slot->num_held;
    hold(tensor, own);
    return own;
  }

  void end_in_dx() {
    const auto held = held_.find(graph_.x);
    if (held == held_.end()) throw std::logic_error("a cell's output does not depend on its input");
    if (held->second.slot == &dx_) return;
    step_ = &graph_.backward.emplace_back();
    use(*held->second.slot, *graph_.x);
    step_->copies.push_back(
        {.from = held->second.location, .to = location_in(dx_), .bytes = gradient_bytes(*graph_.x)});
  }

  void set_last_sum_apart() {
    std::vector<GradientSum>& sums = graph_.backward.back().sums;
    if (sums.empty() || !adds_dy_to_dx_) return;
    graph_.last_sum = sums.back();
    sums.pop_back();
  }

  void set_locations() {
    std::vector<Lifetime> lifetimes;
    for (const Slot& slot : slots_) lifetimes.push_back(slot.lifetime);
    const ScratchLayout layout = lay_out_scratch(lifetimes);
    graph_.memory.need_scratch(layout.bytes);
    set_location(dy_, {&Frame::dy});
    set_location(dx_, {&Frame::dx});
    for (std::size_t i = 0; i < slots_.size(); ++i) set_location(slots_[i], {&Frame::scratch, layout.offsets[i]});
  }

  static void set_location(const Slot& slot, const TensorLocation& location) {
    for (GradientLocation* p : slot.joint) p->joint = location;
    for (GradientLocation* p : slot.both) *p = {.joint = location, .split = location};
    if (slot.of_layer != nullptr) slot.of_layer->backward_scratch = location;
  }

  // Whether, in a split backward, the gradient that backward_weight reads later can be written directly to its lasting
  // location: a single layer writes it.
  static bool is_written_where_it_stays(const Tensor& tensor) {
    if (tensor.producer == nullptr || !tensor.producer->backward_weight_reads_dy() || tensor.readers.size() != 1)
      return false;
    const std::vector<LayerInput>& inputs = tensor.readers.front()->inputs;
    const auto in =
        std::find_if(inputs.begin(), inputs.end(), [&](const LayerInput& i) { return i.tensor == &tensor; });
    return in->rule != GradientRule::kIsTheSame && in->rule != GradientRule::kAdds;
  }

  const GradientLocation* location_in(Slot& slot) {
    slot.both.push_back(&graph_.gradient_locations.emplace_back());
    return slot.both.back();
  }

  // A location that, in a split backward, lasts until backward_weight reads it.
  const GradientLocation* lasting_location(Slot& slot, const Tensor& tensor) {
    slot.joint.push_back(&graph_.gradient_locations.emplace_back());
    slot.joint.back()->split = graph_.memory.weight_gradient_input(gradient_bytes(tensor));
    return slot.joint.back();
  }

  void hold(const Tensor& tensor, const Held& held) {
    ++held.slot->num_held;
    held_[&tensor] = held;
  }

  void use(Slot& slot, const Tensor& tensor) const {
    const std::int64_t now = std::ssize(graph_.backward) - 1;
    if (slot.lifetime.bytes == 0) slot.lifetime.first_call = now;
    slot.lifetime.last_call = now;
    slot.lifetime.bytes = std::max(slot.lifetime.bytes, gradient_bytes(tensor));
  }

  static std::int64_t gradient_bytes(const Tensor& tensor) {
    return tensor.spec.shape.count() * size_of(tensor.gradient_type);
  }

  CellGraph& graph_;
  Slot dy_, dx_;
  std::deque<Slot> slots_;
  std::map<const Tensor*, Held> held_;
  std::vector<Layer*> waiting_;
  BackwardStep* step_ = nullptr;
  bool adds_dy_to_dx_ = false;  // whether the latest sum is dx = dy + dx of the cell
};

}  // namespace

void lay_out_gradients(CellGraph& graph) {
  GradientLayout(graph).lay_out();
}

}  // namespace convoy
