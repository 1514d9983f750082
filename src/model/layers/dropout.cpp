/// Dropout stores no mask: backward draws the same numbers again.
#include "model/layers/dropout.h"

#include "convoy/ops/elementwise.h"
#include "convoy/ops/operations.h"

#include "model/layers/sum.h"

namespace convoy {

bool Dropout::merge(Layer& next) {
  if (has_residual() || dynamic_cast<Sum*>(&next) == nullptr) return false;
  // dx may not replace dy, which is the residual's gradient.
  inputs.front().rule = GradientRule::kWrites;
  for (const LayerInput& in : next.inputs)
    if (in.tensor != &y()) inputs.push_back({in.tensor, GradientRule::kIsTheSame});
  return true;
}

void Dropout::create_ops(ops::Backend& backend) {
  op_ = backend.create<ops::DropoutOp>(spec_);
  elementwise_ = &backend.elementwise();
}

void Dropout::forward(const Frame& frame) const {
  const std::byte *x_data = frame[x().location],
                  *residual = has_residual() ? frame[inputs[1].tensor->location] : nullptr;
  std::byte* y_data = frame[y().location];
  if (frame.training) {
    has_residual() ? op_->run_and_add(frame.draw_key, x_data, residual, y_data)
                   : op_->run(frame.draw_key, x_data, y_data);
  } else if (has_residual()) {
    elementwise_->add(spec_.type, residual, x_data, y_data, spec_.count);
  } else if (x_data != y_data) {
    elementwise_->copy(x_data, y_data, spec_.count * size_of(spec_.type));
  }
}

void Dropout::backward_input(const Frame& frame) const {
  if (!wants_dx()) return;
  if (frame.training) {
    op_->run(frame.draw_key, frame[dy()], frame[dx()]);
  } else if (frame[dy()] != frame[dx()]) {
    elementwise_->copy(frame[dy()], frame[dx()], spec_.count * size_of(spec_.type));
  }
}

namespace {

Value drop(const Value& x, double p, std::int64_t values_per_draw) {
  CellBuilder& cell = x.cell();
  const ops::DropoutSpec spec{.count = x.shape().count(),
                              .p = static_cast<float>(p),
                              .layer = cell.number_of_drawing_layer(),
                              .type = cell.type(),
                              .values_per_draw = values_per_draw};
  return cell.add(std::make_unique<Dropout>(spec), {{&x.tensor(), GradientRule::kMayReplace}},
                  {.spec = {x.shape(), cell.type()}});
}

}  // namespace

Value dropout(const Value& x, double p) {
  return drop(x, p, 1);
}

Value stochastic_depth(const Value& x, double p) {
  return p > 0 ? drop(x, p, x.shape().count() / x.shape().n) : x;
}

}  // namespace convoy
