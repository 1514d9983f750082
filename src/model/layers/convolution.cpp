/// Convolutions and what they do for the batch norms around them.
#include "model/layers/convolution.h"

#include <cmath>

#include "model/layers/batch_norm.h"

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
            .groups = settings.groups} {
  const InitialValues usual{InitialValues::Kind::kNormal,
                            std::sqrt(2.0 / static_cast<double>(spec_.num_filters * spec_.kernel * spec_.kernel))};
  weight_ = memory.parameter({.name = name + ".weight",
                              .dims = {spec_.num_filters, spec_.filter_channels(), spec_.kernel, spec_.kernel},
                              .initial = settings.initial_weight.value_or(usual),
                              .file_order = FileOrder::kChannelsBeforePixels,
                              .is_packed = true});
  if (settings.bias)
    bias_ = memory.parameter({.name = name + ".bias", .dims = {spec_.num_filters}, .role = ParameterRole::kNormOrBias});
}

void Convolution::connect(CellGraph& graph) {
  spec_.needs_dx = x().has_gradient;
  auto* norm = dynamic_cast<BatchNorm*>(x().producer);
  if (norm != nullptr && !bias_ && norm->is_relu_alone() && x().readers.size() == 1) {
    norm_before_ = norm;
    norm->set_convolution_after(*this);
    spec_.x_is_normalised = true;
  }
  // Two rows, each on cache lines of its own.
  constexpr std::int64_t kLineFloats = 16;
  outputs.push_back(
      &graph.tensors.emplace_back(Tensor{.spec = {.shape = {1, 1, 2, round_up(spec_.num_filters, kLineFloats)}}}));
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

bool Convolution::normalises(bool training) const {
  return training && norm_before_ != nullptr && op_ != nullptr && op_->normalises();
}

bool Convolution::gives_sums(bool training) const {
  return normalises(training) || (training && !bias_ && !sums_tensor().readers.empty() && op_->gives_sums());
}

ops::ChannelSums Convolution::sums(const Frame& frame) const {
  auto* sum = reinterpret_cast<float*>(frame[sums_tensor().location]);
  return {.sum = sum, .square_sum = sum + sums_tensor().spec.shape.c};
}

Reads Convolution::read_by_forward(bool training) const {
  return {normalises(training) ? &norm_before_->x() : &x()};
}

Reads Convolution::read_by_backward_input(bool training) const {
  if (op_ != nullptr && sums_gradients(training)) return {&norm_before_->x()};
  return {};
}

// Recomputed by the engine that forward used, so with the same bits.
void Convolution::forward(const Frame& frame) const {
  std::byte* y_data = frame[y().location];
  if (normalises(frame.training)) {
    op_->normalise_and_forward(norm_before_->as_input(frame), y_data, sums(frame));
  } else if (gives_sums(frame.training)) {
    op_->forward_with_sums(frame[x().location], y_data, sums(frame));
  } else {
    op_->forward(frame[x().location], y_data);
  }
  if (bias_) add_bias_->forward(y_data, frame[*bias_], y_data);
}

void Convolution::backward_input(const Frame& frame) const {
  if (sums_gradients(frame.training)) {
    op_->backward_input_with_sums(frame[dy()], norm_before_->as_input(frame),
                                  norm_before_->sums_of_gradients(frame, frame[dx()]));
  } else if (spec_.needs_dx) {
    op_->backward_input(frame[dy()], frame[dx()]);
  }
}

void Convolution::backward_weight(const Frame& frame) const {
  float* dw = frame.gradient(weight_);
  if (normalises(frame.training)) {
    op_->normalise_and_backward_weight(norm_before_->as_input(frame), frame[dy()], dw);
  } else {
    op_->backward_weight(frame[x().location], frame[dy()], dw);
  }
  if (bias_) add_bias_->backward({.dy = frame[dy()], .dv = frame.gradient(*bias_)});
}

}  // namespace convoy
