/// Binds the device's gathering to tensors; without positions it takes the first word.
#include "model/layers/gather.h"

#include "convoy/ops/operations.h"

namespace convoy {

namespace {

class Gather final : public Layer {
 public:
  explicit Gather(const ops::GatherSpec& spec) : spec_(spec) {}

  std::string operation() const override { return ops::GatherOp::kName; }
  Reads read_by_backward_input(bool /*training*/) const override {
    return inputs.size() > 1 ? Reads{inputs[1].tensor} : Reads{};
  }

  void create_ops(ops::Backend& backend) override { op_ = backend.create<ops::GatherOp>(spec_); }
  void forward(const Frame& frame) const override {
    op_->forward(frame[x().location], positions(frame), frame[y().location]);
  }
  void backward_input(const Frame& frame) const override { op_->backward(frame[dy()], positions(frame), frame[dx()]); }

 private:
  const std::int32_t* positions(const Frame& frame) const {
    return inputs.size() > 1 ? reinterpret_cast<const std::int32_t*>(frame[inputs[1].tensor->location]) : nullptr;
  }

  ops::GatherSpec spec_;
  std::unique_ptr<ops::GatherOp> op_;
};

Value add_gather(const Value& x, std::int64_t num_taken, std::vector<LayerInput> inputs) {
  CellBuilder& cell = x.cell();
  const Shape& shape = x.shape();
  const ops::GatherSpec spec{
      .n = shape.n, .length = shape.length(), .num_taken = num_taken, .width = shape.c, .type = cell.type()};
  return cell.add(std::make_unique<Gather>(spec), std::move(inputs),
                  {.spec = {Shape::sequences(shape.n, num_taken, shape.c), cell.type()}});
}

}  // namespace

Value gather(const Value& x, const Value& positions) {
  return add_gather(x, positions.shape().length(), {{&x.tensor()}, {&positions.tensor(), GradientRule::kNone}});
}

Value first_word(const Value& x) {
  return add_gather(x, 1, {{&x.tensor()}});
}

}  // namespace convoy
