/// Descriptions of the three convolutions for oneDNN 2 and 3.
#include "ops/cpu/dnnl_convolution.h"

#include <tuple>

#include "ops/cpu/dnnl_call.h"

namespace convoy::ops::cpu {

namespace {

using Tag = dnnl::memory::format_tag;

/// A primitive description: oneDNN 3 takes the arguments itself, oneDNN 2 by way of an operation descriptor.
template <typename Primitive, typename... Arguments, typename... Hint>
typename Primitive::primitive_desc describe(const dnnl::engine& engine, const ConvolutionSpec& spec,
                                            const std::tuple<Arguments...>& arguments, const Hint&... hint) {
  const dnnl::memory::dims strides(2, spec.stride), padding(2, spec.padding);
  return std::apply(
      [&](const auto&... a) {
#if DNNL_VERSION_MAJOR >= 3
        return typename Primitive::primitive_desc(engine, a..., strides, padding, padding, hint...,
                                                  DnnlRuntime::attributes());
#else
        return typename Primitive::primitive_desc({a..., strides, padding, padding}, DnnlRuntime::attributes(), engine,
                                                  hint...);
#endif
      },
      arguments);
}

// Whether each place of the kernel lies over some pixel of x in some window.
bool uses_whole_kernel(const ConvolutionSpec& spec) {
  const auto uses_all = [&](std::int64_t size, std::int64_t num_windows) {
    for (std::int64_t r = 0; r < spec.kernel; ++r) {
      bool is_used = false;
      for (std::int64_t p = 0; p < num_windows && !is_used; ++p) {
        const std::int64_t place = p * spec.stride - spec.padding + r;
        is_used = place >= 0 && place < size;
      }
      if (!is_used) return false;
    }
    return true;
  };
  return uses_all(spec.x.h, spec.y().h) && uses_all(spec.x.w, spec.y().w);
}

constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

}  // namespace

ConvolutionLayouts::ConvolutionLayouts(const ConvolutionSpec& spec)
    : x(dnnl_layout({spec.x.n, spec.x.c, spec.x.h, spec.x.w}, Tag::nhwc, spec.type)),
      y(dnnl_layout({spec.y().n, spec.y().c, spec.y().h, spec.y().w}, Tag::nhwc, spec.type)),
      any_weights(dnnl_layout({spec.num_filters, spec.x.c, spec.kernel, spec.kernel}, Tag::any, spec.type)),
      plain_weights(dnnl_layout({spec.num_filters, spec.x.c, spec.kernel, spec.kernel}, Tag::ohwi, spec.type)),
      any_gradient(dnnl_layout({spec.num_filters, spec.x.c, spec.kernel, spec.kernel}, Tag::any)),
      plain_gradient(dnnl_layout({spec.num_filters, spec.x.c, spec.kernel, spec.kernel}, Tag::ohwi)) {}

bool has_convolution(const ConvolutionSpec& spec, const dnnl::engine& engine) {
  if (spec.type == DataType::kFloat32) return true;
  // oneDNN 2.6 with AVX-512's products in bf16 leaves the gradients of unused places as they were.
  if (!uses_whole_kernel(spec)) return false;
  if (!has_dnnl([&] { return describe_forward(spec, engine); })) return false;
  const auto forward = describe_forward(spec, engine);
  return (!spec.needs_dx || has_dnnl([&] { return describe_backward_input(spec, engine, forward); })) &&
         has_dnnl([&] { return describe_backward_weight(spec, engine, forward); });
}

ConvolutionForward::primitive_desc describe_forward(const ConvolutionSpec& spec, const dnnl::engine& engine) {
  const ConvolutionLayouts layouts(spec);
  return describe<ConvolutionForward>(
      engine, spec,
      std::tuple(dnnl::prop_kind::forward_training, kAlgorithm, layouts.x, layouts.any_weights, layouts.y));
}

ConvolutionBackwardInput::primitive_desc describe_backward_input(const ConvolutionSpec& spec,
                                                                 const dnnl::engine& engine,
                                                                 const ConvolutionForward::primitive_desc& forward) {
  const ConvolutionLayouts layouts(spec);
  return describe<ConvolutionBackwardInput>(engine, spec,
                                            std::tuple(kAlgorithm, layouts.x, layouts.any_weights, layouts.y), forward);
}

ConvolutionBackwardWeight::primitive_desc describe_backward_weight(const ConvolutionSpec& spec,
                                                                   const dnnl::engine& engine,
                                                                   const ConvolutionForward::primitive_desc& forward) {
  const ConvolutionLayouts layouts(spec);
  return describe<ConvolutionBackwardWeight>(
      engine, spec, std::tuple(kAlgorithm, layouts.x, layouts.any_gradient, layouts.y), forward);
}

}  // namespace convoy::ops::cpu
