/// A linear layer: three products. The activation that alone reads its result, and a dropout after it, are computed
/// with it.
#include "model/layers/linear.h"

#include <cmath>

#include "convoy/ops/operations.h"

#include "model/layers/activation.h"
#include "model/layers/dropout.h"

namespace convoy {

namespace {

/// y = f(u), u = x w^T + b; without an activation y = u; or y = dropout(max(0, u))
/// du = dy f'(u)    dx = du w    dw = du^T x    db = sum over rows of du
class Linear final : public Layer {
 public:
  Linear(CellBuilder& cell, const ops::LinearSpec& spec, const LinearSettings& settings);

  std::string operation() const override { return ops::LinearOp::kName; }
  LayerFlop flop(bool /*is_split*/) const override {
    const double flop = spec_.forward_flop();
    return {.forward = flop, .input_gradient = wants_dx() ? flop : 0, .weight_gradient = flop};
  }
  bool merge(Layer& next) override;
  void connect(CellGraph& graph) override;
  bool has_weights() const override { return true; }
  bool overwrites_dy() const override { return spec_.activation.has_value(); }
  bool backward_weight_reads_dy() const override { return true; }
  Reads read_by_backward_input(bool training) const override;
  Reads read_by_backward_weight() const override { return {&x()}; }

  void create_ops(ops::Backend& backend) override;
  void forward(const Frame& frame) const override;
  void backward_input(const Frame& frame) const override;
  void backward_weight(const Frame& frame) const override;

 private:
  const Tensor& derivative_source() const {
    return derivative_follows_from_output(*spec_.activation) ? y() : *before_activation_;
  }

  bool drops(const Frame& frame) const { return dropout_ && frame.training; }

  ops::LinearSpec spec_;
  std::optional<ops::DropoutSpec> drop_spec_;  ///< only after a ReLU: the output tells what was dropped
  LinearParameters parameters_;
  Tensor* before_activation_ = nullptr;  ///< u, if an activation follows
  std::unique_ptr<ops::LinearOp> op_;
  std::unique_ptr<ops::ActivationOp> activation_;
  std::unique_ptr<ops::DropoutOp> dropout_;
};

Linear::Linear(CellBuilder& cell, const ops::LinearSpec& spec, const LinearSettings& settings)
    : spec_(spec), parameters_(add_linear_parameters(cell, spec.num_inputs, settings)) {}

bool Linear::merge(Layer& next) {
  const auto* dropout = dynamic_cast<const Dropout*>(&next);
  if (dropout != nullptr && !dropout->has_residual() && spec_.activation == ops::Activation::kRelu) {
    drop_spec_ = dropout->spec();
    return true;
  }
  const auto* activation = dynamic_cast<const ActivationLayer*>(&next);
  if (activation == nullptr || !activation->has_no_numbers() || spec_.activation || spec_.y_type != spec_.type)
    return false;
  spec_.activation = activation->function();
  before_activation_ = &y();
  return true;
}

void Linear::connect(CellGraph&) {
  if (before_activation_ != nullptr) outputs.push_back(before_activation_);
}

Reads Linear::read_by_backward_input(bool /*training*/) const {
  return spec_.activation ? Reads{&derivative_source()} : Reads{};
}

void Linear::create_ops(ops::Backend& backend) {
  ops::LinearSpec spec = spec_;
  if (drop_spec_) spec.activation.reset();  // the dropout computes it in the same pass
  op_ = backend.create<ops::LinearOp>(spec);
  if (drop_spec_) dropout_ = backend.create<ops::DropoutOp>(*drop_spec_);
  if (spec_.activation)
    activation_ = backend.create<ops::ActivationOp>(
        {.count = y().spec.shape.count(), .activation = *spec_.activation, .type = spec_.type});
}

void Linear::forward(const Frame& frame) const {
  const bool activates = spec_.activation.has_value();
  const Tensor& u = activates ? *before_activation_ : y();
  const bool keeps_u = !activates || &derivative_source() == &u;
  const void* bias = spec_.y_type == DataType::kFloat32 ? frame[parameters_.bias] : frame.weights[parameters_.bias];
  if (dropout_) {
    std::byte* y_data = frame[y().location];
    op_->forward(frame[x().location], frame.weights[parameters_.weight], bias, {.y = y_data});
    drops(frame) ? dropout_->relu_and_run(frame.draw_key, y_data, y_data) : activation_->forward(y_data, y_data);
    return;
  }
  op_->forward(frame[x().location], frame.weights[parameters_.weight], bias,
               {.y = keeps_u ? frame[u.location] : nullptr, .activated = activates ? frame[y().location] : nullptr});
}

void Linear::backward_input(const Frame& frame) const {
  if (drops(frame)) {
    dropout_->backward_of_relu(frame[y().location], frame[dy()], frame[dy()]);
  } else if (activation_) {
    activation_->backward(frame[derivative_source().location], frame[dy()], frame[dy()]);
  }
  if (wants_dx()) op_->backward_input(frame[dy()], frame.weights[parameters_.weight], frame[dx()]);
}

void Linear::backward_weight(const Frame& frame) const {
  op_->backward_weight(frame[x().location], frame[dy()], frame.gradient(parameters_.weight),
                       frame.gradient(parameters_.bias));
}

// `y` is the shape and the type of the results.
Value add_linear(const Value& x, const LinearSettings& settings, const TensorSpec& y) {
  CellBuilder& cell = x.cell();
  const ops::LinearSpec spec{.n = x.shape().pixels(),
                             .num_inputs = x.shape().c,
                             .num_outputs = settings.num_outputs,
                             .type = cell.type(),
                             .y_type = y.type};
  return cell.add(std::make_unique<Linear>(cell, spec, settings), {{&x.tensor()}}, {.spec = y});
}

LinearSettings named(const std::string& name, std::int64_t num_outputs) {
  return {.weight = name + ".weight", .bias = name + ".bias", .num_outputs = num_outputs};
}

}  // namespace

LinearParameters add_linear_parameters(CellBuilder& cell, std::int64_t num_inputs, const LinearSettings& settings) {
  const InitialValues usual{InitialValues::Kind::kUniform, 1.0 / std::sqrt(static_cast<double>(num_inputs))};
  const ParameterRef weight = cell.memory().parameter({.name = cell.parameter_name(settings.weight),
                                                       .dims = {settings.num_outputs, num_inputs},
                                                       .initial = settings.initial_weight.value_or(usual)});
  const ParameterRef bias = cell.memory().parameter({.name = cell.parameter_name(settings.bias),
                                                     .dims = {settings.num_outputs},
                                                     .initial = settings.initial_bias.value_or(usual),
                                                     .role = ParameterRole::kNormOrBias});
  return {weight, bias};
}

Value linear(const Value& x, const LinearSettings& settings) {
  Shape y = x.shape();
  y.c = settings.num_outputs;
  return add_linear(x, settings, {.shape = y, .type = x.cell().type()});
}

Value linear(const std::string& name, const Value& x, std::int64_t num_outputs) {
  return linear(x, named(name, num_outputs));
}

Value logits(const std::string& name, const Value& x, std::int64_t num_outputs) {
  const Shape& shape = x.shape();
  return add_linear(x, named(name, num_outputs), {.shape = Shape::vectors(shape.n, shape.length() * num_outputs)});
}

Value pixel_logits(const std::string& name, const Value& x, std::int64_t num_outputs) {
  Shape y = x.shape();
  y.c = num_outputs;
  return add_linear(x, named(name, num_outputs), {.shape = y});
}

}  // namespace convoy
