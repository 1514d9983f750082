/// oneDNN's convolutions and matrix products alone.
#include "yardstick.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "convoy/base/clock.h"
#include "convoy/ops/operations.h"

namespace convoy::bench {

namespace {

using dnnl::memory;

struct Call {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> args;
  std::int64_t times = 1;
};

struct Descriptors {
  memory::desc x, w, y;
  memory::dims stride, skipped, padding;
};

memory::desc any(const memory::dims& dims) {
  return {dims, memory::data_type::f32, memory::format_tag::any};
}

Descriptors descriptors_of(const ops::ConvolutionSpec& spec) {
  const Shape& x = spec.x;
  const Shape y = spec.y();
  return {.x = any({x.n, x.c, x.h, x.w}),
          .w = any(spec.groups == 1 ? memory::dims{spec.num_filters, x.c, spec.kernel, spec.kernel}
                                    : memory::dims{spec.groups, spec.num_filters / spec.groups, spec.filter_channels(),
                                                   spec.kernel, spec.kernel}),
          .y = any({y.n, y.c, y.h, y.w}),
          .stride = {spec.stride, spec.stride},
          .skipped = memory::dims(2, spec.kernel > 1 ? spec.dilation - 1 : 0),
          .padding = {spec.padding, spec.padding}};
}

constexpr auto kDirect = dnnl::algorithm::convolution_direct;

#if DNNL_VERSION_MAJOR >= 3
auto forward_of(const Descriptors& d, const dnnl::engine& engine) {
  return dnnl::convolution_forward::primitive_desc(engine, dnnl::prop_kind::forward_training, kDirect, d.x, d.w, d.y,
                                                   d.stride, d.skipped, d.padding, d.padding);
}
auto backward_input_of(const Descriptors& d, const dnnl::engine& engine,
                       const dnnl::convolution_forward::primitive_desc& hint) {
  return dnnl::convolution_backward_data::primitive_desc(engine, kDirect, d.x, d.w, d.y, d.stride, d.skipped, d.padding,
                                                         d.padding, hint);
}
dnnl::matmul::primitive_desc matmul_of(const memory::desc& a, const memory::desc& b, const memory::desc& d,
                                       const dnnl::engine& engine) {
  return {engine, a, b, d};
}
auto backward_weight_of(const Descriptors& d, const dnnl::engine& engine,
                        const dnnl::convolution_forward::primitive_desc& hint) {
  return dnnl::convolution_backward_weights::primitive_desc(engine, kDirect, d.x, d.w, d.y, d.stride, d.skipped,
                                                            d.padding, d.padding, hint);
}
#else
dnnl::matmul::primitive_desc matmul_of(const memory::desc& a, const memory::desc& b, const memory::desc& d,
                                       const dnnl::engine& engine) {
  return {{a, b, d}, engine};
}
auto forward_of(const Descriptors& d, const dnnl::engine& engine) {
  return dnnl::convolution_forward::primitive_desc(
      {dnnl::prop_kind::forward_training, kDirect, d.x, d.w, d.y, d.stride, d.skipped, d.padding, d.padding}, engine);
}
auto backward_input_of(const Descriptors& d, const dnnl::engine& engine,
                       const dnnl::convolution_forward::primitive_desc& hint) {
  return dnnl::convolution_backward_data::primitive_desc(
      {kDirect, d.x, d.w, d.y, d.stride, d.skipped, d.padding, d.padding}, engine, hint);
}
auto backward_weight_of(const Descriptors& d, const dnnl::engine& engine,
                        const dnnl::convolution_forward::primitive_desc& hint) {
  return dnnl::convolution_backward_weights::primitive_desc(
      {kDirect, d.x, d.w, d.y, d.stride, d.skipped, d.padding, d.padding}, engine, hint);
}
#endif

/// A product d (M,N) = a (M,K) b (K,N), or `batch` independent ones in one call.
struct Product {
  std::int64_t m, n, k;
  std::int64_t batch = 1;
  DataType type = DataType::kFloat32;    ///< of a and b
  DataType d_type = DataType::kFloat32;  ///< of d
};

memory::desc any_matrix(const Product& product, std::int64_t rows, std::int64_t columns, DataType type) {
  const auto dnnl_type = type == DataType::kBfloat16 ? memory::data_type::bf16 : memory::data_type::f32;
  if (product.batch == 1) return {{rows, columns}, dnnl_type, memory::format_tag::any};
  return {{product.batch, rows, columns}, dnnl_type, memory::format_tag::any};
}

}  // namespace

struct Yardstick::Impl {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<Call> calls;

