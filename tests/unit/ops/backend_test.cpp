/// The factory of backends, and the operations that a backend refuses to create.
#include "convoy/ops/backend.h"

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"
#include "convoy/ops/operations.h"

#include "ops/cpu/instruction_set.h"
#include "ops/cuda/backend.h"
#include "unit/messages.h"
#include "unit/ops/pooling_specs.h"

namespace convoy {
namespace {

using ops::make_backend;

template <typename Failure, typename Action>
void expect_message(const Action& action, const std::string& part) {
  EXPECT_CONTAINS(test::message_of<Failure>(action), part);
}

TEST(MakeBackend, AutoTakesTheCpuWhereThereIsNoGpu) {
  if (ops::cuda::why_unavailable().empty()) GTEST_SKIP() << "there is a GPU";
  const auto backend = make_backend({.device = DeviceKind::kAuto, .threads = 2});
  EXPECT_NE(backend->device().description().find("CPU"), std::string::npos);
  EXPECT_NE(backend->device().description().find("2 threads"), std::string::npos);
}

TEST(MakeBackend, RefusesCudaWhereThereIsNoGpuAndSaysWhy) {
  const std::string reason = ops::cuda::why_unavailable();
  if (reason.empty()) GTEST_SKIP() << "there is a GPU";
  expect_message<RequestError>([] { make_backend({.device = DeviceKind::kCuda}); }, "run.device = cuda: " + reason);
}

TEST(MakeBackend, RefusesNoThreads) {
  expect_message<RequestError>([] { make_backend({.device = DeviceKind::kCpu, .threads = 0}); }, "run.threads = 0");
}

TEST(Processor, NamesExactlyTheExtensionsThatAreNeededAndNotThere) {
  ops::cpu::InstructionSet needed{}, available{};
  EXPECT_EQ(ops::cpu::missing_extensions(needed, available), "");
  needed[0] = needed[2] = true;
  available[1] = available[2] = true;
  EXPECT_EQ(ops::cpu::missing_extensions(needed, available), ops::cpu::kExtensions[0]);
  available = {};
  EXPECT_EQ(ops::cpu::missing_extensions(needed, available),
            std::string(ops::cpu::kExtensions[0]) + " " + ops::cpu::kExtensions[2]);
}

TEST(Processor, HasWhatThisBuildWasCompiledForOrTheTestsWouldNotRun) {
  EXPECT_EQ(ops::cpu::missing_extensions(ops::cpu::kCompiledFor, ops::cpu::processor_extensions()), "");
}

TEST(Backend, NamesTheSpecThatItCannotCompute) {
  const auto backend = make_backend({.device = DeviceKind::kCpu});
  const Shape x = Shape::images(2, 5, 5, 3), no_rows = Shape::images(2, 0, 5, 3);
  const Shape wide = Shape::images(2, 5, 5, 64), wider = Shape::images(2, 5, 5, 96);
  expect_message<Error>([&] { backend->create<ops::ConvolutionOp>({x, 8, 7, 1, 0}); }, "2x5x5x3");
  expect_message<Error>([&] { backend->create<ops::ConvolutionOp>({x, 0, 3, 1, 1}); }, "0 filters");
  expect_message<Error>([&] { backend->create<ops::ConvolutionOp>({x, 8, 3, 0, 1}); }, "stride 0");
  expect_message<Error>([&] { backend->create<ops::ActivationOp>({.count = 0}); }, "activation of 0 values");
  expect_message<Error>(
      [&] {
        backend->create<ops::ActivationOp>({.count = 1, .activation = ops::Activation::kLeakyRelu, .factor = -1});
      },
      "leaky ReLU with slope -1");
  expect_message<Error>(
      [&] {
        backend->create<ops::LinearOp>({.n = 1, .num_inputs = 2, .num_outputs = 3, .y_type = DataType::kBfloat16});
      },
      "linear layer in f32: results in bf16");
  expect_message<Error>([&] { backend->create<ops::ConvolutionOp>({no_rows, 8, 3, 1, 1}); }, "2x0x5x3");
  expect_message<Error>([&] { backend->create<ops::BatchNormOp>({Shape::images(0, 5, 5, 3)}); }, "0x5x5x3");
  expect_message<Error>(
      [&] { backend->create<ops::BatchNormOp>({.x = Shape::images(2, 5, 0, 3), .relu = true, .num_branches = 2}); },
      "2x5x0x3");
  expect_message<Error>([&] { backend->create<ops::BatchNormOp>({.x = x, .num_branches = 2}); }, "2 branches");
  expect_message<Error>([&] { backend->create<ops::BatchNormOp>({.x = x, .relu = true, .num_branches = 3}); },
                        "3 branches");
  expect_message<Error>([&] { backend->create<ops::MaxPoolOp>({Shape::images(1, 40, 40, 1), 16, 1, 0}); }, "kernel 16");
  expect_message<Error>([&] { backend->create<ops::MaxPoolOp>({x, 2, 2, 2}); }, "padding 2");
  expect_message<Error>([&] { backend->create<ops::BatchNormOp>(batch_norm_before({wider, 3, 2, 1})); }, "2x5x5x96");
  expect_message<Error>([&] { backend->create<ops::BatchNormOp>(batch_norm_before({wide, 3, 1, 1})); }, "stride 1");
  expect_message<Error>([&] { backend->create<ops::BatchNormOp>(batch_norm_before({wide, 2, 2, 2})); }, "padding 2");
  expect_message<Error>([&] { backend->create<ops::AveragePoolOp>({x, 6, 1, 0}); }, "does not fit");
  expect_message<Error>([&] { backend->create<ops::AveragePoolOp>({.x = x, .adaptive_w = 2}); }, "0 x 2 adaptive");
  expect_message<Error>([&] { backend->create<ops::MaxPoolOp>({.x = x, .counts_padding = true}); }, "only averages");
  expect_message<Error>([&] { backend->create<ops::ConvolutionOp>({.x = x, .num_filters = 8, .dilation = 0}); },
                        "dilation 0");
  expect_message<Error>(
      [&] { backend->create<ops::ConvolutionOp>({.x = x, .num_filters = 8, .kernel = 3, .dilation = 3}); },
      "a 7x7 window");
  expect_message<Error>([&] { backend->create<ops::GlobalAveragePoolOp>({Shape::images(1, 1, 1, 0)}); }, "1x1x1x0");
  expect_message<Error>([&] { backend->create<ops::LinearOp>({0, 3, 4}); }, "linear layer");
  expect_message<Error>([&] { backend->create<ops::SoftmaxCrossEntropyOp>({4, 0}); }, "softmax");
  expect_message<Error>([&] { backend->create<ops::TargetLossOp>({.n = 4}); }, "loss of targets of 4x1x1x0");
  expect_message<Error>(
      [&] {
        backend->create<ops::TargetLossOp>({.n = 4, .num_outputs = 3, .mean = {1, 2}});
      },
      "2 means, standard deviations or weights, but 3 outputs");
  expect_message<Error>([&] { backend->create<ops::TargetLossOp>({.n = 4, .num_outputs = 3, .huber_delta = 0}); },
                        "delta 0");
  expect_message<Error>([&] { backend->create<ops::TargetLossOp>({.n = 1, .num_pixels = 1 << 23, .num_outputs = 3}); },
                        "8388608 pixels with 3 outputs are more than 16777216 targets");
  expect_message<Error>([&] { backend->create<ops::ChannelCopyOp>({.x = x, .num_channels = 4}); }, "copy of channels");
  expect_message<Error>(
      [&] { backend->create<ops::ChannelCopyOp>({.x = x, .num_channels = 4, .count = 2, .x_first = 2}); },
      "2 channels from channel 2 on, to channel 0 of 4");
  expect_message<Error>(
      [&] { backend->create<ops::ChannelCopyOp>({.x = x, .num_channels = 4, .count = 2, .y_first = 3}); },
      "to channel 3 of 4");
  expect_message<Error>([&] { backend->create<ops::DropoutOp>({.count = 0}); }, "dropout of 0 values");
  for (const std::int64_t together : {0, 3})
    expect_message<Error>([&] { backend->create<ops::DropoutOp>({.count = 10, .values_per_draw = together}); },
                          fmt::format("dropout of 10 values, {} per draw", together));
  expect_message<Error>([&] { backend->create<ops::BroadcastOp>({.num_rows = 0, .num_columns = 4}); }, "1x1x0x4");
  expect_message<Error>([&] { backend->create<ops::BroadcastOp>({.num_rows = 5, .num_columns = 4, .num_vectors = 2}); },
                        "2 vectors to 5 rows");
  expect_message<Error>(
      [&] { backend->create<ops::BroadcastOp>({.num_rows = 5, .num_columns = 4, .vector_type = DataType::kBfloat16}); },
      "broadcast in f32: vectors in bf16");
  expect_message<Error>([&] { backend->create<ops::DropoutOp>({.count = 4, .p = 1}); }, "p = 1");
  expect_message<Error>([&] { backend->create<ops::DropoutOp>({.count = 4, .p = -0.5f}); }, "p = -0.5");
  expect_message<Error>([&] { backend->create<ops::LayerNormOp>({.num_rows = 4, .width = 0}); },
                        "layer norm of 4x1x1x0");
  expect_message<Error>([&] { backend->create<ops::LayerNormOp>({.num_rows = 4, .width = 8, .epsilon = 0}); },
                        "epsilon 0");
  expect_message<Error>([&] { backend->create<ops::LayerNormOp>({.num_rows = 4, .width = 8, .num_groups = 3}); },
                        "8 columns in 3 groups");
  expect_message<Error>(
      [&] { backend->create<ops::LayerNormOp>({.num_rows = 4, .width = 8, .num_groups = 2, .is_centred = false}); },
      "RMS norm in 2 groups");
  expect_message<Error>([&] { backend->create<ops::SoftmaxOp>({.num_rows = 4, .width = 0}); }, "softmax of 4x1x1x0");
  expect_message<Error>([&] { backend->create<ops::EmbeddingOp>({.n = 2, .length = 0, .num_rows = 5, .width = 8}); },
                        "embedding of 2x0x1x8");
  expect_message<Error>([&] { backend->create<ops::EmbeddingOp>({.n = 2, .length = 3, .num_rows = 0, .width = 8}); },
                        "a table of 0 rows");
  expect_message<Error>(
      [&] { backend->create<ops::EmbeddingOp>({.n = 1 << 20, .length = 1 << 20, .num_rows = 5, .width = 8}); },
      "1048576 sequences of 1048576 words");
  expect_message<Error>([&] { backend->create<ops::SequenceMeanOp>({.n = 0, .length = 3, .width = 8}); }, "0x3x1x8");
}

/// Expects that the operation refuses a volume, of which it would compute one slice, if its spec has a shape x.
template <typename Op>
void expect_no_volumes(ops::Backend& backend) {
  if constexpr (requires(typename Op::Spec spec) { spec.x.d; }) {
    const typename Op::Spec spec{.x = {.n = 2, .d = 3, .h = 8, .w = 8, .c = 64}};
    expect_message<Error>([&] { backend.create<Op>(spec); }, " of 2x3x8x8x64: volumes are not supported");
  }
}

template <typename... Ops>
void expect_no_volumes_in(ops::OperationList<Ops...> /*all*/, ops::Backend& backend) {
  (expect_no_volumes<Ops>(backend), ...);
}

TEST(Backend, RefusesVolumesForEachOperationAndNamesIt) {
  const auto backend = make_backend({.device = DeviceKind::kCpu});
  expect_no_volumes_in(ops::AllOperations{}, *backend);
  expect_message<Error>([&] { backend->create<ops::ChannelCopyOp>({.x = {.n = 2, .d = 0, .h = 8, .w = 8, .c = 4}}); },
                        "copy of channels of 2x0x8x8x4");
}

TEST(Backend, NamesTheTypeThatTheCpuDoesNotStore) {
  const auto backend = make_backend({.device = DeviceKind::kCpu});
  const Shape x = Shape::images(2, 5, 5, 3);
  constexpr DataType kType = DataType::kFloat16;
  expect_message<Error>([&] { backend->create<ops::ConvolutionOp>({x, 8, 3, 1, 1, true, kType}); }, "fp16");
  expect_message<Error>([&] { backend->create<ops::BatchNormOp>({.x = x, .type = kType}); }, "fp16");
  expect_message<Error>(
      [&] { backend->create<ops::BatchNormOp>({.x = x, .relu = true, .num_branches = 2, .type = kType}); }, "fp16");
  expect_message<Error>([&] { backend->create<ops::MaxPoolOp>({x, 2, 2, 0, kType}); }, "fp16");
  expect_message<Error>(
      [&] { backend->create<ops::BatchNormOp>(batch_norm_before({.x = Shape::images(2, 5, 5, 64), .type = kType})); },
      "fp16");
  expect_message<Error>([&] { backend->create<ops::AveragePoolOp>({x, 2, 2, 0, kType}); }, "fp16");
  expect_message<Error>([&] { backend->create<ops::GlobalAveragePoolOp>({x, kType}); }, "fp16");
  expect_message<Error>([&] { backend->create<ops::LinearOp>({2, 3, 4, kType}); }, "fp16");
  expect_message<Error>([&] { backend->create<ops::SoftmaxCrossEntropyOp>({.n = 4, .num_classes = 3, .type = kType}); },
                        "fp16");
  expect_message<Error>([&] { backend->create<ops::TargetLossOp>({.n = 4, .num_outputs = 3, .type = kType}); }, "fp16");
  expect_message<Error>(
      [&] { backend->create<ops::ChannelCopyOp>({.x = x, .num_channels = 8, .count = 3, .type = kType}); }, "fp16");
  expect_message<Error>([&] { backend->create<ops::DropoutOp>({.count = 4, .type = kType}); }, "fp16");
  expect_message<Error>([&] { backend->create<ops::ImageBatchOp>({x, std::vector<float>(3 * 256), kType}); }, "fp16");
  expect_message<Error>([&] { backend->create<ops::LayerNormOp>({.num_rows = 4, .width = 8, .type = kType}); }, "fp16");
  expect_message<Error>(
      [&] { backend->create<ops::EmbeddingOp>({.n = 2, .length = 3, .num_rows = 5, .width = 8, .type = kType}); },
      "fp16");
  expect_message<Error>([&] { backend->create<ops::SequenceMeanOp>({.n = 2, .length = 3, .width = 8, .type = kType}); },
                        "fp16");
  expect_message<Error>([&] { backend->elementwise().round_to(kType, nullptr, nullptr, 0); }, "fp16");
  expect_message<Error>([&] { backend->elementwise().add(kType, nullptr, nullptr, nullptr, 0); }, "fp16");
  float weight = 0;
  expect_message<Error>([&] { backend->elementwise().sgd({.copy_type = kType}, {.weight_copy = &weight}); }, "fp16");
  expect_message<Error>([&] { backend->elementwise().adam({.copy_type = kType}, {.weight_copy = &weight}); }, "fp16");
}

}  // namespace
}  // namespace convoy
