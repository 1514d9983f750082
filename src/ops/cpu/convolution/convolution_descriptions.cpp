/// Primitive descriptions of convolutions, for oneDNN 2 and 3.
#include "ops/cpu/convolution/convolution_descriptions.h"

#include <tuple>

#include "ops/cpu/onednn/dnnl_call.h"

namespace convoy::ops::cpu {

namespace {

using Tag = dnnl::memory::format_tag;

// oneDNN may choose among its direct algorithms, never its Winograd: F(4x4, 3x3) rounds more than ours (winograd.h).
constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

/// The extents of the weights: with groups, their number comes first.
dnnl::memory::dims weight_dims(const ConvolutionSpec& spec) {
  if (spec.groups == 1) return {spec.num_filters, spec.x.c, spec.kernel, spec.kernel};
  return {spec.groups, spec.num_filters / spec.groups, spec.filter_channels(), spec.kernel, spec.kernel};
}

/// The layout of the weights in our arenas, (K,R,S,C/G).
Tag plain_weights_tag(const ConvolutionSpec& spec) {
  return spec.groups == 1 ? Tag::ohwi : Tag::gohwi;
}

/// Makes a primitive description: oneDNN 3 takes the arguments, oneDNN 2 an operation descriptor made of them.
template <typename Primitive, typename... Arguments, typename... Hint>
typename Primitive::primitive_desc describe(const dnnl::engine& engine, const ConvolutionSpec& spec,
                                            const std::tuple<Arguments...>& arguments, const Hint&... hint) {
  const dnnl::memory::dims strides(2, spec.stride), padding(2, spec.padding);
  const dnnl::memory::dims skipped(2, spec.kernel > 1 ? spec.dilation - 1 : 0);  // pixels between two of a window
  return std::apply(
      [&](const auto&... a) {
#if DNNL_VERSION_MAJOR >= 3
        return typename Primitive::primitive_desc(engine, a..., strides, skipped, padding, padding, hint...,
                                                  DnnlRuntime::attributes());
#else
        return typename Primitive::primitive_desc({a..., strides, skipped, padding, padding}, DnnlRuntime::attributes(),
                                                  engine, hint...);
#endif
      },
      arguments);
}

}  // namespace

ConvolutionLayouts::ConvolutionLayouts(const ConvolutionSpec& spec)
    : x(dnnl_layout({spec.x.n, spec.x.c, spec.x.h, spec.x.w}, Tag::nhwc, spec.type)),
      y(dnnl_layout({spec.y().n, spec.y().c, spec.y().h, spec.y().w}, Tag::nhwc, spec.type)),
      any_weights(dnnl_layout(weight_dims(spec), Tag::any, spec.type)),
      plain_weights(dnnl_layout(weight_dims(spec), plain_weights_tag(spec), spec.type)),
      any_gradient(dnnl_layout(weight_dims(spec), Tag::any)),
      plain_gradient(dnnl_layout(weight_dims(spec), plain_weights_tag(spec))) {}

DnnlForward::primitive_desc describe_forward(const ConvolutionSpec& spec, const dnnl::engine& engine) {
  const ConvolutionLayouts layouts(spec);
  return describe<DnnlForward>(
      engine, spec,
      std::tuple(dnnl::prop_kind::forward_training, kAlgorithm, layouts.x, layouts.any_weights, layouts.y));
}

DnnlBackwardInput::primitive_desc describe_backward_input(const ConvolutionSpec& spec, const dnnl::engine& engine,
                                                          const DnnlForward::primitive_desc& forward) {
  const ConvolutionLayouts layouts(spec);
  return describe<DnnlBackwardInput>(engine, spec, std::tuple(kAlgorithm, layouts.x, layouts.any_weights, layouts.y),
                                     forward);
}

DnnlBackwardWeight::primitive_desc describe_backward_weight(const ConvolutionSpec& spec, const dnnl::engine& engine,
                                                            const DnnlForward::primitive_desc& forward) {
  const ConvolutionLayouts layouts(spec);
  return describe<DnnlBackwardWeight>(engine, spec, std::tuple(kAlgorithm, layouts.x, layouts.any_gradient, layouts.y),
                                      forward);
}

}  // namespace convoy::ops::cpu
