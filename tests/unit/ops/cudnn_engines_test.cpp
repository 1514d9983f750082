/// cuDNN's engines for our networks on GPUs that need not exist: each convolution must have one.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <cudnn.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/model/network.h"
#include "convoy/ops/operations.h"

#include "ops/cuda/cudnn/cudnn_graph.h"
#include "ops/cuda/resources.h"
#include "unit/messages.h"
#include "unit/ops/convolution_cases.h"
#include "unit/ops/described_gpus.h"
#include "unit/ops/forwarding_backend.h"

namespace convoy {
namespace {

using ops::ConvolutionSpec;
using ops::cuda::ConvolutionPass;
using ops::cuda::engines_on;
using test::DescribedGpu;
using test::kA100;
using test::kH200;

constexpr ConvolutionSpec kBottleneck3x3{
    .x = Shape::images(256, 56, 56, 64), .num_filters = 64, .kernel = 3, .padding = 1};

ConvolutionSpec typed(ConvolutionSpec spec, DataType type) {
  spec.type = type;
  return spec;
}

std::string text(const ConvolutionSpec& spec) {
  return fmt::format("x {}, {} filters {}x{} in {} groups, stride {}", to_string(spec.x), spec.num_filters, spec.kernel,
                     spec.kernel, spec.groups, spec.stride);
}

/// A backend that notes every convolution that a network asks for.
class ConvolutionNotes final : public ops::ForwardingBackend {
 public:
  explicit ConvolutionNotes(ops::Backend& inner) : ForwardingBackend(inner) {}

  std::vector<ConvolutionSpec> noted;

  ops::AnyOp create_any(const ops::AnyRequest& request) override {
    const auto* spec = ops::spec_of<ops::ConvolutionOp>(request);
    if (spec == nullptr) return ForwardingBackend::create_any(request);
    const auto same = [&](const ConvolutionSpec& other) { return text(other) == text(*spec); };
    if (std::ranges::none_of(noted, same)) noted.push_back(*spec);
    return std::unique_ptr<ops::ConvolutionOp>();  // created, never run
  }
};

std::vector<ConvolutionSpec> convolutions_of(const NetworkSpec& spec) {
  const auto cpu = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  ConvolutionNotes notes(*cpu);
  for (const auto& cell : make_network(spec)) cell->create_ops(notes);
  return notes.noted;
}

/// A runtime for a described GPU, with which convolutions are created, but never run.
struct DescribedRuntime {
  explicit DescribedRuntime(const DescribedGpu& gpu)
      : cpu(ops::make_backend({.device = DeviceKind::kCpu, .threads = 1})),
        context(cpu->device(), no_stream),
        cudnn(context, {.gpu = gpu.name, .engine_cache = engine_cache, .description = to_json(gpu)}) {}

  std::unique_ptr<ops::ConvolutionOp> convolution(const ConvolutionSpec& spec) {
    return ops::cuda::make_op<ops::ConvolutionOp>(spec, {.context = context, .cudnn = &cudnn});
  }

  std::unique_ptr<ops::Backend> cpu;  // has the scratch memory
  ops::EngineCache engine_cache;
  const cudaStream_t no_stream = nullptr;  // nothing runs
  ops::cuda::Context context;
  ops::cuda::CudnnRuntime cudnn;
};

struct Case {
  DescribedGpu gpu;
  DataType type = DataType::kFloat32;
};

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return fmt::format("{}_{}", info.param.gpu.name, to_string(info.param.type));
}

class CudnnTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (CUDNN_VERSION < 90800 || cudnnGetVersion() < 90800)
      GTEST_SKIP() << "cuDNN understands descriptions of GPUs from 9.8 on";
  }
};

class CudnnEngines : public CudnnTest, public ::testing::WithParamInterface<Case> {
 protected:
  std::vector<std::string> engines(const ConvolutionSpec& spec, ConvolutionPass pass, DataType weight_type) const {
    return engines_on(to_json(GetParam().gpu), {typed(spec, GetParam().type), pass, weight_type});
  }

  void expect_for_all_of(const NetworkSpec& network) const {
    const DataType type = GetParam().type;
    const std::vector<ConvolutionSpec> convolutions = convolutions_of(network);
    ASSERT_FALSE(convolutions.empty());
    for (const ConvolutionSpec& spec : convolutions) {
      EXPECT_FALSE(engines(spec, ConvolutionPass::kForward, type).empty()) << "forward, " << text(spec);
      EXPECT_FALSE(engines(spec, ConvolutionPass::kBackwardWeight, type).empty()) << "by weight, " << text(spec);
      if (!spec.needs_dx) continue;
      EXPECT_FALSE(engines(spec, ConvolutionPass::kBackwardInput, type).empty()) << "by input, " << text(spec);
    }
  }
};

TEST_P(CudnnEngines, AreThereForEveryConvolutionOfResnet50) {
  expect_for_all_of({.name = "resnet50", .input = ImageShape{224, 224, 3}, .micro_batch = 64, .num_classes = 1000});
}

TEST_P(CudnnEngines, AreThereForEveryConvolutionOfResnet20) {
  expect_for_all_of({.name = "resnet20", .input = ImageShape{32, 32, 3}, .micro_batch = 128, .num_classes = 10});
}

