/// Fully connected layers.
#include "model/layers/linear.h"

#include <cmath>

namespace convoy {

Value linear(const std::string& name, const Value& x, std::int64_t num_outputs) {
  CellBuilder& cell = x.cell();
  const ops::LinearSpec spec{
      .n = x.shape().n, .num_inputs = x.shape().c, .num_outputs = num_outputs, .type = cell.type()};
  return cell.add(std::make_unique<Linear>(cell.memory(), cell.parameter_name(name), spec), {{&x.tensor()}},
                  {.spec = {{spec.n, 1, 1, num_outputs}, DataType::kFloat32}});
}

namespace {

// As torch.nn.Linear: uniform within 1 / sqrt(C).
InitialValues within_fan_in(const ops::LinearSpec& spec) {
  return {InitialValues::Kind::kUniform, 1.0 / std::sqrt(static_cast<double>(spec.num_inputs))};
}

}  // namespace

Linear::Linear(CellMemory& memory, const std::string& name, const ops::LinearSpec& spec)
    : spec_(spec),
      weight_(memory.parameter(
          {.name = name + ".weight", .dims = {spec.num_outputs, spec.num_inputs}, .initial = within_fan_in(spec)})),
      bias_(memory.parameter({.name = name + ".bias",
                              .dims = {spec.num_outputs},
                              .initial = within_fan_in(spec),
                              .is_norm_or_bias = true})) {
  memory.add_flop(spec.forward_flop(), 2 * spec.forward_flop());
}

void Linear::forward(const Frame& frame) const {
  op_->forward(frame[x().place], frame.weights[weight_], frame[bias_], reinterpret_cast<float*>(frame[y().place]));
}

void Linear::backward_input(const Frame& frame) const {
  if (wants_dx()) op_->backward_input(frame[dy()], frame.weights[weight_], frame[dx()]);
}

void Linear::backward_weight(const Frame& frame) const {
  op_->backward_weight(frame[x().place], frame[dy()], frame.gradient(weight_), frame.gradient(bias_));
}

}  // namespace convoy
