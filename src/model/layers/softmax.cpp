/// Binds the device's softmax to tensors.
#include "model/layers/softmax.h"

#include <memory>

#include "convoy/ops/operations.h"

namespace convoy {

namespace {

class Softmax final : public Layer {
 public:
  explicit Softmax(const ops::SoftmaxSpec& spec) : spec_(spec) {}

  std::string operation() const override { return ops::SoftmaxOp::kName; }
  Reads read_by_backward_input(bool /*training*/) const override { return {&y()}; }

  void create_ops(ops::Backend& backend) override { op_ = backend.create<ops::SoftmaxOp>(spec_); }
  void forward(const Frame& frame) const override { op_->forward(frame[x().location], frame[y().location]); }
  void backward_input(const Frame& frame) const override {
    op_->backward(frame[y().location], frame[dy()], frame[dx()]);
  }

 private:
  ops::SoftmaxSpec spec_;
  std::unique_ptr<ops::SoftmaxOp> op_;
};

}  // namespace

Value softmax(const Value& x) {
  const DataType type = x.cell().type();
  return x.cell().add(
      std::make_unique<Softmax>(ops::SoftmaxSpec{.num_rows = x.shape().pixels(), .width = x.shape().c, .type = type}),
      {{&x.tensor(), GradientRule::kMayReplace}}, {.spec = {x.shape(), type}});
}

}  // namespace convoy
