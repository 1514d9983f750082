/// First steps in TF32, bf16 and fp16 are as near to PyTorch's float64 as their roundings allow.
#include <gtest/gtest.h>

#include "convoy/params/choices.h"

#include "golden/golden_backend.h"
#include "golden/golden_steps.h"
#include "parallel/mpi_main.h"

namespace convoy::test {

namespace {

struct Tolerances {
  double first_loss, logits, gradient_norms, statistics;
};

class LowPrecision : public testing::TestWithParam<PrecisionKind> {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_backend(); !reason.empty()) GTEST_SKIP() << reason;
  }

  /// bf16 rounds to 8 bits, TF32 and fp16 to 11.
  static void expect_near(const std::string& name, const Tolerances& with_8_bits, const Tolerances& with_11_bits) {
    const Tolerances& tolerances = GetParam() == PrecisionKind::kBf16 ? with_8_bits : with_11_bits;
    const Deviations found = run_golden({.name = name, .precision = GetParam(), .first_alone = true});
    if (world().rank() != 0) return;
    found.first_loss.expect_within(tolerances.first_loss, "first loss");
    found.logits.expect_within(tolerances.logits, "logits");
    found.gradient_norms.expect_mean_within(tolerances.gradient_norms, "gradient norms");
    found.statistics.expect_within(tolerances.statistics, "running statistics");
  }
};

}  // namespace

// Tolerances are two to ten times the deviations by roundings alone: README.md in this folder has the table.
TEST_P(LowPrecision, FirstStepOfResnet20IsNearPyTorchs) {
  expect_near("resnet20-b8-m2", {.first_loss = 5e-3, .logits = 1.5e-2, .gradient_norms = 0.1, .statistics = 2e-3},
              {.first_loss = 1e-3, .logits = 4e-3, .gradient_norms = 5e-2, .statistics = 5e-4});
}

TEST_P(LowPrecision, FirstStepOfResnet50IsNearPyTorchs) {
  expect_near("resnet50-b8-m4", {.first_loss = 0.4, .logits = 0.7, .gradient_norms = 0.25, .statistics = 1.5e-2},
              {.first_loss = 8e-2, .logits = 0.2, .gradient_norms = 0.15, .statistics = 4e-3});
}

INSTANTIATE_TEST_SUITE_P(In, LowPrecision, testing::ValuesIn(low_precisions()),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace convoy::test
