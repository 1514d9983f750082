/// Training steps equal PyTorch's, on one rank, on two stages and on two stages of two replicas.
#include <gtest/gtest.h>

#include "golden/golden_backend.h"
#include "golden/golden_steps.h"
#include "parallel/mpi_main.h"

namespace convoy::test {

namespace {

/// The reasons are given in README.md in this folder.
struct Tolerances {
  double first_loss = 1e-4, logits = 1e-4, statistics = 1e-4;
  double gradient_norms = 1e-2, gradient_values = 1e-1;              // for the tensor that deviates most
  double median_gradient_norm = 5e-4, median_gradient_value = 5e-3;  // a flip changes the median little
  double later_losses = 1e-3, parameters = 1e-2, evaluation_logits = 1e-2;
};

class Golden : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_backend(); !reason.empty()) GTEST_SKIP() << reason;
  }

  static void expect_golden(const std::string& name, ScheduleKind schedule, const Tolerances& tolerances = {}) {
    SCOPED_TRACE(name);
    const Deviations found = run_golden({.name = name, .schedule = schedule});
    if (world().rank() != 0) return;
    found.first_loss.expect_within(tolerances.first_loss, "first loss");
    found.logits.expect_within(tolerances.logits, "logits");
    found.gradient_norms.expect_within(tolerances.gradient_norms, "gradient norms");
    found.gradient_norms.expect_median_within(tolerances.median_gradient_norm, "gradient norms");
    found.gradient_values.expect_within(tolerances.gradient_values, "gradient values");
    found.gradient_values.expect_median_within(tolerances.median_gradient_value, "gradient values");
    if (found.has_statistics) found.statistics.expect_within(tolerances.statistics, "running statistics");
    found.later_losses.expect_within(tolerances.later_losses, "later losses");
    found.parameters.expect_within(tolerances.parameters, "parameters");
    found.evaluation_logits.expect_within(tolerances.evaluation_logits, "evaluation logits");
  }
};

}  // namespace

TEST_F(Golden, Resnet20OnOneMicroBatchEqualsPyTorch) {
  if (world().size() > 2) GTEST_SKIP() << "one micro-batch cannot be shared by two replicas";
  expect_golden("resnet20-b8-m8", ScheduleKind::kNaive);
}

TEST_F(Golden, Resnet20OnFourMicroBatchesEqualsPyTorch) {
  for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B})
    expect_golden("resnet20-b8-m2", kind);
}

TEST_F(Golden, PyramidnetOnTwoMicroBatchesEqualsPyTorch) {
  for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B})
    expect_golden("pyramidnet20-a27-b6-m3", kind);
}

TEST_F(Golden, WideResnetOnTwoMicroBatchesEqualsPyTorch) {
  for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B})
    expect_golden("wrn16-2-b6-m3", kind);
}

TEST_F(Golden, ConvnextOnTwoMicroBatchesEqualsPyTorch) {
  for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B})
    expect_golden("convnext_atto-b6-m3", kind);
}

// Products of a value and one number per channel; depthwise convolutions, an epsilon and a momentum of their own.
TEST_F(Golden, SqueezeAndExcitationNetworksOnTwoMicroBatchesEqualPyTorch) {
  expect_golden("se_resnet18-b8-m4", ScheduleKind::k1F1B);
  expect_golden("efficientnet_b0-b8-m4", ScheduleKind::kGpipe);
  expect_golden("mobilenet_v3_small-b8-m4", ScheduleKind::k1F1B);
}

// All values of an image as one vector, in the order of memory. The second has two hidden layers with layer norms.
TEST_F(Golden, PerceptronsOnTwoMicroBatchesEqualPyTorch) {
  for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B})
    for (const char* name : {"mlp-b8-m4", "mlp_norm-b8-m4"}) expect_golden(name, kind);
}

// Numbers in their own units, which the loss standardises; several labels with weights; and a second input, which a
// later cell reads.
TEST_F(Golden, LossesOfNumbersAndLabelsOnTwoMicroBatchesEqualPyTorchs) {
  for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B})
    for (const char* name : {"vectors_mse-b8-m4", "vectors_huber-b8-m4", "labels-b8-m4", "two_inputs-b8-m4"})
      expect_golden(name, kind);
}

// Numbers at each pixel of an image.
TEST_F(Golden, LossesOfFieldsOnTwoMicroBatchesEqualPyTorchs) {
  for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B})
    for (const char* name : {"field_mse-b6-m3", "field_huber-b6-m3"}) expect_golden(name, kind);
}

// Images of seven channels, as arrays of floats.
TEST_F(Golden, ResnetsOnPatchesOfSevenChannelsEqualPyTorch) {
  expect_golden("patches_mse-b6-m3", ScheduleKind::k1F1B);
  expect_golden("patches_huber-b6-m3", ScheduleKind::kGpipe);
}

TEST_F(Golden, VisionTransformerOnTwoMicroBatchesEqualsPyTorch) {
  for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B})
    expect_golden("vit_ti_8-b6-m3", kind);
}

// 8 texts with 1 to 24 words. ReLU, sinusoids, norms after the sums; or GELU, learned positions, norms before.
TEST_F(Golden, TransformersOnTwoMicroBatchesEqualPyTorch) {
  for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B})
    for (const char* name : {"transformer-after-b8-m4", "transformer-before-b8-m4"}) expect_golden(name, kind);
}

// 8 texts with 7 to 24 words, of which 1 to 4 are masked, in unequal numbers, some twice.
TEST_F(Golden, BertsTwoLossesOnTwoMicroBatchesEqualPyTorch) {
  for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B})
    for (const char* name : {"bert-b8-m4", "bert_classifier-b8-m4"}) expect_golden(name, kind);
}

TEST_F(Golden, Resnet18OnOneMicroBatchEqualsPyTorch) {
  if (world().size() > 2) GTEST_SKIP() << "one micro-batch cannot be shared by two replicas";
  expect_golden("resnet18-b8-m8", ScheduleKind::k1F1B);
}

TEST_F(Golden, Resnet50OnTwoMicroBatchesIsAsNearAsPyTorchsFloat32) {
  // Batch norm over 16 values in its last layer: PyTorch's own float32 leaves its float64 by up to half of these, in a
  // later loss by a sixth.
  Tolerances tolerances;
  tolerances.gradient_norms = tolerances.median_gradient_norm = 1.5e-2;
  tolerances.gradient_values = tolerances.median_gradient_value = 0.25;
  tolerances.later_losses = 2e-2;
  expect_golden("resnet50-b8-m4", ScheduleKind::k1F1B, tolerances);
}

TEST_F(Golden, Resnext50OnTwoMicroBatchesIsAsNearAsPyTorchsFloat32) {
  // Ill-conditioned as resnet50 is. PyTorch's own float32 leaves its float64 by half of these in the first gradients
  // (norms 1.1e-2 in the median and 1.6e-2, single values 0.12). Its steps are short, so that later losses stay within
  // 2e-3, 2e-3 and 2e-2; another order of sums may multiply this by a small factor.
  Tolerances tolerances;
  tolerances.gradient_norms = tolerances.median_gradient_norm = 3e-2;
  tolerances.gradient_values = tolerances.median_gradient_value = 0.25;
  tolerances.later_losses = 0.1;
  tolerances.evaluation_logits = 0.03;
  expect_golden("resnext50_32x4d-b8-m4", ScheduleKind::k1F1B, tolerances);
}

}  // namespace convoy::test
