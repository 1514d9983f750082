/// Binds the device's broadcast to tensors.
#include "model/layers/layer_scale.h"

#include "convoy/ops/operations.h"

#include "model/layers/early_gradients.h"

namespace convoy {

namespace {

/// dx = gamma * dy    dgamma = sum over N, H, W of dy * x
class LayerScale final : public Layer {
 public:
  LayerScale(CellMemory& memory, const std::string& name, const ops::BroadcastSpec& spec, double initial)
      : spec_(spec),
        gamma_(memory.parameter({.name = name,
                                 .dims = {spec.num_columns, 1, 1},
                                 .initial = {InitialValues::Kind::kConstant, initial},
                                 .role = ParameterRole::kNormOrBias})),
        gradient_(memory, gamma_, gamma_, spec.num_columns) {}

  std::string operation() const override { return "layer scale"; }
  bool has_weights() const override { return true; }
  Reads read_by_backward_input(bool training) const override { return training ? Reads{&x()} : Reads{}; }

  void create_ops(ops::Backend& backend) override {
    op_ = backend.create<ops::BroadcastOp>(spec_);
    elementwise_ = &backend.elementwise();
  }
  void forward(const Frame& frame) const override {
    op_->forward(frame[x().location], frame[gamma_], frame[y().location]);
  }
  void backward_input(const Frame& frame) const override {
    op_->backward({.dy = frame[dy()],
                   .x = frame[x().location],
                   .v = frame[gamma_],
                   .dx = wants_dx() ? frame[dx()] : nullptr,
                   .dv = gradient_.at(frame, gamma_)});
  }
  void backward_weight(const Frame& frame) const override { gradient_.finish(frame, *elementwise_); }

 private:
  ops::BroadcastSpec spec_;
  ParameterRef gamma_;
  EarlyGradients gradient_;
  std::unique_ptr<ops::BroadcastOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

}  // namespace

Value layer_scale(const std::string& name, const Value& x, double initial) {
  CellBuilder& cell = x.cell();
  const Shape& shape = x.shape();
  const ops::BroadcastSpec spec{
      .num_rows = shape.pixels(), .num_columns = shape.c, .kind = ops::BroadcastKind::kMultiply, .type = cell.type()};
  return cell.add(std::make_unique<LayerScale>(cell.memory(), cell.parameter_name(name), spec, initial),
                  {{&x.tensor(), GradientRule::kMayReplace}}, {.spec = {shape, cell.type()}});
}

}  // namespace convoy
