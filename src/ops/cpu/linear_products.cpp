/// Descriptions of a linear layer's products for oneDNN 2 and 3.
#include "ops/cpu/linear_products.h"

namespace convoy::ops::cpu {

namespace {

using Tag = dnnl::memory::format_tag;

/// `ba` is the layout of a transposed matrix.
dnnl::matmul::primitive_desc describe(const MatmulSpec& product, const dnnl::engine& engine) {
  const auto a = dnnl_layout({product.m, product.k}, product.a_transposed ? Tag::ba : Tag::ab, product.input_type);
  const auto b = dnnl_layout({product.k, product.n}, product.b_transposed ? Tag::ba : Tag::ab, product.input_type);
  const auto d = dnnl_layout({product.m, product.n}, Tag::ab, product.output_type);
  const auto bias = product.bias ? dnnl_layout({1, product.n}, Tag::ab, product.output_type) : dnnl::memory::desc();
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, bias, d, DnnlRuntime::attributes()};
#else
  return {{a, b, bias, d}, DnnlRuntime::attributes(), engine};
#endif
}

DnnlCall create(const MatmulSpec& product, DnnlRuntime& runtime) {
  const auto description = describe(product, runtime.engine());
  std::vector<DnnlArgument> arguments = {{DNNL_ARG_SRC, description.src_desc()},
                                         {DNNL_ARG_WEIGHTS, description.weights_desc()},
                                         {DNNL_ARG_DST, description.dst_desc()}};
  if (product.bias) arguments.push_back({DNNL_ARG_BIAS, dnnl_layout({1, product.n}, Tag::ab, product.output_type)});
  return DnnlCall::create<dnnl::matmul>(runtime, description, arguments);
}

}  // namespace

bool has_linear_products(const LinearSpec& spec, const dnnl::engine& engine) {
  if (spec.type == DataType::kFloat32) return true;
  return has_dnnl([&] { return describe(forward_product(spec), engine); }) &&
         has_dnnl([&] { return describe(backward_input_product(spec), engine); }) &&
         has_dnnl([&] { return describe(backward_weight_product(spec), engine); });
}

DnnlCall linear_forward(const LinearSpec& spec, DnnlRuntime& runtime) {
  return create(forward_product(spec), runtime);
}

DnnlCall linear_backward_input(const LinearSpec& spec, DnnlRuntime& runtime) {
  return create(backward_input_product(spec), runtime);
}

DnnlCall linear_backward_weight(const LinearSpec& spec, DnnlRuntime& runtime) {
  return create(backward_weight_product(spec), runtime);
}

}  // namespace convoy::ops::cpu
