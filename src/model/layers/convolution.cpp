/// Convolutions with their initial weights.
#include "model/layers/convolution.h"

#include <cmath>

#include "convoy/ops/operations.h"

namespace convoy {

Value convolution(const std::string& name, const Value& x, const ConvolutionSettings& settings) {
  CellBuilder& cell = x.cell();
  auto layer = std::make_unique<Convolution>(cell.memory(), cell.parameter_name(name), settings, x.shape());
  const Shape y = layer->y_shape();
  return cell.add(std::move(layer), {{&x.tensor()}}, {.spec = {y, cell.type()}});
}

Value convolution_3x3(const std::string& name, const Value& x, std::int64_t num_filters, std::int64_t stride) {
  return convolution(name, x, {.num_filters = num_filters, .kernel = 3, .stride = stride, .padding = 1});
}

Value convolution_1x1(const std::string& name, const Value& x, std::int64_t num_filters, std::int64_t stride) {
  return convolution(name, x, {.num_filters = num_filters, .kernel = 1, .stride = stride, .padding = 0});
}

Convolution::Convolution(CellMemory& memory, const std::string& name, const ConvolutionSettings& settings,
                         const Shape& x)
    : spec_{.x = x,
            .num_filters = settings.num_filters,
            .kernel = settings.kernel,
            .stride = settings.stride,
            .padding = settings.padding,
            .type = memory.type(),
            .groups = settings.groups,
            .dilation = settings.dilation} {
  const InitialValues usual{InitialValues::Kind::kNormal,
                            std::sqrt(2.0 / static_cast<double>(spec_.num_filters * spec_.kernel * spec_.kernel))};
  weight_ = memory.parameter({.name = name + ".weight",
                              .dims = {spec_.num_filters, spec_.filter_channels(), spec_.kernel, spec_.kernel},
                              .initial = settings.initial_weight.value_or(usual),
                              .file_order = FileOrder::kChannelsBeforePixels,
                              .packed_count = spec_.packed_weight_count()});
  if (settings.bias)
    bias_ = memory.parameter({.name = name + ".bias", .dims = {spec_.num_filters}, .role = ParameterRole::kNormOrBias});
}

void Convolution::connect(CellGraph& /*graph*/) {
  spec_.needs_dx = x().has_gradient;
}

LayerFlop Convolution::flop(bool /*is_split*/) const {
  const double flop = spec_.forward_flop();
  return {.forward = flop, .input_gradient = spec_.needs_dx ? flop : 0, .weight_gradient = flop};
}

void Convolution::create_ops(ops::Backend& backend) {
  op_ = backend.create<ops::ConvolutionOp>(spec_);
  if (bias_)
    add_bias_ = backend.create<ops::BroadcastOp>(
        {.num_rows = spec_.y().pixels(), .num_columns = spec_.num_filters, .type = spec_.type});
}

void Convolution::forward(const Frame& frame) const {
  std::byte* y_data = frame[y().location];
  op_->forward(frame[x().location], y_data);
  if (bias_) add_bias_->forward(y_data, frame[*bias_], y_data);
}

void Convolution::backward_input(const Frame& frame) const {
  if (spec_.needs_dx) op_->backward_input(frame[dy()], frame[dx()]);
}

void Convolution::backward_weight(const Frame& frame) const {
  op_->backward_weight(frame[x().location], frame[dy()], frame.gradient(weight_));
  if (bias_) add_bias_->backward({.dy = frame[dy()], .dv = frame.gradient(*bias_)});
}

}  // namespace convoy
