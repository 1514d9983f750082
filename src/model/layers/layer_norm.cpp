/// Binds the device's layer norm to tensors; each row's mean and deviation are stored for backward.
#include "model/layers/layer_norm.h"

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
    beta_ = parameter(".bias", 0);
    gradients_ = EarlyGradients(memory, gamma_, beta_, spec.width);
    for (TensorLocation* location : {&mean_, &inv_std_})
      *location = memory.statistic(spec.num_rows * static_cast<std::int64_t>(sizeof(float)));
  }

  std::string operation() const override { return ops::LayerNormOp::kName; }
  bool has_weights() const override { return true; }
  Reads read_by_backward_input(bool /*training*/) const override { return {&x()}; }

  void create_ops(ops::Backend& backend) override {
    op_ = backend.create<ops::LayerNormOp>(spec_);
    elementwise_ = &backend.elementwise();
  }
  void forward(const Frame& frame) const override {
    op_->forward({.x = frame[x().location],
                  .gamma = frame[gamma_],
                  .beta = frame[beta_],
                  .y = frame[y().location],
                  .mean = floats(frame, mean_),
                  .inv_std = floats(frame, inv_std_)});
  }
  void backward_input(const Frame& frame) const override {
    op_->backward({.dy = frame[dy()],
                   .x = frame[x().location],
                   .gamma = frame[gamma_],
                   .mean = floats(frame, mean_),
                   .inv_std = floats(frame, inv_std_),
                   .dx = frame[dx()],
                   .addend = addend(frame),
                   .dgamma = gradients_.at(frame, gamma_),
                   .dbeta = gradients_.at(frame, beta_)});
  }
  void backward_weight(const Frame& frame) const override { gradients_.finish(frame, *elementwise_); }

 private:
  static float* floats(const Frame& frame, const TensorLocation& location) {
    return reinterpret_cast<float*>(frame[location]);
  }

  ops::LayerNormSpec spec_;
  ParameterRef gamma_, beta_;  ///< neighbours in the arena
  EarlyGradients gradients_;
  TensorLocation mean_, inv_std_;  ///< (R) each
  std::unique_ptr<ops::LayerNormOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

}  // namespace

Value layer_norm(const std::string& name, const Value& x, float epsilon) {
  CellBuilder& cell = x.cell();
  const Shape& shape = x.shape();
  const ops::LayerNormSpec spec{.num_rows = shape.pixels(), .width = shape.c, .epsilon = epsilon, .type = cell.type()};
  return cell.add(std::make_unique<LayerNorm>(cell.memory(), cell.parameter_name(name), spec),
                  {{&x.tensor(), GradientRule::kMayReplace, /*can_add=*/true}}, {.spec = {shape, cell.type()}});
}

}  // namespace convoy
