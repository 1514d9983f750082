/// cuDNN graphs by its frontend: measures the engines, stores the fastest one in the engine cache, and runs it.
#include "ops/cuda/cudnn/cudnn_graph.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/median.h"

#include "device/cuda/check.h"
#include "device/cuda/handles.h"
#include "ops/cuda/cudnn/cudnn_engines.h"
#include "ops/cuda/cudnn/measuring_memory.h"

namespace convoy::ops::cuda {

namespace {

namespace fe = cudnn_frontend;

// Engines are timed as a training step runs them, one launch right after another: the time of a single launch on an
// idle GPU depends on how fast the host issues it and on how fast the clocks rise, so that chance would decide which
// engine is best.
constexpr int kLaunches = 10;                // in a row, between two events; fewer if they take long:
constexpr float kEnoughMilliseconds = 5.0f;  // then neither the clocks nor the host's issuing matter
constexpr int kBatches = 3;                  // of such launches for each engine; their median counts
/// The relative time below which a later candidate is taken: of engines that are about equally fast, the first is
/// taken, whatever the noise.
constexpr float kAdvantage = 0.95f;
// The numbers of runs that decide whether an engine gives the same bits again. If sums of another order are rounded to
// 16 bits, one value in some thousands differs.
constexpr std::int64_t kComparedValues = std::int64_t{1} << 20;  // in all runs together
constexpr std::int64_t kMinRuns = 4;
constexpr int kSpoilingBytes[] = {0x00, 0xff, 0x3c};  // zeros, NaNs, numbers

constexpr const char* kRemedy =
    "Remove the file of run.engines to measure again: by default engines.txt in run.directory, or plans.txt, its "
    "former name.";

/// The names of the passes, in the order of ConvolutionPass.
constexpr const char* kPassNames[] = {"forward", "backward by input", "backward by weight"};

std::string to_string(const CudnnGraphSpec& spec) {
  const ConvolutionSpec& conv = spec.convolution;
  const std::string groups = conv.groups == 1 ? "" : fmt::format(" in {} groups", conv.groups);
  const std::string dilation = conv.dilation == 1 ? "" : fmt::format(", dilation {}", conv.dilation);
  return fmt::format("convolution {}, x {} {}, {} filters {}x{}{} {}, stride {}, padding {}{}",
                     kPassNames[static_cast<int>(spec.pass)], convoy::to_string(conv.x), convoy::to_string(conv.type),
                     conv.num_filters, conv.kernel, conv.kernel, groups, convoy::to_string(spec.weight_type),
                     conv.stride, conv.padding, dilation);
}

/// The engine cache's entry for a graph: an engine, or that there is none.
struct EngineChoice {
  float milliseconds = 0;
  std::string engine;  ///< cuDNN's name of the engine with its settings; empty for none
};

constexpr std::string_view kNoEngine = "none";
constexpr std::string_view kUnit = " ms, ";

/// The text of a choice in the engine cache: "0.4121 ms, eng65_k2=3_k6=1".
std::string to_text(const EngineChoice& choice) {
  return choice.engine.empty() ? std::string(kNoEngine)
                               : fmt::format("{:.4f}{}{}", choice.milliseconds, kUnit, choice.engine);
}

EngineChoice parse_choice(const std::string& text) {
  if (text == kNoEngine) return {};
  EngineChoice choice;
  const std::size_t unit = text.find(kUnit);
  const char* end = text.data() + std::min(unit, text.size());
  if (unit == std::string::npos || std::from_chars(text.data(), end, choice.milliseconds).ptr != end) {
    fail("'{}' does not name an engine for a convolution. {}", text, kRemedy);
  }
  choice.engine = text.substr(unit + kUnit.size());
  return choice;
}

std::string key_of(const CudnnGraphSpec& spec, const CudnnRuntime& runtime) {
  return runtime.platform() + (runtime.tf32() ? ", TF32, " : ", ") + to_string(spec);
}

/// Returns the choice in the engine cache, if any.
std::optional<EngineChoice> known_choice(const CudnnGraphSpec& spec, const CudnnRuntime& runtime) {
  const std::string* text = runtime.engine_cache().find(key_of(spec, runtime));
  return text == nullptr ? std::nullopt : std::optional(parse_choice(*text));
}

std::shared_ptr<const fe::DeviceProperties> described_gpu(const std::string& json) {
  auto described = std::make_shared<fe::DeviceProperties>();
  const fe::error_t error = described->deserialize({json.begin(), json.end()});
  if (error.is_bad())
    fail("cuDNN {} does not accept this description of a GPU: {}: {}", cudnn_version(), json, error.err_msg);
  return described;
}

EngineSource source_of(const CudnnRuntime& runtime) {
  EngineSource source{.handle = runtime.handle(), .described = nullptr, .tf32 = runtime.tf32()};
  if (runtime.is_described()) source.described = described_gpu(runtime.description());
  return source;
}

class FrontendGraph final : public CudnnGraph {
 public:
  FrontendGraph(const CudnnGraphSpec& spec, CudnnRuntime& runtime) : spec_(spec), runtime_(runtime) {}

