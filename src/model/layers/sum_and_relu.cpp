/// Sums and ReLUs.
#include "model/layers/sum_and_relu.h"

#include <stdexcept>

namespace convoy {

Value operator+(const Value& a, const Value& b) {
  if (a.shape() != b.shape())
    throw std::logic_error(
        fmt::format("a cell adds values of the shapes {} and {}", to_string(a.shape()), to_string(b.shape())));
  return a.cell().add(std::make_unique<Sum>(),
                      {{&a.tensor(), GradientRule::kIsTheSame}, {&b.tensor(), GradientRule::kIsTheSame}},
                      {.spec = {a.shape(), a.cell().type()}});
}

Value relu(const Value& x) {
  return x.cell().add(std::make_unique<Relu>(), {{&x.tensor(), GradientRule::kMayReplace}},
                      {.spec = {x.shape(), x.cell().type()}});
}

void Sum::forward(const Frame& frame) const {
  const Tensor &a = *inputs[0].tensor, &b = *inputs[1].tensor;
  elementwise_->add(y().spec.type, frame[a.place], frame[b.place], frame[y().place], y().spec.shape.count());
}

void Relu::connect(CellGraph&) {
  throw std::logic_error("a cell's relu(x) needs x = batch_norm(...) or batch_norm(...) + s, which nothing else reads");
}

}  // namespace convoy
