/// Binds the device's losses of targets to tensors.
#include "model/layers/target_loss.h"

#include "convoy/ops/operations.h"

namespace convoy {

namespace {

class TargetLoss final : public Layer {
 public:
  explicit TargetLoss(const ops::TargetLossSpec& spec) : spec_(spec) {}

  std::string operation() const override { return ops::TargetLossOp::kName; }
  Reads read_by_backward_input(bool /*training*/) const override { return {&x(), inputs[1].tensor, &y()}; }

  void create_ops(ops::Backend& backend) override { op_ = backend.create<ops::TargetLossOp>(spec_); }
  void forward(const Frame& frame) const override {
    op_->forward(floats(frame, x()), floats(frame, *inputs[1].tensor),
                 reinterpret_cast<ops::SampleScore*>(frame[y().location]));
  }
  void backward_input(const Frame& frame) const override {
    op_->backward(floats(frame, x()), floats(frame, *inputs[1].tensor),
                  reinterpret_cast<const ops::SampleScore*>(frame[y().location]),
                  reinterpret_cast<const ops::SampleScore*>(frame[dy()]), frame[dx()]);
  }

 private:
  static const float* floats(const Frame& frame, const Tensor& tensor) {
    return reinterpret_cast<const float*>(frame[tensor.location]);
  }

  ops::TargetLossSpec spec_;
  std::unique_ptr<ops::TargetLossOp> op_;
};

}  // namespace

Value target_loss(const Value& outputs, const Value& targets, ops::TargetLossSpec loss) {
  CellBuilder& cell = outputs.cell();
  const Shape& shape = outputs.shape();
  loss.n = shape.n;
  loss.num_pixels = shape.length();
  loss.num_outputs = shape.c;
  loss.type = cell.type();
  return cell.add(std::make_unique<TargetLoss>(loss), {{&outputs.tensor()}, {&targets.tensor(), GradientRule::kNone}},
                  {.spec = {Shape::vectors(shape.n, 3), DataType::kFloat32},
                   .is_small = true,
                   .gradient_type = DataType::kFloat32});
}

}  // namespace convoy
