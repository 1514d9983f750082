/// Batch norms, and the sum and the ReLU that they take over.
#include "model/layers/batch_norm.h"

#include "convoy/ops/operations.h"

#include "model/layers/activation.h"
#include "model/layers/batch_norm_pooling.h"
#include "model/layers/batch_norm_sum.h"
#include "model/layers/pooling.h"
#include "model/layers/sum.h"

namespace convoy {

Value batch_norm(const std::string& name, const Value& x) {
  CellBuilder& cell = x.cell();
  return cell.add(std::make_unique<BatchNorm>(cell.memory(), cell.parameter_name(name), x.shape().c),
                  {{&x.tensor(), GradientRule::kMayReplace}}, {.spec = {x.shape(), cell.type()}});
}

BatchNorm::BatchNorm(CellMemory& memory, const std::string& name, std::int64_t num_channels)
    : parameters_(memory, name, num_channels) {}

bool BatchNorm::merge(Layer& next) {
  if (has_relu_) return false;
  const auto* activation = dynamic_cast<const ActivationLayer*>(&next);
  if (activation != nullptr && activation->function() == ops::Activation::kRelu) {
    has_relu_ = true;
    return true;
  }
  if (has_residual_ || dynamic_cast<Sum*>(&next) == nullptr) return false;
  has_residual_ = true;
  inputs.front().rule = GradientRule::kWrites;
  for (const LayerInput& in : next.inputs)
    if (in.tensor != &y()) inputs.push_back({in.tensor, GradientRule::kReplaces});
  return true;
}

std::unique_ptr<Layer> BatchNorm::fused_with(Layer& next) {
  if (const auto* pool = dynamic_cast<const MaxPool*>(&next); pool != nullptr) return fused_with_pooling(*pool);
  const auto* sum = dynamic_cast<const BatchNorm*>(&next);
  const bool is_its_residual = sum != nullptr && sum->has_relu_ && sum->has_residual_ && sum->inputs[1].tensor == &y();
  if (!is_its_residual || has_relu_ || has_residual_) return nullptr;
  return std::make_unique<BatchNormSum>(BatchNormSum::Branch{sum->x(), sum->parameters_},
                                        BatchNormSum::Branch{x(), parameters_});
}

std::unique_ptr<Layer> BatchNorm::fused_with_pooling(const MaxPool& pool) {
  if (!has_relu_ || has_residual_) return nullptr;
  const ops::PoolingSpec& pooling = pool.spec();
  const ops::BatchNormMaxPoolSpec spec{.x = pooling.x,
                                       .kernel = pooling.kernel,
                                       .stride = pooling.stride,
                                       .padding = pooling.padding,
                                       .epsilon = spec_.epsilon,
                                       .type = pooling.type};
  if (!spec.is_computed()) return nullptr;
  auto both = std::make_unique<BatchNormMaxPool>(parameters_, spec, pool.winner());
  both->inputs = {{&x(), GradientRule::kWrites}};
  return both;
}

void BatchNorm::connect(CellGraph& graph) {
  spec_ = {.x = x().spec.shape, .relu = has_relu_, .residual = has_residual_, .type = graph.memory.type()};
  graph.memory.parameters()[parameters_.gamma_number].spec.joins_shortcut = has_residual_;
  if (has_relu_ && has_residual_) mask_ = graph.memory.statistic(ops::relu_mask_bytes(spec_.x, spec_.type));
}

void BatchNorm::create_ops(ops::Backend& backend) {
  op_ = backend.create<ops::BatchNormOp>(spec_);
  elementwise_ = &backend.elementwise();
}

// In training the mask of a ReLU follows from x, or forward stores it.
Reads BatchNorm::read_by_backward_input(bool training) const {
  Reads reads;
  if (training) reads.push_back(&x());
  if (has_relu_ && !training) reads.push_back(&y());
  return reads;
}

const void* BatchNorm::residual(const Frame& frame) const {
  return has_residual_ ? frame[inputs[1].tensor->location] : nullptr;
}

std::uint8_t* BatchNorm::mask(const Frame& frame) const {
  return mask_.part == nullptr ? nullptr : reinterpret_cast<std::uint8_t*>(frame[mask_]);
}

ops::BatchNormInputs BatchNorm::op_inputs(const Frame& frame) const {
  ops::BatchNormInputs in = parameters_.inputs(frame, x());
  in.residual = residual(frame);
  return in;
}

void BatchNorm::forward(const Frame& frame) const {
  if (!frame.training) {
    ops::BatchNormInference args = parameters_.inference(frame, x(), y());
    args.residual = residual(frame);
    op_->infer(args);
    return;
  }
  ops::BatchNormOutputs out = parameters_.outputs(frame, y());
  out.mask = mask(frame);
  op_->forward(op_inputs(frame), out);
}

void BatchNorm::recompute(const Frame& frame) const {
  if (!frame.training) return forward(frame);
  op_->forward_again(op_inputs(frame), parameters_.outputs(frame, y()));
}

void BatchNorm::backward_input(const Frame& frame) const {
  void* dresidual = has_residual_ && inputs[1].dx != nullptr ? frame[*inputs[1].dx] : nullptr;
  if (!frame.training) {
    ops::BatchNormInferenceGrad args = parameters_.inference_gradient(frame, dy(), dx());
    args.dy_addend = dy_addend(frame);
    args.y = frame[y().location];
    args.dresidual = dresidual;
    op_->infer_backward(args);
    return;
  }
  ops::BatchNormGradInputs in = parameters_.gradient_inputs(frame, dy(), x());
  in.dy_addend = dy_addend(frame);
  in.mask = mask(frame);
  ops::BatchNormGradOutputs out = parameters_.gradient_outputs(frame, dx());
  out.dresidual = dresidual;
  op_->backward(in, out);
}

void BatchNorm::backward_weight(const Frame& frame) const {
  parameters_.gradients.finish(frame, *elementwise_);
}

}  // namespace convoy
