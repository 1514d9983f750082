/// Batch norms, and the sum and the ReLU that they take over.
#include "model/layers/batch_norm.h"

#include "convoy/ops/operations.h"

#include "model/layers/activation.h"
#include "model/layers/pooling.h"
#include "model/layers/sum.h"

namespace convoy {

Value batch_norm(const std::string& name, const Value& x, const BatchNormSettings& settings) {
  CellBuilder& cell = x.cell();
  return cell.add(std::make_unique<BatchNorm>(cell.memory(), cell.parameter_name(name), x.shape(), settings),
                  {{&x.tensor(), GradientRule::kMayReplace}}, {.spec = {x.shape(), cell.type()}});
}

BatchNorm::BatchNorm(CellMemory& memory, const std::string& name, const Shape& x, const BatchNormSettings& settings)
    : branches_{{memory, name, x.c, settings.momentum}}, spec_{.x = x, .epsilon = settings.epsilon} {}

BatchNorm::BatchNorm(const BatchNorm& sum, const BatchNorm& shortcut)
    : branches_{sum.branches_.front(), shortcut.branches_.front()},
      spec_{.x = sum.spec_.x, .relu = true, .num_branches = 2, .epsilon = sum.spec_.epsilon} {
  inputs = {{&sum.x(), GradientRule::kWrites}, {&shortcut.x(), GradientRule::kReplaces}};
}

BatchNorm::BatchNorm(const BatchNorm& norm, const MaxPool& pool)
    : branches_(norm.branches_),
      winner_(pool.winner()),
      spec_{.x = norm.spec_.x, .relu = true, .epsilon = norm.spec_.epsilon, .pooling = pool.spec()} {
  inputs = {{&norm.x(), GradientRule::kWrites}};
}

bool BatchNorm::merge(Layer& next) {
  if (spec_.relu) return false;
  const auto* activation = dynamic_cast<const ActivationLayer*>(&next);
  if (activation != nullptr && activation->function() == ops::Activation::kRelu) {
    spec_.relu = true;
    return true;
  }
  if (spec_.residual || dynamic_cast<Sum*>(&next) == nullptr) return false;
  spec_.residual = true;
  inputs.front().rule = GradientRule::kWrites;
  for (const LayerInput& in : next.inputs)
    if (in.tensor != &y()) inputs.push_back({in.tensor, GradientRule::kReplaces});
  return true;
}

std::unique_ptr<Layer> BatchNorm::fused_with(Layer& next) {
  if (const auto* pool = dynamic_cast<const MaxPool*>(&next); pool != nullptr) {
    const bool gives_its_relu = spec_.relu && !spec_.stores_mask() && !spec_.pooling;
    if (!gives_its_relu || !ops::BatchNormSpec::can_pool(pool->spec())) return nullptr;
    return std::make_unique<BatchNorm>(*this, *pool);
  }
  const auto* sum = dynamic_cast<const BatchNorm*>(&next);
  const bool is_its_residual =
      sum != nullptr && sum->spec_.relu && sum->spec_.residual && sum->inputs[1].tensor == &y();
  if (!is_its_residual || spec_.relu || spec_.residual || spec_.epsilon != sum->spec_.epsilon) return nullptr;
  return std::make_unique<BatchNorm>(*sum, *this);
}

void BatchNorm::connect(CellGraph& graph) {
  spec_.type = graph.memory.type();
  graph.memory.parameters()[branches_.front().gamma_number].spec.joins_shortcut = takes_dy_in_parts();
  if (spec_.stores_mask()) mask_ = graph.memory.statistic(ops::relu_mask_bytes(spec_.x, spec_.type));
}

void BatchNorm::create_ops(ops::Backend& backend) {
  op_ = backend.create<ops::BatchNormOp>(spec_);
  elementwise_ = &backend.elementwise();
}

// In training the mask of a ReLU follows from x, or forward stores it. The winners of a pooling tell it, too.
Reads BatchNorm::read_by_backward_input(bool training) const {
  Reads reads;
  if (training)
    for (std::size_t b = 0; b < branches_.size(); ++b) reads.push_back(inputs[b].tensor);
  if (spec_.relu && !spec_.pooling && !training) reads.push_back(&y());
  return reads;
}

std::uint8_t* BatchNorm::mask(const Frame& frame) const {
  return spec_.stores_mask() ? bytes_at(frame, mask_) : nullptr;
}

std::uint8_t* BatchNorm::winner(const Frame& frame) const {
  return spec_.pooling ? bytes_at(frame, winner_) : nullptr;
}

ops::BatchNormForward BatchNorm::forward_args(const Frame& frame) const {
  ops::BatchNormForward args{.residual = spec_.residual ? frame[inputs[1].tensor->location] : nullptr,
                             .y = frame[y().location],
                             .mask = mask(frame),
                             .winner = winner(frame)};
  for (std::size_t b = 0; b < branches_.size(); ++b)
    args.branches[b] = branches_[b].forward_branch(frame, *inputs[b].tensor);
  return args;
}

ops::BatchNormBackward BatchNorm::backward_args(const Frame& frame) const {
  ops::BatchNormBackward args{.dy = frame[dy()],
                              .dy_addend = dy_addend(frame),
                              .mask = mask(frame),
                              .winner = winner(frame),
                              .y = frame[y().location]};
  if (spec_.residual && inputs[1].dx != nullptr) args.dresidual = frame[*inputs[1].dx];
  for (std::size_t b = 0; b < branches_.size(); ++b) args.branches[b] = branches_[b].backward_branch(frame, inputs[b]);
  return args;
}

void BatchNorm::forward(const Frame& frame) const {
  if (frame.training)
    op_->forward(forward_args(frame));
  else
    op_->infer(forward_args(frame));
}

void BatchNorm::recompute(const Frame& frame) const {
  if (!frame.training) return forward(frame);
  op_->forward_again(forward_args(frame));
}

void BatchNorm::backward_input(const Frame& frame) const {
  if (frame.training)
    op_->backward(backward_args(frame));
  else
    op_->infer_backward(backward_args(frame));
}

void BatchNorm::backward_weight(const Frame& frame) const {
  for (const BatchNormParameters& branch : branches_) branch.gradients.finish(frame, *elementwise_);
}

}  // namespace convoy
