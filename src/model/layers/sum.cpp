/// A sum is an elementwise operation of the device.
#include "model/layers/sum.h"

#include <stdexcept>

#include <fmt/core.h>

#include "convoy/ops/elementwise.h"

namespace convoy {

Value operator+(const Value& a, const Value& b) {
  if (a.shape() != b.shape())
    throw std::logic_error(
        fmt::format("a cell adds values of the shapes {} and {}", to_string(a.shape()), to_string(b.shape())));
  return a.cell().add(std::make_unique<Sum>(),
                      {{&a.tensor(), GradientRule::kIsTheSame}, {&b.tensor(), GradientRule::kIsTheSame}},
                      {.spec = {a.shape(), a.cell().type()}});
}

void Sum::forward(const Frame& frame) const {
  const Tensor &a = *inputs[0].tensor, &b = *inputs[1].tensor;
  elementwise_->add(y().spec.type, frame[a.location], frame[b.location], frame[y().location], y().spec.shape.count());
}

}  // namespace convoy