  /// Takes the engine from the engine cache, or measures and stores one. Returns false if no engine can be used.
  bool choose_engine() {
    const std::optional<EngineChoice> known = known_choice(spec_, runtime_);
    if (known && known->engine.empty()) return false;
    const bool has_engines = build(graph_, spec_, source_of(runtime_));
    if (known) {
      take(*known);
    } else {
      if (has_engines) choose(candidates_of(graph_));
      runtime_.engine_cache().insert(key_of(spec_, runtime_), to_text(choice_));
    }
    return !choice_.engine.empty();
  }

  std::int64_t workspace_bytes() const override { return workspace_bytes_of(engine_); }

  void run(const ConvolutionTensors& tensors, void* workspace) override {
    const fe::error_t error = run_engine(engine_, tensors, workspace);
    if (error.is_bad()) fail("{}: {}", to_string(spec_), error.err_msg);
  }

 private:
  struct Candidate {
    std::int64_t engine = 0;
    int num_launches = 1;  ///< number of launches of a batch
    std::vector<float> milliseconds;
  };

  struct Measurement {
    MeasuringMemory memory;
    convoy::cuda::Event start = convoy::cuda::make_event(convoy::cuda::Timing::kOn);
    convoy::cuda::Event stop = convoy::cuda::make_event(convoy::cuda::Timing::kOn);
  };

  void take(const EngineChoice& known) {
    for (std::int64_t engine = 0; engine < graph_.get_execution_plan_count(); ++engine) {
      if (name_of(graph_, engine) != known.engine) continue;
      const fe::error_t error = graph_.build_plan_at_index(engine);
      if (error.is_bad()) break;
      set(engine, known.milliseconds);
      return;
    }
    fail("{}: cuDNN does not have the engine '{}', which was measured on {}. {}", to_string(spec_), known.engine,
         runtime_.platform(), kRemedy);
  }

  void set(std::int64_t engine, float milliseconds) {
    engine_ = engine;
    choice_ = {.milliseconds = milliseconds, .engine = name_of(graph_, engine)};
  }

  /// Chooses the fastest engine that runs and gives the same bits again, if any. On a GPU that is only described, it
  /// chooses the first one, which is the best by cuDNN's estimate.
  void choose(const std::vector<std::int64_t>& engines) {
    if (engines.empty()) return;
    if (runtime_.is_described()) return set(engines.front(), 0);
    std::int64_t max_workspace = 0;
    for (const std::int64_t engine : engines) max_workspace = std::max(max_workspace, workspace_bytes_of(engine));
    const Measurement on{.memory = MeasuringMemory(spec_, max_workspace, runtime_.context())};
    std::vector<Candidate> candidates = measured(engines, on);
    while (!candidates.empty() && choice_.engine.empty()) {
      const auto fastest = fastest_of(candidates);
      if (repeats(fastest->engine, on)) set(fastest->engine, median(fastest->milliseconds));
      candidates.erase(fastest);
    }
    runtime_.context().device().synchronize();  // before the tensors are freed
  }

  static std::vector<Candidate>::iterator fastest_of(std::vector<Candidate>& candidates) {
    auto fastest = candidates.begin();
    for (auto candidate = candidates.begin(); candidate != candidates.end(); ++candidate)
      if (median(candidate->milliseconds) < kAdvantage * median(fastest->milliseconds)) fastest = candidate;
    return fastest;
  }

