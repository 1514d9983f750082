/// Convolutions in the words of cuDNN's frontend, and which of its engines are wanted.
#include "ops/cuda/cudnn_engines.h"

#include <set>

#include "convoy/base/error.h"

namespace convoy::ops::cuda {

namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

constexpr std::int64_t kMaxWorkspaceBytes = std::int64_t{1} << 30;

fe::DataType_t frontend_type(DataType type) {
  switch (type) {
    case DataType::kBfloat16:
      return fe::DataType_t::BFLOAT16;
    case DataType::kFloat16:
      return fe::DataType_t::HALF;
    default:
      return fe::DataType_t::FLOAT;
  }
}

/// cuDNN names extents N,C,H,W whatever the layout; the strides say that channels vary fastest.
void describe_extents(fe::graph::Tensor_attributes& tensor, const Shape& s) {
  tensor.set_dim({s.n, s.c, s.h, s.w}).set_stride({s.h * s.w * s.c, 1, s.w * s.c, s.c});
}

void describe(fe::graph::Tensor_attributes& tensor, std::int64_t uid, const Shape& s, DataType type) {
  describe_extents(tensor, s);
  tensor.set_uid(uid).set_data_type(frontend_type(type));
}

void describe_row(fe::graph::Tensor_attributes& tensor, std::int64_t uid, std::int64_t channels) {
  describe(tensor, uid, {1, 1, 1, channels}, DataType::kFloat32);
}

template <typename Attributes>
Attributes sliding(const ConvolutionSpec& spec) {
  Attributes attributes;
  attributes.set_padding({spec.padding, spec.padding});
  attributes.set_stride({spec.stride, spec.stride});
  attributes.set_dilation({1, 1});
  return attributes;
}

/// From dx of a convolution to g and the sums; see ConvolutionOp::backward_input_with_sums. The last node is what cuDNN
/// knows of batch norm's backward: its sums, and the coefficients of its result.
void add_sums_of_gradients(fe::graph::Graph& graph, const ConvolutionSpec& conv, const Tensor& dx) {
  const auto row = [&](Uid uid) {
    fe::graph::Tensor_attributes tensor;
    describe_row(tensor, uid, conv.x.c);
    return graph.tensor(tensor);
  };
  const auto pointwise = [&](const Tensor& a, const Tensor& b, fe::PointwiseMode_t mode) {
    return graph.pointwise(a, b, fe::graph::Pointwise_attributes().set_mode(mode));
  };
  fe::graph::Tensor_attributes a_tensor;
  describe(a_tensor, kA, conv.x, conv.type);
  const Tensor a = graph.tensor(a_tensor), gamma = row(kGamma), mean = row(kMean), inv_std = row(kInvStd);
  const Tensor centred = pointwise(a, mean, fe::PointwiseMode_t::SUB);
  const Tensor xhat = pointwise(centred, inv_std, fe::PointwiseMode_t::MUL);
  const Tensor scaled = pointwise(xhat, gamma, fe::PointwiseMode_t::MUL);
  const Tensor argument = pointwise(scaled, row(kBeta), fe::PointwiseMode_t::ADD);
  const Tensor g = pointwise(dx, argument, fe::PointwiseMode_t::RELU_BWD);
  describe(*g, kX, conv.x, conv.type);
  g->set_output(true);
  const auto sums = graph.dbn_weight(g, a, mean, inv_std, gamma, fe::graph::DBN_weight_attributes());
  for (std::size_t i = 0; i < sums.size(); ++i) {  // dgamma, dbeta, coefficients
    describe_row(*sums[i], kDgamma + static_cast<std::int64_t>(i), conv.x.c);
    sums[i]->set_output(true);
  }
}

/// x = relu(scale * a + shift), in float32, rounded to what x is stored in elsewhere.
Tensor make_normalised_input(fe::graph::Graph& graph, const ConvolutionSpec& conv) {
  const auto input = [&](Uid uid, const Shape& shape) {
    fe::graph::Tensor_attributes tensor;
    describe(tensor, uid, shape, conv.type);
    return graph.tensor(tensor);
  };
  const auto mode = [](fe::PointwiseMode_t m) { return fe::graph::Pointwise_attributes().set_mode(m); };
  const Shape row{1, 1, 1, conv.x.c};
  const Tensor scaled = graph.pointwise(input(kA, conv.x), input(kScale, row), mode(fe::PointwiseMode_t::MUL));
  const Tensor argument = graph.pointwise(scaled, input(kShift, row), mode(fe::PointwiseMode_t::ADD));
  Tensor x = graph.pointwise(argument, mode(fe::PointwiseMode_t::RELU_FWD));
  x->set_data_type(frontend_type(conv.type));
  return x;
}

void add_convolution(fe::graph::Graph& graph, const CudnnGraphSpec& spec) {
  const ConvolutionSpec& conv = spec.convolution;
  const Extents extents(conv);
  const auto describe_as = [&](fe::graph::Tensor_attributes& tensor, Uid uid) {
    if (uid == kX) describe(tensor, uid, extents.x, conv.type);
    if (uid == kW) describe(tensor, uid, extents.w, spec.weight_type);
    if (uid == kY) describe(tensor, uid, extents.y, conv.type);
  };
  const auto input = [&](Uid uid) {
    fe::graph::Tensor_attributes tensor;
    describe_as(tensor, uid);
    return graph.tensor(tensor);
  };
  const auto output = [&](const Tensor& tensor, Uid uid) {
    describe_as(*tensor, uid);
    tensor->set_output(true);
  };
  const auto sums_output = [&](const Tensor& tensor, Uid uid) {
    describe_row(*tensor, uid, conv.num_filters);
    tensor->set_output(true);
  };
  const auto x = [&] { return normalises(spec.pass) ? make_normalised_input(graph, conv) : input(kX); };
  switch (spec.pass) {
    case ConvolutionPass::kForwardWithSums:
    case ConvolutionPass::kNormaliseAndForwardWithSums: {
      const Tensor y = graph.conv_fprop(x(), input(kW), sliding<fe::graph::Conv_fprop_attributes>(conv));
      output(y, kY);
      const auto [sum, square_sum] = graph.genstats(y, fe::graph::Genstats_attributes());
      sums_output(sum, kSum);
      sums_output(square_sum, kSquareSum);
      return;
    }
    case ConvolutionPass::kForward:
      return output(graph.conv_fprop(x(), input(kW), sliding<fe::graph::Conv_fprop_attributes>(conv)), kY);
    case ConvolutionPass::kBackwardInput:
      return output(graph.conv_dgrad(input(kY), input(kW), sliding<fe::graph::Conv_dgrad_attributes>(conv)), kX);
    case ConvolutionPass::kBackwardInputWithSums: {
      const Tensor dx = graph.conv_dgrad(input(kY), input(kW), sliding<fe::graph::Conv_dgrad_attributes>(conv));
      describe_extents(*dx, extents.x);
      return add_sums_of_gradients(graph, conv, dx);
    }
    case ConvolutionPass::kBackwardWeight:
    case ConvolutionPass::kNormaliseAndBackwardWeight:
      return output(graph.conv_wgrad(input(kY), x(), sliding<fe::graph::Conv_wgrad_attributes>(conv)), kW);
  }
}

std::vector<fe::NumericalNote_t> unwanted_notes(DataType type, bool tf32) {
  using Note = fe::NumericalNote_t;
  std::vector<Note> notes = {
      Note::NONDETERMINISTIC, Note::REDUCED_PRECISION_REDUCTION, Note::DOWN_CONVERT_INPUTS, Note::FFT,
      Note::WINOGRAD,         Note::WINOGRAD_TILE_4x4,           Note::WINOGRAD_TILE_6x6,   Note::WINOGRAD_TILE_13x13};
  if (type == DataType::kFloat32 && !tf32) notes.push_back(Note::TENSOR_CORE);  // they take float32 as TF32
  return notes;
}

}  // namespace