  // Fills memory with values that are neither zeros nor denormals, which can be computed at another speed. The bytes
  // are valid in both types: a pair in bf16 is two upper halves of a float32.
  memory filled(const memory::desc& desc) const {
    memory result(desc, engine);
    auto* bytes = static_cast<std::byte*>(result.get_data_handle());
    for (std::size_t i = 0; i + sizeof(std::uint32_t) <= desc.get_size(); i += sizeof(std::uint32_t)) {
      const auto upper =
          std::bit_cast<std::uint32_t>(static_cast<float>(i * 2654435761u % 1021) / 1021.0f - 0.5f) >> 16;
      const std::uint32_t both = upper << 16 | upper;
      std::memcpy(bytes + i, &both, sizeof(both));
    }
    return result;
  }

  void add(const Product& product, std::int64_t times = 1) {
    const auto description = matmul_of(any_matrix(product, product.m, product.k, product.type),
                                       any_matrix(product, product.k, product.n, product.type),
                                       any_matrix(product, product.m, product.n, product.d_type), engine);
    calls.push_back({dnnl::matmul(description),
                     {{DNNL_ARG_SRC, filled(description.src_desc())},
                      {DNNL_ARG_WEIGHTS, filled(description.weights_desc())},
                      {DNNL_ARG_DST, filled(description.dst_desc())}},
                     times});
  }

  void add(const ops::LinearSpec& spec) {
    const std::int64_t n = spec.n, c = spec.num_inputs, k = spec.num_outputs;
    add({.m = n, .n = k, .k = c, .type = spec.type, .d_type = spec.y_type});
    add({.m = n, .n = c, .k = k, .type = spec.type, .d_type = spec.type});
    add({.m = k, .n = c, .k = n, .type = spec.type});
  }

  // Adds the products of all heads of one sequence in one call, sequence after sequence in the same memory, which then
  // stays in the caches: two products in forward, five in backward.
  void add(const ops::AttentionSpec& spec) {
    const std::int64_t t = spec.length, d = spec.head_width;
    for (int i = 0; i < 3; ++i) add({.m = t, .n = t, .k = d, .batch = spec.num_heads, .type = spec.type}, spec.n);
    for (int i = 0; i < 4; ++i)
      add({.m = t, .n = d, .k = t, .batch = spec.num_heads, .type = spec.type, .d_type = spec.type}, spec.n);
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

ops::AnyOp ProductList::create_any(const ops::AnyRequest& request) {
  if (const auto* spec = ops::spec_of<ops::ConvolutionOp>(request)) products_.convolutions.push_back(*spec);
  if (const auto* spec = ops::spec_of<ops::LinearOp>(request)) products_.linears.push_back(*spec);
  if (const auto* spec = ops::spec_of<ops::AttentionOp>(request)) products_.attentions.push_back(*spec);
  return ForwardingBackend::create_any(request);
}

Yardstick::Yardstick(const Products& products) : impl_(std::make_unique<Impl>()) {
  for (const ops::ConvolutionSpec& spec : products.convolutions) impl_->add(spec);
  for (const ops::LinearSpec& spec : products.linears) impl_->add(spec);
  for (const ops::AttentionSpec& spec : products.attentions) impl_->add(spec);
}

Yardstick::~Yardstick() = default;

double Yardstick::run() {
  const double start = now_seconds();
  for (const Call& call : impl_->calls)
    for (std::int64_t i = 0; i < call.times; ++i) call.primitive.execute(impl_->stream, call.args);
  impl_->stream.wait();
  return now_seconds() - start;
}

}  // namespace convoy::bench
