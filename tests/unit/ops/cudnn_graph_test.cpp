/// cuDNN's engines that sum or normalise as they go, whether or not they are the faster for it.
#include "ops/cuda/cudnn_graph.h"

#include <optional>
#include <vector>

#include "device/cuda/cuda_device.h"
#include "ops/cuda/convolution_kernels.h"
#include "unit/ops/convolution_cases.h"
#include "unit/ops/convolution_sums.h"

namespace convoy {
namespace {

using ops::ConvolutionSpec;
using ops::cuda::ConvolutionPass;
using ops::cuda::CudnnGraph;

/// What the engines that normalise read of a batch norm.
struct Rows {
  Rows(ops::Backend& backend, const ConvolutionSpec& spec)
      : type(spec.type),
        num_channels(spec.x.c),
        scale(backend, num_channels, type),
        shift(backend, num_channels, type) {}

  void compute(const ops::NormalisedInput& in, ops::cuda::Context& context) const {
    compute_scale_and_shift(in, {.type = type, .num_channels = num_channels, .scale = scale, .shift = shift}, context);
  }

  DataType type;
  std::int64_t num_channels;
  DeviceArray scale, shift;
};

class CudnnGraphTest : public OpTest {
 protected:
  void SetUp() override {
    OpTest::SetUp();
    if (backend_ == nullptr) return;
    auto& device = dynamic_cast<cuda::CudaDevice&>(backend_->device());
    context_.emplace(device, device.stream());
    runtime_.emplace(*context_, ops::cuda::CudnnSpec{.gpu = device.properties().name, .engine_cache = engine_cache_});
  }

  /// For each case the pass and scratch memory. On Hopper cuDNN has engines for all, elsewhere perhaps for none.
  template <typename Check>
  void for_each_graph(ConvolutionPass pass, const Check& check) {
    constexpr int kHopper = 9;
    const auto& device = dynamic_cast<cuda::CudaDevice&>(backend_->device());
    bool any = false;
    for (const ConvolutionSpec& spec : kSpecsWithFusions) {
      SCOPED_TRACE(fmt::format("{}, {} filters", to_string(spec.x), spec.num_filters));
      CudnnGraph* graph = CudnnGraph::create({spec, pass, spec.type}, *runtime_);
      EXPECT_TRUE(graph != nullptr || device.properties().major != kHopper);
      if (graph == nullptr) continue;
      any = true;
      const Buffer workspace(backend_->device(), graph->workspace_bytes());
      check(spec, *graph, workspace.data());
    }
    if (!any) GTEST_SKIP() << "cuDNN has no such engines for this GPU";
  }

  ops::EngineCache engine_cache_;
  std::optional<ops::cuda::Context> context_;
  std::optional<ops::cuda::CudnnRuntime> runtime_;
};

TEST_P(CudnnGraphTest, SumsTheOutput) {
  for_each_graph(ConvolutionPass::kForwardWithSums, [&](const ConvolutionSpec& spec, CudnnGraph& graph,
                                                        void* workspace) {
    expect_sums_of_output(*backend_, spec, [&](const void* w, const void* x, void* y, const ops::ChannelSums& sums) {
      graph.run({.x = x, .w = w, .y = y, .sums = sums}, workspace);
    });
  });
}

TEST_P(CudnnGraphTest, SumsTheGradientsOfTheBatchNormBefore) {
  const auto check = [&](const ConvolutionSpec& spec, CudnnGraph& graph, void* workspace) {
    const Buffer coefficients(backend_->device(),
                              ops::cuda::kNumCoefficients * ops::cuda::coefficient_stride(spec.x.c) * kFloatBytes);
    const auto run = [&](const void* w, const void* dy, const ops::NormalisedInput& in,
                         const ops::NormalisedInputGradients& out) {
      graph.run({.x = out.g,
                 .w = w,
                 .y = dy,
                 .normalised = in,
                 .dgamma = out.dgamma,
                 .dbeta = out.dbeta,
                 .coefficients = coefficients.floats()},
                workspace);
    };
    expect_sums_of_gradients(*backend_, spec, run);
  };
  for_each_graph(ConvolutionPass::kBackwardInputWithSums, check);
}

TEST_P(CudnnGraphTest, NormalisesWhatForwardReads) {
  for_each_graph(ConvolutionPass::kNormaliseAndForwardWithSums, [&](const ConvolutionSpec& spec, CudnnGraph& graph,
                                                                    void* workspace) {
    const Rows rows(*backend_, spec);
    expect_normalised_forward(*backend_, spec, [&](const void* w, const auto& in, void* y, const auto& sums) {
      rows.compute(in, *context_);
      graph.run({.w = w, .y = y, .sums = sums, .normalised = in, .scale = rows.scale, .shift = rows.shift}, workspace);
    });
  });
}

TEST_P(CudnnGraphTest, NormalisesWhatBackwardByWeightReads) {
  for_each_graph(ConvolutionPass::kNormaliseAndBackwardWeight, [&](const ConvolutionSpec& spec, CudnnGraph& graph,
                                                                   void* workspace) {
    const Rows rows(*backend_, spec);
    const auto run = [&](const auto& in, const void* dy, const void* dw) {
      rows.compute(in, *context_);
      graph.run({.w = dw, .y = dy, .normalised = in, .scale = rows.scale, .shift = rows.shift}, workspace);
    };
    expect_normalised_gradient(*backend_, spec, spec.type, run);
  });
}

CONVOY_RUN_ON_ALL_LIBRARIES(CudnnGraphTest);

}  // namespace
}  // namespace convoy
