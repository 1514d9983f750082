/// The factory of devices, and what the library refuses to plan.
#include "convoy/ops/library.h"

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "ops/cuda/library.h"
#include "ops/processor.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using ops::make_library;

template <typename Failure, typename Action>
void expect_message(const Action& action, const std::string& part) {
  EXPECT_CONTAINS(test::message_of<Failure>(action), part);
}

TEST(MakeLibrary, AutoTakesTheCpuWhereThereIsNoGpu) {
  if (ops::cuda::why_unavailable().empty()) GTEST_SKIP() << "there is a GPU";
  const auto library = make_library({.device = DeviceKind::kAuto, .threads = 2});
  EXPECT_NE(library->device().description().find("CPU"), std::string::npos);
  EXPECT_NE(library->device().description().find("2 threads"), std::string::npos);
}

TEST(MakeLibrary, RefusesCudaWhereThereIsNoGpuAndSaysWhy) {
  const std::string reason = ops::cuda::why_unavailable();
  if (reason.empty()) GTEST_SKIP() << "there is a GPU";
  expect_message<RequestError>([] { make_library({.device = DeviceKind::kCuda}); }, "run.device = cuda: " + reason);
}

TEST(MakeLibrary, RefusesNoThreads) {
  expect_message<RequestError>([] { make_library({.device = DeviceKind::kCpu, .threads = 0}); }, "run.threads = 0");
}

TEST(Processor, NamesExactlyTheExtensionsThatAreNeededAndNotThere) {
  ops::cpu::InstructionSet needed{}, available{};
  EXPECT_EQ(ops::missing_extensions(needed, available), "");
  needed[0] = needed[2] = true;
  available[1] = available[2] = true;
  EXPECT_EQ(ops::missing_extensions(needed, available), ops::cpu::kExtensions[0]);
  available = {};
  EXPECT_EQ(ops::missing_extensions(needed, available),
            std::string(ops::cpu::kExtensions[0]) + " " + ops::cpu::kExtensions[2]);
}

TEST(Processor, HasWhatThisBuildWasCompiledForOrTheTestsWouldNotRun) {
  EXPECT_EQ(ops::missing_extensions(ops::cpu::kCompiledFor, ops::processor_extensions()), "");
}

TEST(Library, NamesTheSpecThatItCannotCompute) {
  const auto library = make_library({.device = DeviceKind::kCpu});
  const Shape x{2, 5, 5, 3};
  expect_message<Error>([&] { library->convolution({x, 8, 7, 1, 0}); }, "2x5x5x3");
  expect_message<Error>([&] { library->convolution({x, 0, 3, 1, 1}); }, "0 filters");
  expect_message<Error>([&] { library->convolution({x, 8, 3, 0, 1}); }, "stride 0");
  expect_message<Error>([&] { library->convolution({{2, 0, 5, 3}, 8, 3, 1, 1}); }, "2x0x5x3");
  expect_message<Error>([&] { library->batch_norm({{0, 5, 5, 3}}); }, "0x5x5x3");
  expect_message<Error>([&] { library->max_pool({{1, 40, 40, 1}, 16, 1, 0}); }, "kernel 16");
  expect_message<Error>([&] { library->max_pool({x, 2, 2, 2}); }, "padding 2");
  expect_message<Error>([&] { library->average_pool({x, 6, 1, 0}); }, "does not fit");
  expect_message<Error>([&] { library->global_average_pool({{1, 1, 1, 0}}); }, "1x1x1x0");
  expect_message<Error>([&] { library->linear({0, 3, 4}); }, "linear layer");
  expect_message<Error>([&] { library->softmax_cross_entropy({4, 0}); }, "softmax");
  expect_message<Error>([&] { library->shortcut({x, 2, 2}); }, "shortcut");
}

TEST(Library, NamesTheTypeThatTheCpuDoesNotStore) {
  const auto library = make_library({.device = DeviceKind::kCpu});
  const Shape x{2, 5, 5, 3};
  constexpr DataType kType = DataType::kFloat16;
  expect_message<Error>([&] { library->convolution({x, 8, 3, 1, 1, true, kType}); }, "fp16");
  expect_message<Error>([&] { library->batch_norm({.x = x, .type = kType}); }, "fp16");
  expect_message<Error>([&] { library->max_pool({x, 2, 2, 0, kType}); }, "fp16");
  expect_message<Error>([&] { library->average_pool({x, 2, 2, 0, kType}); }, "fp16");
  expect_message<Error>([&] { library->global_average_pool({x, kType}); }, "fp16");
  expect_message<Error>([&] { library->linear({2, 3, 4, kType}); }, "fp16");
  expect_message<Error>([&] { library->softmax_cross_entropy({.n = 4, .num_classes = 3, .type = kType}); }, "fp16");
  expect_message<Error>([&] { library->shortcut({x, 2, 8, 0, kType}); }, "fp16");
  expect_message<Error>([&] { library->image_batch({x, std::vector<float>(3 * 256), kType}); }, "fp16");
  expect_message<Error>([&] { library->elementwise().round_to(kType, nullptr, nullptr, 0); }, "fp16");
  expect_message<Error>([&] { library->elementwise().add(kType, nullptr, nullptr, nullptr, 0); }, "fp16");
  float weight = 0;
  expect_message<Error>([&] { library->elementwise().sgd({.copy_type = kType}, {.weight_copy = &weight}); }, "fp16");
  expect_message<Error>([&] { library->elementwise().adam({.copy_type = kType}, {.weight_copy = &weight}); }, "fp16");
}

}  // namespace
}  // namespace convoy
