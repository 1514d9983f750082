/// cuDNN graphs through its frontend: built, an engine chosen, run. The only file that reads the frontend's headers.
#include "ops/cuda/cudnn_graph.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <cudnn_frontend.h>

#include "convoy/base/error.h"

#include "device/cuda/check.h"
#include "device/cuda/handles.h"

namespace convoy::ops::cuda {

namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

constexpr std::int64_t kMaxWorkspaceBytes = std::int64_t{1} << 30;
constexpr std::size_t kMaxCandidates = 8;  // engines measured, best first by cuDNN's own guess
constexpr int kMeasurements = 5;           // of each; the median counts
/// A later candidate must be this much faster: of engines as good as equal the first is taken, whatever the noise.
constexpr float kAdvantage = 0.95f;

// What the graph calls its tensors.
enum Uid : std::int64_t { kX = 1, kW = 2, kY = 3, kSum = 4, kSquareSum = 5 };

const char* to_string(ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::kForward:
      return "forward";
    case ConvolutionPass::kForwardWithSums:
      return "forward with sums";
    case ConvolutionPass::kBackwardInput:
      return "backward by input";
    default:
      return "backward by weight";
  }
}

std::string to_string(const CudnnGraphSpec& spec) {
  const ConvolutionSpec& conv = spec.convolution;
  return fmt::format("convolution {}, x {} {}, {} filters {}x{} {}, stride {}, padding {}", to_string(spec.pass),
                     convoy::to_string(conv.x), convoy::to_string(conv.type), conv.num_filters, conv.kernel,
                     conv.kernel, convoy::to_string(spec.weight_type), conv.stride, conv.padding);
}

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
void describe(fe::graph::Tensor_attributes& tensor, Uid uid, const Shape& s, DataType type) {
  tensor.set_uid(uid)
      .set_dim({s.n, s.c, s.h, s.w})
      .set_stride({s.h * s.w * s.c, 1, s.w * s.c, s.c})
      .set_data_type(frontend_type(type));
}

template <typename Attributes>
Attributes sliding(const ConvolutionSpec& spec) {
  Attributes attributes;
  attributes.set_padding({spec.padding, spec.padding});
  attributes.set_stride({spec.stride, spec.stride});
  attributes.set_dilation({1, 1});
  return attributes;
}

/// The three tensors of a convolution, filters as a "batch" of K images R x S x C.
struct Extents {
  explicit Extents(const ConvolutionSpec& spec)
      : x(spec.x), w{spec.num_filters, spec.kernel, spec.kernel, spec.x.c}, y(spec.y()) {}
  Shape x, w, y;
};

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
    describe(*tensor, uid, {1, 1, 1, conv.num_filters}, DataType::kFloat32);
    tensor->set_output(true);
  };
  switch (spec.pass) {
    case ConvolutionPass::kForwardWithSums: {
      const Tensor y = graph.conv_fprop(input(kX), input(kW), sliding<fe::graph::Conv_fprop_attributes>(conv));
      output(y, kY);
      const auto [sum, square_sum] = graph.genstats(y, fe::graph::Genstats_attributes());
      sums_output(sum, kSum);
      sums_output(square_sum, kSquareSum);
      return;
    }
    case ConvolutionPass::kForward:
      return output(graph.conv_fprop(input(kX), input(kW), sliding<fe::graph::Conv_fprop_attributes>(conv)), kY);
    case ConvolutionPass::kBackwardInput:
      return output(graph.conv_dgrad(input(kY), input(kW), sliding<fe::graph::Conv_dgrad_attributes>(conv)), kX);
    case ConvolutionPass::kBackwardWeight:
      return output(graph.conv_wgrad(input(kY), input(kX), sliding<fe::graph::Conv_wgrad_attributes>(conv)), kW);
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

/// Memory to measure on. Ordinary numbers, as multiplying zeros takes less power and so less time than training does:
/// bytes of 0x3c make 0.0115 in float32 and bfloat16, 1.06 in float16.
Buffer make_tensor(Context& context, const Shape& shape, DataType type) {
  Buffer buffer(context.device(), shape.count() * size_of(type));
  CONVOY_CHECK_CUDA(
      cudaMemsetAsync(buffer.data(), 0x3c, static_cast<std::size_t>(buffer.size_bytes()), context.stream()));
  return buffer;
}

/// What the plan cache knows of a graph: an engine, or that there is none.
struct Plan {
  float milliseconds = 0;
  std::string engine;  ///< cuDNN's name of it with its settings; empty for none
};

constexpr std::string_view kNoEngine = "none";
constexpr std::string_view kUnit = " ms, ";

/// "0.4121 ms, eng65_k2=3_k6=1".
std::string to_text(const Plan& plan) {
  return plan.engine.empty() ? std::string(kNoEngine)
                             : fmt::format("{:.4f}{}{}", plan.milliseconds, kUnit, plan.engine);
}

Plan parse_plan(const std::string& text) {
  if (text == kNoEngine) return {};
  Plan plan;
  const std::size_t unit = text.find(kUnit);
  const char* end = text.data() + std::min(unit, text.size());
  if (unit == std::string::npos || std::from_chars(text.data(), end, plan.milliseconds).ptr != end) {
    fail("'{}' is no plan of a convolution. Remove the run directory's plans to measure anew.", text);
  }
  plan.engine = text.substr(unit + kUnit.size());
  return plan;
}

std::string key_of(const CudnnGraphSpec& spec, const CudnnRuntime& runtime) {
  return runtime.platform() + (runtime.tf32() ? ", TF32, " : ", ") + to_string(spec);
}

/// From the cache alone.
std::optional<Plan> known_plan(const CudnnGraphSpec& spec, const CudnnRuntime& runtime) {
  const std::string* text = runtime.plans().find(key_of(spec, runtime));
  return text == nullptr ? std::nullopt : std::optional(parse_plan(*text));
}

}  // namespace

