/// Binds the device's layer norm to tensors; the means and deviations are stored for backward.
#include "model/layers/layer_norm.h"

#include <optional>

#include "convoy/ops/operations.h"

#include "model/layers/early_gradients.h"

namespace convoy {

namespace {

class LayerNorm final : public Layer {
 public:
  LayerNorm(CellMemory& memory, const std::string& name, const ops::LayerNormSpec& spec) : spec_(spec) {
    const auto parameter = [&](const char* suffix, double initial) {
      return memory.parameter({.name = name + suffix,
                               .dims = {spec.width},
                               .initial = {InitialValues::Kind::kConstant, initial},
                               .role = ParameterRole::kNormOrBias});
    };
    gamma_ = parameter(".weight", 1);
    if (spec.is_centred) beta_ = parameter(".bias", 0);
    gradients_ = EarlyGradients(memory, gamma_, beta_.value_or(gamma_), spec.width);
    if (spec.is_centred) mean_ = memory.statistic(spec.num_statistics() * kFloatBytes);
    inv_std_ = memory.statistic(spec.num_statistics() * kFloatBytes);
  }

  std::string operation() const override {
    if (!spec_.is_centred) return "RMS norm";
    return spec_.has_one_group() ? ops::LayerNormOp::kName : "group norm";
  }
  bool has_weights() const override { return true; }
  Reads read_by_backward_input(bool /*training*/) const override { return {&x()}; }

  void create_ops(ops::Backend& backend) override {
    op_ = backend.create<ops::LayerNormOp>(spec_);
    elementwise_ = &backend.elementwise();
  }
  void forward(const Frame& frame) const override {
    op_->forward({.x = frame[x().location],
                  .gamma = frame[gamma_],
                  .beta = beta_ ? frame[*beta_] : nullptr,
                  .y = frame[y().location],
                  .mean = mean(frame),
                  .inv_std = floats(frame, inv_std_)});
  }
  void backward_input(const Frame& frame) const override {
    op_->backward({.dy = frame[dy()],
                   .x = frame[x().location],
                   .gamma = frame[gamma_],
                   .mean = mean(frame),
                   .inv_std = floats(frame, inv_std_),
                   .dx = frame[dx()],
                   .addend = addend(frame),
                   .dgamma = gradients_.at(frame, gamma_),
                   .dbeta = beta_ ? gradients_.at(frame, *beta_) : nullptr});
  }
  void backward_weight(const Frame& frame) const override { gradients_.finish(frame, *elementwise_); }

 private:
  static float* floats(const Frame& frame, const TensorLocation& location) {
    return reinterpret_cast<float*>(frame[location]);
  }
  float* mean(const Frame& frame) const { return mean_ ? floats(frame, *mean_) : nullptr; }

  ops::LayerNormSpec spec_;
  ParameterRef gamma_;
  std::optional<ParameterRef> beta_;  ///< after gamma_ in the arena
  EarlyGradients gradients_;
  std::optional<TensorLocation> mean_;
  TensorLocation inv_std_;
  std::unique_ptr<ops::LayerNormOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

Value add_norm(const std::string& name, const Value& x, const ops::LayerNormSpec& spec) {
  CellBuilder& cell = x.cell();
  return cell.add(std::make_unique<LayerNorm>(cell.memory(), cell.parameter_name(name), spec),
                  {{&x.tensor(), GradientRule::kMayReplace, /*can_add=*/true}}, {.spec = {x.shape(), cell.type()}});
}

}  // namespace

Value layer_norm(const std::string& name, const Value& x, float epsilon) {
  return add_norm(name, x,
                  {.num_rows = x.shape().pixels(), .width = x.shape().c, .epsilon = epsilon, .type = x.cell().type()});
}

Value rms_norm(const std::string& name, const Value& x, float epsilon) {
  return add_norm(name, x,
                  {.num_rows = x.shape().pixels(),
                   .width = x.shape().c,
                   .epsilon = epsilon,
                   .type = x.cell().type(),
                   .is_centred = false});
}

Value group_norm(const std::string& name, const Value& x, std::int64_t num_groups, float epsilon) {
  return add_norm(name, x,
                  {.num_rows = x.shape().n,
                   .width = x.shape().c,
                   .epsilon = epsilon,
                   .type = x.cell().type(),
                   .num_pixels = x.shape().length(),
                   .num_groups = num_groups});
}

}  // namespace convoy
