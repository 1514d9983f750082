/// Binds the device's prepend to tensors.
#include "model/layers/class_token.h"

#include "convoy/ops/operations.h"

#include "model/layers/early_gradients.h"

namespace convoy {

namespace {

class ClassToken final : public Layer {
 public:
  ClassToken(CellMemory& memory, const std::string& name, const ops::PrependSpec& spec)
      : spec_(spec),
        token_(memory.parameter({.name = name, .dims = {1, 1, spec.width}, .role = ParameterRole::kEmbedding})),
        gradient_(memory, token_, token_, spec.width) {}

  std::string operation() const override { return "class token"; }
  bool has_weights() const override { return true; }

  void create_ops(ops::Backend& backend) override {
    op_ = backend.create<ops::PrependOp>(spec_);
    elementwise_ = &backend.elementwise();
  }
  void forward(const Frame& frame) const override {
    op_->forward(frame[x().location], frame[token_], frame[y().location]);
  }
  void backward_input(const Frame& frame) const override {
    op_->backward(frame[dy()], wants_dx() ? frame[dx()] : nullptr, gradient_.at(frame, token_));
  }
  void backward_weight(const Frame& frame) const override { gradient_.finish(frame, *elementwise_); }

 private:
  ops::PrependSpec spec_;
  ParameterRef token_;
  EarlyGradients gradient_;
  std::unique_ptr<ops::PrependOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

}  // namespace

Value class_token(const std::string& name, const Value& x) {
  CellBuilder& cell = x.cell();
  const Shape& shape = x.shape();
  const ops::PrependSpec spec{.n = shape.n, .length = shape.length(), .width = shape.c, .type = cell.type()};
  return cell.add(std::make_unique<ClassToken>(cell.memory(), cell.parameter_name(name), spec), {{&x.tensor()}},
                  {.spec = {Shape::sequences(shape.n, 1 + spec.length, shape.c), cell.type()}});
}

}  // namespace convoy