class CudnnGraph::Impl {
 public:
  Impl(const CudnnGraphSpec& spec, CudnnRuntime& runtime) : spec_(spec), runtime_(runtime) {}

  /// False where cuDNN knows no engine.
  bool plan() {
    std::optional<Plan> known = known_plan(spec_, runtime_);
    if (known && known->engine.empty()) return false;
    const bool has_engines = build();
    if (known) {
      take(known->engine);
    } else {
      known = has_engines ? measure_all(supported()) : Plan();
      runtime_.plans().insert(key_of(spec_, runtime_), to_text(*known));
    }
    return !known->engine.empty();
  }

  std::int64_t workspace_bytes() const { return workspace_bytes_of(engine_); }

  void run(const ConvolutionTensors& tensors, void* workspace) {
    const fe::error_t error = run_engine(engine_, tensors, workspace);
    if (error.is_bad()) fail("{}: {}", to_string(spec_), error.err_msg);
  }

 private:
  bool build() {
    graph_.set_io_data_type(frontend_type(spec_.convolution.type))
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    add_convolution(graph_, spec_);
    if (graph_.validate().is_bad() || graph_.build_operation_graph(runtime_.handle()).is_bad()) return false;
    if (graph_.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}).is_bad()) return false;
    graph_.deselect_numeric_notes(unwanted_notes(spec_.convolution.type, runtime_.tf32()));
    graph_.deselect_workspace_greater_than(kMaxWorkspaceBytes);
    return true;
  }

  void take(const std::string& name) {
    for (std::int64_t engine = 0; engine < graph_.get_execution_plan_count(); ++engine) {
      if (name_of(engine) != name) continue;
      const fe::error_t error = graph_.build_plan_at_index(engine);
      if (error.is_bad()) break;
      engine_ = engine;
      return;
    }
    fail("{}: the plan '{}', measured on {}, is not to be had. Remove the run directory's plans to measure anew.",
         to_string(spec_), name, runtime_.platform());
  }

  std::vector<std::int64_t> supported() {
    std::vector<std::int64_t> engines;
    for (std::int64_t engine = 0; engine < graph_.get_execution_plan_count(); ++engine) {
      if (engines.size() == kMaxCandidates) break;
      if (graph_.build_plan_at_index(engine).is_good()) engines.push_back(engine);
    }
    return engines;
  }

  /// Sets engine_ to the fastest that runs, if any does.
  Plan measure_all(const std::vector<std::int64_t>& candidates) {
    if (candidates.empty()) return {};
    std::int64_t most_workspace = 0;
    for (const std::int64_t engine : candidates) most_workspace = std::max(most_workspace, workspace_bytes_of(engine));
    Context& context = runtime_.context();
    const Extents extents(spec_.convolution);
    const Buffer x = make_tensor(context, extents.x, spec_.convolution.type);
    const Buffer w = make_tensor(context, extents.w, spec_.weight_type);
    const Buffer y = make_tensor(context, extents.y, spec_.convolution.type);
    const Buffer sums(context.device(), 2 * spec_.convolution.num_filters * kFloatBytes);
    const Buffer workspace(context.device(), most_workspace);
    const ConvolutionTensors tensors = {
        .x = x.data(),
        .w = w.data(),
        .y = y.data(),
        .sums = {.sum = sums.floats(), .square_sum = sums.floats() + spec_.convolution.num_filters}};

    Plan best;
    for (const std::int64_t engine : candidates) {
      const std::optional<float> time = measure(engine, tensors, workspace.data());
      if (!time || (!best.engine.empty() && *time > kAdvantage * best.milliseconds)) continue;
      best = {.milliseconds = *time, .engine = name_of(engine)};
      engine_ = engine;
    }
    context.device().synchronize();  // before the tensors are given back
    return best;
  }

  /// Milliseconds; nothing where the engine does not run.
  std::optional<float> measure(std::int64_t engine, const ConvolutionTensors& tensors, void* workspace) {
    const cudaStream_t stream = runtime_.context().stream();
    if (run_engine(engine, tensors, workspace).is_bad()) return std::nullopt;  // warms up as well
    std::array<float, kMeasurements> times{};
    for (float& time : times) {
      CONVOY_CHECK_CUDA(cudaEventRecord(start_.get(), stream));
      if (run_engine(engine, tensors, workspace).is_bad()) return std::nullopt;
      CONVOY_CHECK_CUDA(cudaEventRecord(stop_.get(), stream));
      CONVOY_CHECK_CUDA(cudaEventSynchronize(stop_.get()));
      CONVOY_CHECK_CUDA(cudaEventElapsedTime(&time, start_.get(), stop_.get()));
    }
    std::ranges::nth_element(times, times.begin() + kMeasurements / 2);
    return times[kMeasurements / 2];
  }

  fe::error_t run_engine(std::int64_t engine, const ConvolutionTensors& tensors, void* workspace) {
    // The frontend takes inputs and outputs alike as void*; it writes the output alone.
    std::unordered_map<std::int64_t, void*> memory = {
        {kX, const_cast<void*>(tensors.x)}, {kW, const_cast<void*>(tensors.w)}, {kY, const_cast<void*>(tensors.y)}};
    if (spec_.pass == ConvolutionPass::kForwardWithSums) {
      memory[kSum] = tensors.sums.sum;
      memory[kSquareSum] = tensors.sums.square_sum;
    }
    return graph_.execute_plan_at_index(runtime_.handle(), memory, workspace, engine);
  }

  std::string name_of(std::int64_t engine) const {
    std::string name;
    const fe::error_t error = graph_.get_plan_name_at_index(engine, name);
    if (error.is_bad()) fail("{}: {}", to_string(spec_), error.err_msg);
    return name;
  }

  std::int64_t workspace_bytes_of(std::int64_t engine) const {
    std::int64_t size_bytes = 0;
    const fe::error_t error = graph_.get_workspace_size_plan_at_index(engine, size_bytes);
    if (error.is_bad()) fail("{}: {}", to_string(spec_), error.err_msg);
    return size_bytes;
  }

  CudnnGraphSpec spec_;
  CudnnRuntime& runtime_;
  fe::graph::Graph graph_;
  std::int64_t engine_ = -1;  // its place among the graph's plans
  convoy::cuda::Event start_ = convoy::cuda::make_event(convoy::cuda::Timing::kOn);
  convoy::cuda::Event stop_ = convoy::cuda::make_event(convoy::cuda::Timing::kOn);
};

CudnnGraph::CudnnGraph(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CudnnGraph::~CudnnGraph() = default;

std::unique_ptr<CudnnGraph> CudnnGraph::plan(const CudnnGraphSpec& spec, CudnnRuntime& runtime) {
  auto impl = std::make_unique<Impl>(spec, runtime);
  if (!impl->plan()) return nullptr;
  return std::unique_ptr<CudnnGraph>(new CudnnGraph(std::move(impl)));
}

std::optional<float> CudnnGraph::milliseconds(const CudnnGraphSpec& spec, CudnnRuntime& runtime) {
  if (!known_plan(spec, runtime)) plan(spec, runtime);  // measures
  const std::optional<Plan> known = known_plan(spec, runtime);
  return known->engine.empty() ? std::nullopt : std::optional(known->milliseconds);
}

std::int64_t CudnnGraph::workspace_bytes() const {
  return impl_->workspace_bytes();
}

void CudnnGraph::run(const ConvolutionTensors& tensors, void* workspace) {
  impl_->run(tensors, workspace);
}

}  // namespace convoy::ops::cuda
