/// oneDNN's convolutions alone.
#include "yardstick.h"

#include <unordered_map>

#include <oneapi/dnnl/dnnl.hpp>

#include "convoy/base/clock.h"

namespace convoy::bench {

namespace {

using dnnl::memory;

struct Call {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> args;
};

struct Descriptors {
  memory::desc x, w, y;
  memory::dims stride, padding;
};

memory::desc any(const memory::dims& dims) {
  return {dims, memory::data_type::f32, memory::format_tag::any};
}

Descriptors descriptors_of(const ops::ConvolutionSpec& spec) {
  const Shape& x = spec.x;
  const Shape y = spec.y();
  return {.x = any({x.n, x.c, x.h, x.w}),
          .w = any({spec.num_filters, x.c, spec.kernel, spec.kernel}),
          .y = any({y.n, y.c, y.h, y.w}),
          .stride = {spec.stride, spec.stride},
          .padding = {spec.padding, spec.padding}};
}

constexpr auto kDirect = dnnl::algorithm::convolution_direct;

#if DNNL_VERSION_MAJOR >= 3
auto forward_of(const Descriptors& d, const dnnl::engine& engine) {
  return dnnl::convolution_forward::primitive_desc(engine, dnnl::prop_kind::forward_training, kDirect, d.x, d.w, d.y,
                                                   d.stride, d.padding, d.padding);
}
auto backward_input_of(const Descriptors& d, const dnnl::engine& engine,
                       const dnnl::convolution_forward::primitive_desc& hint) {
  return dnnl::convolution_backward_data::primitive_desc(engine, kDirect, d.x, d.w, d.y, d.stride, d.padding, d.padding,
                                                         hint);
}
auto backward_weight_of(const Descriptors& d, const dnnl::engine& engine,
                        const dnnl::convolution_forward::primitive_desc& hint) {
  return dnnl::convolution_backward_weights::primitive_desc(engine, kDirect, d.x, d.w, d.y, d.stride, d.padding,
                                                            d.padding, hint);
}
#else
auto forward_of(const Descriptors& d, const dnnl::engine& engine) {
  return dnnl::convolution_forward::primitive_desc(
      {dnnl::prop_kind::forward_training, kDirect, d.x, d.w, d.y, d.stride, d.padding, d.padding}, engine);
}
auto backward_input_of(const Descriptors& d, const dnnl::engine& engine,
                       const dnnl::convolution_forward::primitive_desc& hint) {
  return dnnl::convolution_backward_data::primitive_desc({kDirect, d.x, d.w, d.y, d.stride, d.padding, d.padding},
                                                         engine, hint);
}
auto backward_weight_of(const Descriptors& d, const dnnl::engine& engine,
                        const dnnl::convolution_forward::primitive_desc& hint) {
  return dnnl::convolution_backward_weights::primitive_desc({kDirect, d.x, d.w, d.y, d.stride, d.padding, d.padding},
                                                            engine, hint);
}
#endif

}  // namespace

struct Yardstick::Impl {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<Call> calls;

  // Values that are no zeros and no denormals: arithmetic on those can run at another speed.
  memory filled(const memory::desc& desc) const {
    memory result(desc, engine);
    auto* values = static_cast<float*>(result.get_data_handle());
    const std::size_t count = desc.get_size() / sizeof(float);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 2654435761u % 1021) / 1021.0f - 0.5f;
    return result;
  }

  void add(const ops::ConvolutionSpec& spec) {
    const Descriptors d = descriptors_of(spec);
    const auto forward = forward_of(d, engine);
    calls.push_back({dnnl::convolution_forward(forward),
                     {{DNNL_ARG_SRC, filled(forward.src_desc())},
                      {DNNL_ARG_WEIGHTS, filled(forward.weights_desc())},
                      {DNNL_ARG_DST, filled(forward.dst_desc())}}});
    const auto weight_gradient = backward_weight_of(d, engine, forward);
    calls.push_back({dnnl::convolution_backward_weights(weight_gradient),
                     {{DNNL_ARG_SRC, filled(weight_gradient.src_desc())},
                      {DNNL_ARG_DIFF_DST, filled(weight_gradient.diff_dst_desc())},
                      {DNNL_ARG_DIFF_WEIGHTS, filled(weight_gradient.diff_weights_desc())}}});
    if (!spec.needs_dx) return;
    const auto data_gradient = backward_input_of(d, engine, forward);
    calls.push_back({dnnl::convolution_backward_data(data_gradient),
                     {{DNNL_ARG_DIFF_DST, filled(data_gradient.diff_dst_desc())},
                      {DNNL_ARG_WEIGHTS, filled(data_gradient.weights_desc())},
                      {DNNL_ARG_DIFF_SRC, filled(data_gradient.diff_src_desc())}}});
  }
};

Yardstick::Yardstick(const std::vector<ops::ConvolutionSpec>& specs) : impl_(std::make_unique<Impl>()) {
  for (const ops::ConvolutionSpec& spec : specs) impl_->add(spec);
}

Yardstick::~Yardstick() = default;

double Yardstick::run() {
  const double start = now_seconds();
  for (Call& call : impl_->calls) call.primitive.execute(impl_->stream, call.args);
  impl_->stream.wait();
  return now_seconds() - start;
}

}  // namespace convoy::bench
