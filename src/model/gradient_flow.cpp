/// The flow of gradients back through the layers of a cell: the order of the layers, the location of each gradient, and
/// the sums for tensors with several readers. One walk from the output to the input gives each gradient a block of
/// memory; then the blocks get their locations.
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
struct MemoryBlock {
  Lifetime lifetime;
  std::int64_t num_held = 0;                   // gradients that are here and are still to be read
  std::vector<GradientLocation*> joint, both;  // to get the block's location: only in a joint backward, or in both
  Layer* of_layer = nullptr;                   // the layer whose scratch this is
};

// A tensor's gradient so far: the sum of the parts of the readers that have run.
struct Held {
  MemoryBlock* block = nullptr;
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
    if (!waiting_.empty()) throw std::logic_error("a cell's layer waits for a gradient that is not wanted");
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
    return std::ranges::any_of(layer.inputs, [&](const LayerInput& in) {
      return in.rule == GradientRule::kAdds && !held_.contains(in.tensor) && has_writer(*in.tensor);
    });
  }

  static bool has_writer(const Tensor& tensor) {
    const auto writes = [&](const LayerInput& in) {
      return in.tensor == &tensor && in.rule != GradientRule::kAdds && in.rule != GradientRule::kNone;
    };
    return std::ranges::any_of(tensor.readers,
                               [&](const Layer* reader) { return std::ranges::any_of(reader->inputs, writes); });
  }

  void run(Layer& layer) {
    step_ = &graph_.backward.emplace_back(BackwardStep{.layer = &layer});
    Tensor& y = layer.y();
    Held dy = held_.at(&y);
    use(*dy.block, y);
    if (layer.overwrites_dy() && dy.block->num_held > 1) dy = moved_to_own_block(dy, y);
    if (layer.backward_weight_reads_dy() && !is_written_where_it_stays(y)) {
      const GradientLocation* stored = lasting_location(*dy.block, y);
      step_->copies.push_back({.from = dy.location, .to = stored, .bytes = gradient_bytes(y)});
      dy.location = stored;
    }
    y.gradient = dy.location;
    for (LayerInput& in : layer.inputs)
      if (in.rule != GradientRule::kNone) give_part(in, dy);
    --dy.block->num_held;
    if (layer.backward_scratch_bytes() > 0) reserve_scratch(layer);
  }

  void reserve_scratch(Layer& layer) {
    const std::int64_t now = std::ssize(graph_.backward) - 1;
    MemoryBlock& block = blocks_.emplace_back();
    block.lifetime = {.bytes = layer.backward_scratch_bytes(), .first_call = now, .last_call = now};
    block.of_layer = &layer;
  }

  // Places one reader's part of a tensor's gradient.
  void give_part(LayerInput& in, const Held& dy) {
    Tensor& tensor = *in.tensor;
    if (in.rule == GradientRule::kAdds && held_.contains(&tensor)) {
      in.dx = in.addend = held_alone(tensor).location;
      return;
    }
    if (in.can_add && held_.contains(&tensor)) {
      in.addend = held_.at(&tensor).location;
      in.dx = added_to(tensor, nullptr).location;
      return;
    }
    Held part = dy;
    if (in.rule != GradientRule::kIsTheSame) {
      part.block = &block_for(in, *dy.block);
      use(*part.block, tensor);
      part.location = in.dx =
          is_written_where_it_stays(tensor) ? lasting_location(*part.block, tensor) : location_in(*part.block);
    }
    if (held_.contains(&tensor)) {
      add(tensor, part);
    } else {
      hold(tensor, part);
    }
  }

  MemoryBlock& block_for(const LayerInput& in, MemoryBlock& dy) {
    const bool is_alone = dy.num_held == 1;
    if (in.rule == GradientRule::kReplaces && is_alone) return dy;
    if (in.tensor == graph_.x && dx_.num_held == 0) return dx_;
    if (in.rule == GradientRule::kMayReplace && is_alone) return dy;
    return will_be_replaced_by_dx(*in.tensor) ? dx_ : blocks_.emplace_back();
  }

  // Whether the tensor's producer may write the cell's dx over the tensor's gradient.
  bool will_be_replaced_by_dx(const Tensor& tensor) const {
    if (tensor.producer == nullptr || dx_.num_held > 0 || held_.contains(graph_.x)) return false;
    const LayerInput& in = tensor.producer->inputs.front();
    return in.rule == GradientRule::kMayReplace && in.tensor == graph_.x;
  }

  void add(Tensor& tensor, const Held& part) {
    const Held so_far = held_.at(&tensor);
    use(*part.block, tensor);
    adds_dy_to_dx_ = &tensor == graph_.x && so_far.block == &dy_ && part.block == &dx_;
    step_->sums.push_back({.a = so_far.location,
                           .b = part.location,
                           .sum = added_to(tensor, part.block).location,
                           .count = tensor.spec.shape.count(),
                           .type = tensor.gradient_type});
  }

  // Places the sum of the tensor's gradient so far and of a further part. `part` is the block of that part; null if the
  // layer adds it itself.
  Held added_to(Tensor& tensor, MemoryBlock* part) {
    const Held so_far = held_.at(&tensor);
    Held sum = so_far;
    if (&tensor == graph_.x && so_far.block != &dx_ && dx_.num_held == 0) {
      sum = {&dx_, location_in(dx_)};
    } else if (so_far.block->num_held > 1) {
      MemoryBlock& block = part != nullptr && part->num_held == 0 ? *part : blocks_.emplace_back();
      sum = {&block, location_in(block)};
    }
    use(*so_far.block, tensor);
    use(*sum.block, tensor);
    --so_far.block->num_held;
    hold(tensor, sum);
    return sum;
  }

  // The tensor's gradient so far, moved to its own block if other gradients share its block.
  Held held_alone(Tensor& tensor) {
    Held& held = held_.at(&tensor);
    use(*held.block, tensor);
    return held.block->num_held > 1 ? moved_to_own_block(held, tensor) : held;
  }

  Held moved_to_own_block(const Held& shared, const Tensor& tensor) {
    const Held own{&blocks_.emplace_back(), location_in(blocks_.back())};
    use(*own.block, tensor);
    step_->copies.push_back({.from = shared.location, .to = own.location, .bytes = gradient_bytes(tensor)});
    --shared.block->num_held;
    hold(tensor, own);
    return own;
  }

  void end_in_dx() {
    const auto held = held_.find(graph_.x);
    if (held == held_.end()) throw std::logic_error("a cell's output does not depend on its input");
    if (held->second.block == &dx_) return;
    step_ = &graph_.backward.emplace_back();
    use(*held->second.block, *graph_.x);
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
    for (const MemoryBlock& block : blocks_) lifetimes.push_back(block.lifetime);
    const ScratchLayout layout = lay_out_scratch(lifetimes);
    graph_.memory.need_scratch(layout.bytes);
    set_location(dy_, {&Frame::dy});
    set_location(dx_, {&Frame::dx});
    for (std::size_t i = 0; i < blocks_.size(); ++i) set_location(blocks_[i], {&Frame::scratch, layout.offsets[i]});
  }

  static void set_location(const MemoryBlock& block, const TensorLocation& location) {
    for (GradientLocation* p : block.joint) p->joint = location;
    for (GradientLocation* p : block.both) *p = {.joint = location, .split = location};
    if (block.of_layer != nullptr) block.of_layer->backward_scratch = location;
  }

  // Whether, in a split backward, the gradient that backward_weight reads later can be written directly to its lasting
  // location: a single layer writes it.
  static bool is_written_where_it_stays(const Tensor& tensor) {
    if (tensor.producer == nullptr || !tensor.producer->backward_weight_reads_dy() || tensor.readers.size() != 1)
      return false;
    const std::vector<LayerInput>& inputs = tensor.readers.front()->inputs;
    const auto in =
        std::find_if(inputs.begin(), inputs.end(), [&](const LayerInput& i) { return i.tensor == &tensor; });
    return in->rule != GradientRule::kIsTheSame;
  }

  const GradientLocation* location_in(MemoryBlock& block) {
    block.both.push_back(&graph_.gradient_locations.emplace_back());
    return block.both.back();
  }

  // A location that, in a split backward, lasts until backward_weight reads it.
  const GradientLocation* lasting_location(MemoryBlock& block, const Tensor& tensor) {
    block.joint.push_back(&graph_.gradient_locations.emplace_back());
    block.joint.back()->split = graph_.memory.weight_gradient_input(gradient_bytes(tensor));
    return block.joint.back();
  }

  void hold(const Tensor& tensor, const Held& held) {
    ++held.block->num_held;
    held_[&tensor] = held;
  }

  void use(MemoryBlock& block, const Tensor& tensor) const {
    const std::int64_t now = std::ssize(graph_.backward) - 1;
    if (block.lifetime.bytes == 0) block.lifetime.first_call = now;
    block.lifetime.last_call = now;
    block.lifetime.bytes = std::max(block.lifetime.bytes, gradient_bytes(tensor));
  }

  static std::int64_t gradient_bytes(const Tensor& tensor) {
    return tensor.spec.shape.count() * size_of(tensor.gradient_type);
  }

  CellGraph& graph_;
  MemoryBlock dy_, dx_;
  std::deque<MemoryBlock> blocks_;
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
