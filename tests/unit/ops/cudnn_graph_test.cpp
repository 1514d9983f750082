/// cuDNN's engines give the same bits again, and the check for those that do not finds every change.
#include "ops/cuda/cudnn/cudnn_graph.h"

#include <optional>
#include <vector>

#include <fmt/core.h>

#include "device/cuda/cuda_device.h"
#include "ops/cuda/cudnn/measuring_memory.h"
#include "unit/ops/convolution_cases.h"
#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::ConvolutionSpec;
using ops::cuda::ConvolutionPass;
using ops::cuda::CudnnGraph;
using ops::cuda::CudnnGraphSpec;
using ops::cuda::MeasuringMemory;

class CudnnGraphTest : public OpTest {
 protected:
  void SetUp() override {
    OpTest::SetUp();
    if (backend_ == nullptr) return;
    auto& device = dynamic_cast<cuda::CudaDevice&>(backend_->device());
    context_.emplace(device, device.stream());
    runtime_.emplace(*context_, ops::cuda::CudnnSpec{.gpu = device.properties().name, .engine_cache = engine_cache_});
  }

  void expect_same_bits_again(const CudnnGraphSpec& spec) {
    SCOPED_TRACE(fmt::format("{}, {} filters of {}x{} in {} groups, {}, pass {}", to_string(spec.convolution.x),
                             spec.convolution.num_filters, spec.convolution.kernel, spec.convolution.kernel,
                             spec.convolution.groups, to_string(spec.convolution.type), static_cast<int>(spec.pass)));
    CudnnGraph* graph = CudnnGraph::create(spec, *runtime_);
    ASSERT_NE(graph, nullptr);
    const MeasuringMemory memory(spec, graph->workspace_bytes(), *context_);
    for (int run = 0; run < MeasuringMemory::kMaxRuns; ++run) {
      memory.spoil(run);
      graph->run(memory.tensors(), memory.workspace());
      memory.note_checksum(run);
    }
    EXPECT_TRUE(memory.are_the_same(MeasuringMemory::kMaxRuns));
  }

  ops::EngineCache engine_cache_;
  std::optional<ops::cuda::Context> context_;
  std::optional<ops::cuda::CudnnRuntime> runtime_;
};

TEST_P(CudnnGraphTest, GivesTheSameBitsInSpoiledMemory) {
  for (const DataType type : {DataType::kFloat32, DataType::kBfloat16, DataType::kFloat16}) {
    std::vector<ConvolutionSpec> specs = kSpecsWithSplitSums;
    for (const ConvolutionCase& test : kConvolutionCases) specs.push_back(test.spec);
    for (ConvolutionSpec& spec : specs) {
      spec.type = type;
      for (const ConvolutionPass pass :
           {ConvolutionPass::kForward, ConvolutionPass::kBackwardInput, ConvolutionPass::kBackwardWeight})
        expect_same_bits_again({spec, pass, type});
    }
  }
}

// The type of a convolution's gradient follows from this time: another value for the next convolution of the same shape
// could give it another type, and so other bits.
TEST_P(CudnnGraphTest, GivesTheSameTimeWhenAskedAgain) {
  std::int64_t num_timed = 0;
  for (const ConvolutionCase& test : kConvolutionCases) {
    for (const DataType weight_type : {DataType::kFloat32, DataType::kBfloat16}) {
      SCOPED_TRACE(fmt::format("{}, gradient in {}", test.name, to_string(weight_type)));
      CudnnGraphSpec spec{test.spec, ConvolutionPass::kBackwardWeight, weight_type};
      spec.convolution.type = DataType::kBfloat16;
      const std::optional<float> measured = CudnnGraph::milliseconds(spec, *runtime_);
      if (!measured) continue;  // no engine
      ++num_timed;
      EXPECT_GT(*measured, 0);
      EXPECT_EQ(CudnnGraph::milliseconds(spec, *runtime_), measured);
    }
  }
  EXPECT_GE(num_timed, std::ssize(kConvolutionCases));
}

TEST_P(CudnnGraphTest, MeasuringMemorySeesEveryChangeOfTheResult) {
  for (const ConvolutionPass pass :
       {ConvolutionPass::kForward, ConvolutionPass::kBackwardInput, ConvolutionPass::kBackwardWeight}) {
    const CudnnGraphSpec spec{.convolution = {Shape::images(2, 7, 5, 37), 37, 3, 1, 1, true, DataType::kFloat16},
                              .pass = pass,
                              .weight_type = DataType::kFloat16};
    CudnnGraph* graph = CudnnGraph::create(spec, *runtime_);
    ASSERT_NE(graph, nullptr);
    const MeasuringMemory memory(spec, graph->workspace_bytes(), *context_);
    EXPECT_EQ(memory.result_count(), pass == ConvolutionPass::kBackwardWeight ? 37 * 37 * 3 * 3 : 2 * 7 * 5 * 37);
    for (int run = 0; run < 2; ++run) {
      memory.spoil(0);
      memory.note_checksum(run);
    }
    EXPECT_TRUE(memory.are_the_same(2)) << "zeros";
    memory.spoil(1);
    memory.note_checksum(1);
    EXPECT_FALSE(memory.are_the_same(2)) << "zeros and what nobody wrote";
    graph->run(memory.tensors(), memory.workspace());
    memory.note_checksum(0);
    EXPECT_FALSE(memory.are_the_same(2)) << "what was computed and what nobody wrote";
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(CudnnGraphTest);

}  // namespace
}  // namespace convoy