bool build(fe::graph::Graph& graph, const CudnnGraphSpec& spec, const EngineSource& source) {
  graph.set_io_data_type(frontend_type(spec.convolution.type))
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  if (source.described != nullptr) graph.set_device_properties(source.described);
  add_convolution(graph, spec);
  if (graph.validate().is_bad() || graph.build_operation_graph(source.handle).is_bad()) return false;
  if (graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}).is_bad()) return false;
  graph.deselect_numeric_notes(unwanted_notes(spec.convolution.type, source.tf32));
  graph.deselect_workspace_greater_than(kMaxWorkspaceBytes);
  return true;
}

std::string name_of(const fe::graph::Graph& graph, std::int64_t engine) {
  std::string name;
  const fe::error_t error = graph.get_plan_name_at_index(engine, name);
  if (error.is_bad()) fail("cuDNN does not name an engine: {}", error.err_msg);
  return name;
}

std::vector<std::int64_t> candidates_of(fe::graph::Graph& graph) {
  std::vector<std::int64_t> engines;
  std::set<std::string> seen;
  for (std::int64_t engine = 0; engine < graph.get_execution_plan_count(); ++engine) {
    if (engines.size() == kMaxCandidates) break;
    if (!seen.insert(name_of(graph, engine)).second) continue;
    if (graph.build_plan_at_index(engine).is_good()) engines.push_back(engine);
  }
  return engines;
}

}  // namespace convoy::ops::cuda