  /// Measures the engines and returns those that run, in the given order. They are measured in turn, so that a clock
  /// that rises or falls does so for all of them.
  std::vector<Candidate> measured(const std::vector<std::int64_t>& engines, const Measurement& on) {
    std::vector<Candidate> candidates;
    for (const std::int64_t engine : engines) {
      if (!time(engine, 1, on)) continue;  // the first launch loads the engine's code
      const std::optional<float> once = time(engine, 1, on);
      if (!once) continue;
      const float num_launches = std::clamp(std::ceil(kEnoughMilliseconds / *once), 1.0f, float{kLaunches});
      candidates.push_back({.engine = engine, .num_launches = static_cast<int>(num_launches), .milliseconds = {}});
    }
    for (int batch = 0; batch < kBatches; ++batch) {
      for (Candidate& candidate : candidates) {
        const std::optional<float> total = time(candidate.engine, candidate.num_launches, on);
        if (total) candidate.milliseconds.push_back(*total / static_cast<float>(candidate.num_launches));
      }
    }
    std::erase_if(candidates, [](const Candidate& candidate) { return candidate.milliseconds.empty(); });
    return candidates;
  }

  /// Whether the engine gives the same bits again, whatever was in the memory that it writes and around the tensors
  /// that it reads. cuDNN states this of all candidates, but it has been wrong.
  bool repeats(std::int64_t engine, const Measurement& on) {
    const auto num_runs = static_cast<int>(
        std::clamp<std::int64_t>(kComparedValues / on.memory.result_count(), kMinRuns, MeasuringMemory::kMaxRuns));
    for (int run = 0; run < num_runs; ++run) {
      on.memory.spoil(kSpoilingBytes[static_cast<std::size_t>(run) % std::size(kSpoilingBytes)]);
      if (run_engine(engine, on.memory.tensors(), on.memory.workspace()).is_bad()) return false;
      on.memory.note_checksum(run);
    }
    return on.memory.are_the_same(num_runs);
  }

  /// Returns the milliseconds of all launches; nothing if the engine does not run.
  std::optional<float> time(std::int64_t engine, int num_launches, const Measurement& on) {
    const cudaStream_t stream = runtime_.context().stream();
    CONVOY_CHECK_CUDA(cudaEventRecord(on.start.get(), stream));
    for (int launch = 0; launch < num_launches; ++launch)
      if (run_engine(engine, on.memory.tensors(), on.memory.workspace()).is_bad()) return std::nullopt;
    CONVOY_CHECK_CUDA(cudaEventRecord(on.stop.get(), stream));
    CONVOY_CHECK_CUDA(cudaEventSynchronize(on.stop.get()));
    float milliseconds = 0;
    CONVOY_CHECK_CUDA(cudaEventElapsedTime(&milliseconds, on.start.get(), on.stop.get()));
    return milliseconds;
  }

  fe::error_t run_engine(std::int64_t engine, const ConvolutionTensors& tensors, void* workspace) {
    // The frontend takes inputs, too, as void*; it writes only the output.
    std::unordered_map<std::int64_t, void*> memory = {
        {kX, const_cast<void*>(tensors.x)}, {kW, const_cast<void*>(tensors.w)}, {kY, const_cast<void*>(tensors.y)}};
    return graph_.execute_plan_at_index(runtime_.handle(), memory, workspace, engine);
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
  EngineChoice choice_;
  std::int64_t engine_ = -1;  // its index among those of the graph
};

}  // namespace

CudnnGraph* CudnnGraph::create(const CudnnGraphSpec& spec, CudnnRuntime& runtime) {
  const std::string key = key_of(spec, runtime);
  if (const auto built = runtime.graphs().find(key); built != runtime.graphs().end()) return built->second.get();
  auto graph = std::make_unique<FrontendGraph>(spec, runtime);
  if (!graph->choose_engine()) graph.reset();
  return runtime.keep(key, std::move(graph));
}

std::optional<float> CudnnGraph::milliseconds(const CudnnGraphSpec& spec, CudnnRuntime& runtime) {
  if (!known_choice(spec, runtime)) create(spec, runtime);  // measures
  // The value is read back, rounded, from the cache: the first operation must decide by the same value as later ones.
  const EngineChoice choice = known_choice(spec, runtime).value();
  return choice.engine.empty() ? std::nullopt : std::optional(choice.milliseconds);
}

std::vector<std::string> engines_on(const std::string& gpu, const CudnnGraphSpec& spec, bool tf32) {
  fe::graph::Graph graph;
  std::vector<std::string> names;
  if (!build(graph, spec, {.described = described_gpu(gpu), .tf32 = tf32})) return names;
  for (const std::int64_t engine : candidates_of(graph)) names.push_back(name_of(graph, engine));
  return names;
}

}  // namespace convoy::ops::cuda
