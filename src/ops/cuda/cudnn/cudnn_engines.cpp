/// Convolutions in terms of cuDNN's frontend, and the choice of its engines that are wanted.
#include "ops/cuda/cudnn/cudnn_engines.h"

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
void describe(fe::graph::Tensor_attributes& tensor, std::int64_t uid, const Shape& s, DataType type) {
  tensor.set_dim({s.n, s.c, s.h, s.w}).set_stride({s.h * s.w * s.c, 1, s.w * s.c, s.c});
  tensor.set_uid(uid).set_data_type(frontend_type(type));
}

template <typename Attributes>
Attributes sliding(const ConvolutionSpec& spec) {
  Attributes attributes;
  attributes.set_padding({spec.padding, spec.padding});
  attributes.set_stride({spec.stride, spec.stride});
  attributes.set_dilation({spec.dilation, spec.dilation});
  return attributes;
}

Tensor input(fe::graph::Graph& graph, std::int64_t uid, const Shape& s, DataType type) {
  fe::graph::Tensor_attributes tensor;
  describe(tensor, uid, s, type);
  return graph.tensor(tensor);
}

void output(const Tensor& tensor, std::int64_t uid, const Shape& s, DataType type) {
  describe(*tensor, uid, s, type);
  tensor->set_output(true);
}

void add_convolution(fe::graph::Graph& graph, const CudnnGraphSpec& spec) {
  const ConvolutionSpec& conv = spec.convolution;
  const Extents extents(conv);
  const auto x = [&] { return input(graph, kX, extents.x, conv.type); };
  const auto w = [&] { return input(graph, kW, extents.w, spec.weight_type); };
  const auto y = [&] { return input(graph, kY, extents.y, conv.type); };
  switch (spec.pass) {
    case ConvolutionPass::kForward:
      return output(graph.conv_fprop(x(), w(), sliding<fe::graph::Conv_fprop_attributes>(conv)), kY, extents.y,
                    conv.type);
    case ConvolutionPass::kBackwardInput:
      return output(graph.conv_dgrad(y(), w(), sliding<fe::graph::Conv_dgrad_attributes>(conv)), kX, extents.x,
                    conv.type);
    case ConvolutionPass::kBackwardWeight:
      return output(graph.conv_wgrad(y(), x(), sliding<fe::graph::Conv_wgrad_attributes>(conv)), kW, extents.w,
                    spec.weight_type);
  }
}

std::vector<fe::NumericalNote_t> unwanted_notes(DataType type, bool tf32) {
  using Note = fe::NumericalNote_t;
  std::vector<Note> notes = {
      Note::NONDETERMINISTIC, Note::REDUCED_PRECISION_REDUCTION, Note::DOWN_CONVERT_INPUTS, Note::FFT,
      Note::WINOGRAD,         Note::WINOGRAD_TILE_4x4,           Note::WINOGRAD_TILE_6x6,   Note::WINOGRAD_TILE_13x13};
  if (type == DataType::kFloat32 && !tf32) notes.push_back(Note::TENSOR_CORE);  // tensor cores take float32 as TF32
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
