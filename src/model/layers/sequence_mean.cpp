/// Binds the device's mean over sequences to tensors.
#include "model/layers/sequence_mean.h"

#include "convoy/ops/operations.h"

namespace convoy {

namespace {

class SequenceMean final : public Layer {
 public:
  explicit SequenceMean(const ops::SequenceMeanSpec& spec) : spec_(spec) {}

  std::string operation() const override { return ops::SequenceMeanOp::kName; }
  Reads read_by_backward_input(bool /*training*/) const override { return {inputs[1].tensor}; }

  void create_ops(ops::Backend& backend) override { op_ = backend.create<ops::SequenceMeanOp>(spec_); }
  void forward(const Frame& frame) const override {
    op_->forward(frame[x().location], lengths(frame), frame[y().location]);
  }
  void backward_input(const Frame& frame) const override { op_->backward(frame[dy()], lengths(frame), frame[dx()]); }

 private:
  const std::int32_t* lengths(const Frame& frame) const {
    return reinterpret_cast<const std::int32_t*>(frame[inputs[1].tensor->location]);
  }

  ops::SequenceMeanSpec spec_;
  std::unique_ptr<ops::SequenceMeanOp> op_;
};

}  // namespace

Value sequence_mean(const Value& x, const Value& lengths) {
  CellBuilder& cell = x.cell();
  const Shape& shape = x.shape();
  const ops::SequenceMeanSpec spec{.n = shape.n, .length = shape.length(), .width = shape.c, .type = cell.type()};
  return cell.add(std::make_unique<SequenceMean>(spec), {{&x.tensor()}, {&lengths.tensor(), GradientRule::kNone}},
                  {.spec = {Shape::vectors(shape.n, shape.c), cell.type()}, .is_small = true});
}

}  // namespace convoy