TEST_P(CudnnEngines, AreThereForEveryConvolutionOfResnext50) {
  expect_for_all_of(
      {.name = "resnext50_32x4d", .input = ImageShape{224, 224, 3}, .micro_batch = 64, .num_classes = 1000});
}

TEST_P(CudnnEngines, AreThereForEveryConvolutionOfWideResnet28) {
  expect_for_all_of({.name = "wrn28-10", .input = ImageShape{32, 32, 3}, .micro_batch = 128, .num_classes = 10});
}

TEST_P(CudnnEngines, AreThereForEveryConvolutionOfConvnext) {
  expect_for_all_of(
      {.name = "convnext_tiny", .input = ImageShape{224, 224, 3}, .micro_batch = 64, .num_classes = 1000});
}

// Their only convolution cuts the image into patches.
TEST_P(CudnnEngines, AreThereForTheConvolutionsOfVisionTransformers) {
  for (const char* name : {"vit_b_16", "vit_ti_4"})
    expect_for_all_of({.name = name, .input = ImageShape{224, 224, 3}, .micro_batch = 64, .num_classes = 1000});
}

// Its channels grow by odd numbers: 16-bit rows do not begin at multiples of 16 bytes.
TEST_P(CudnnEngines, AreThereForTheOddChannelsOfPyramidnet) {
  expect_for_all_of({.name = "pyramidnet20-a27", .input = ImageShape{32, 32, 3}, .micro_batch = 32, .num_classes = 10});
}

TEST_P(CudnnEngines, AreThereForEveryConvolutionOfTheOperationsTests) {
  std::vector<ConvolutionSpec> specs = kSpecsWithSplitSums;
  for (const ConvolutionCase& test : kConvolutionCases) specs.push_back(test.spec);
  DescribedRuntime gpu(GetParam().gpu);
  for (const ConvolutionSpec& spec : specs)
    EXPECT_NO_THROW(gpu.convolution(typed(spec, GetParam().type))) << text(spec);
}

// A rank finds by its name the engine that another rank has chosen. cuDNN names some engines twice; none is measured
// twice.
TEST_P(CudnnEngines, HaveNamesOfTheirOwn) {
  for (const ConvolutionPass pass :
       {ConvolutionPass::kForward, ConvolutionPass::kBackwardInput, ConvolutionPass::kBackwardWeight}) {
    const auto names = engines(kBottleneck3x3, pass, GetParam().type);
    EXPECT_GE(names.size(), 2U);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  }
}

INSTANTIATE_TEST_SUITE_P(On, CudnnEngines,
                         ::testing::Values(Case{kH200, DataType::kFloat32}, Case{kH200, DataType::kBfloat16},
                                           Case{kH200, DataType::kFloat16}, Case{kA100, DataType::kFloat32},
                                           Case{kA100, DataType::kBfloat16}, Case{kA100, DataType::kFloat16}),
                         case_name);

class CudnnEnginesOnHopper : public CudnnTest {};

std::vector<std::string> engines_on_h200(const ConvolutionSpec& spec, ConvolutionPass pass, bool tf32 = false) {
  return engines_on(to_json(kH200), {spec, pass, spec.type}, tf32);
}

// The graphs are forward, data gradient, and weight gradient in float32 and in fp16. A network has many convolutions of
// one spec; rank 0 creates them for the network and then for its stage.
TEST_F(CudnnEnginesOnHopper, AreChosenOnceForAllConvolutionsOfOneSpec) {
  const ConvolutionSpec spec = typed(kBottleneck3x3, DataType::kFloat16);
  DescribedRuntime gpu(kH200);
  gpu.convolution(spec);
  EXPECT_EQ(gpu.cudnn.num_built(), 4);
  gpu.convolution(spec);
  EXPECT_EQ(gpu.cudnn.num_built(), 4) << "built again";
}

TEST_F(CudnnEnginesOnHopper, AreFoundByTheNamesThatAnotherRankMeasured) {
  ConvolutionSpec spec = typed(kBottleneck3x3, DataType::kFloat16);
  DescribedRuntime gpu(kH200), other(kH200);
  gpu.convolution(spec);
  other.engine_cache = ops::EngineCache::parse(gpu.engine_cache.serialise());
  other.convolution(spec);
  EXPECT_EQ(other.engine_cache, gpu.engine_cache);
  EXPECT_LT(other.cudnn.num_built(), gpu.cudnn.num_built()) << "what is known to be slower is not built";
}

TEST_F(CudnnEnginesOnHopper, RoundFloat32OnlyWhereTf32IsAsked) {
  for (const ConvolutionPass pass :
       {ConvolutionPass::kForward, ConvolutionPass::kBackwardInput, ConvolutionPass::kBackwardWeight}) {
    const auto exact = engines_on_h200(kBottleneck3x3, pass), rounding = engines_on_h200(kBottleneck3x3, pass, true);
    ASSERT_FALSE(exact.empty());
    EXPECT_NE(exact, rounding);
  }
}

TEST_F(CudnnEnginesOnHopper, NeedADescriptionThatCudnnUnderstands) {
  EXPECT_CONTAINS(test::message_of<Error>([] { engines_on("{}", {kBottleneck3x3}); }),
                  "does not accept this description of a GPU");
}

}  // namespace
}  // namespace convoy
