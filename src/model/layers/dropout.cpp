/// Nothing is stored: backward draws again.
#include "model/layers/dropout.h"

namespace convoy {

namespace {

class Dropout final : public Layer {
 public:
  explicit Dropout(const ops::DropoutSpec& spec) : spec_(spec) {}

  void create_ops(ops::Backend& backend) override {
    op_ = backend.create<ops::DropoutOp>(spec_);
    elementwise_ = &backend.elementwise();
  }
  void forward(const Frame& frame) const override { run(frame, frame[x().location], frame[y().location]); }
  void backward_input(const Frame& frame) const override { run(frame, frame[dy()], frame[dx()]); }

 private:
  void run(const Frame& frame, const std::byte* from, std::byte* to) const {
    if (frame.training) {
      op_->run(frame.draw_key, from, to);
    } else if (from != to) {
      elementwise_->copy(from, to, spec_.count * size_of(spec_.type));
    }
  }

  ops::DropoutSpec spec_;
  std::unique_ptr<ops::DropoutOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

}  // namespace

Value dropout(const Value& x, double p) {
  CellBuilder& cell = x.cell();
  const ops::DropoutSpec spec{.count = x.shape().count(),
                              .p = static_cast<float>(p),
                              .layer = cell.number_of_drawing_layer(),
                              .type = cell.type()};
  return cell.add(std::make_unique<Dropout>(spec), {{&x.tensor(), GradientRule::kMayReplace}},
                  {.spec = {x.shape(), cell.type()}});
}

}  // namespace convoy
