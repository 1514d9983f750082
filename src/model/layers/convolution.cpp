/// Convolutions and what they do for the batch norms around them.
#include "model/layers/convolution.h"

#include <cmath>

#include "model/layers/batch_norm.h"

namespace convoy {

Value convolution(const std::string& name, const Value& x, const ConvolutionSettings& settings) {
  CellBuilder& cell = x.cell();
  const ops::ConvolutionSpec spec{.x = x.shape(),
                                  .num_filters = settings.num_filters,
                                  .kernel = settings.kernel,
                                  .stride = settings.stride,
                                  .padding = settings.padding,
                                  .type = cell.type(),
                                  .groups = settings.groups};
  return cell.add(std::make_unique<Convolution>(cell.memory(), cell.parameter_name(name), spec), {{&x.tensor()}},
                  {.spec = {spec.y(), cell.type()}});
}

Value convolution_3x3(const std::string& name, const Value& x, std::int64_t num_filters, std::int64_t stride) {
  return convolution(name, x, {.num_filters = num_filters, .kernel = 3, .stride = stride, .padding = 1});
}

Value convolution_1x1(const std::string& name, const Value& x, std::int64_t num_filters, std::int64_t stride) {
  return convolution(name, x, {.num_filters = num_filters, .kernel = 1, .stride = stride, .padding = 0});
}

Convolution::Convolution(CellMemory& memory, const std::string& name, const ops::ConvolutionSpec& spec)
    : spec_(spec),
      // He et al. 2015, "Delving deep", fan-out: variance 2 / (K R S), whatever the groups, as in torchvision
      weight_(memory.parameter(
          {.name = name + ".weight",
           .dims = {spec.num_filters, spec.filter_channels(), spec.kernel, spec.kernel},
           .initial = {InitialValues::Kind::kNormal,
                       std::sqrt(2.0 / static_cast<double>(spec.num_filters * spec.kernel * spec.kernel))},
           .file_order = FileOrder::kChannelsBeforePixels,
           .is_packed = true})) {}

void Convolution::connect(CellGraph& graph) {
  spec_.needs_dx = x().has_gradient;
  auto* norm = dynamic_cast<BatchNorm*>(x().producer);
  if (norm != nullptr && norm->is_relu_alone() && x().readers.size() == 1) {
    norm_before_ = norm;
    norm->set_convolution_after(*this);
    spec_.x_is_normalised = true;
  }
  graph.memory.add_flop(spec_.forward_flop(), (spec_.needs_dx ? 2 : 1) * spec_.forward_flop());
  // Two rows, each on cache lines of its own.
  constexpr std::int64_t kLineFloats = 16;
  outputs.push_back(
      &graph.tensors.emplace_back(Tensor{.spec = {.shape = {1, 1, 2, round_up(spec_.num_filters, kLineFloats)}}}));
}

bool Convolution::normalises(bool training) const {
  return training && norm_before_ != nullptr && op_ != nullptr && op_->normalises();
}

bool Convolution::gives_sums(bool training) const {
  return normalises(training) || (training && !sums_tensor().readers.empty() && op_->gives_sums());
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
}

}  // namespace convoy
