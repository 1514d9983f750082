/// Fully connected layers.
#include "model/layers/linear.h"

namespace convoy {

Value linear(const std::string& name, const Value& x, std::int64_t num_outputs) {
  CellBuilder& cell = x.cell();
  const ops::LinearSpec spec{
      .n = x.shape().n, .num_inputs = x.shape().c, .num_outputs = num_outputs, .type = cell.type()};
  return cell.add(std::make_unique<Linear>(cell.memory(), cell.parameter_name(name), spec), {{&x.tensor()}},
                  {.shape = {spec.n, 1, 1, num_outputs}});
}

Linear::Linear(CellMemory& memory, const std::string& name, const ops::LinearSpec& spec)
    : spec_(spec),
      weight_(memory.parameter({.name = name + ".weight",
                                .kind = ParameterKind::kLinearWeight,
                                .dims = {spec.num_outputs, spec.num_inputs},
                                .fan_in = spec.num_inputs})),
      bias_(memory.parameter({.name = name + ".bias",
                              .kind = ParameterKind::kLinearBias,
                              .dims = {spec.num_outputs},
                              .fan_in = spec.num_inputs})) {
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
