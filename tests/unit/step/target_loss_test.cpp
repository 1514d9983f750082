/// A cell that computes the losses of its outputs from the feature with their targets, against plain loops.
#include "model/layers/target_loss.h"

#include <cmath>

#include <fmt/core.h>

#include "model/layers/linear.h"
#include "model/layers/objectives.h"
#include "reference/linear.h"
#include "reference/target_loss.h"
#include "unit/step/loss_cell.h"

namespace convoy {
namespace {

using ops::TargetLossKind;
using reference::relative_distance;

class TargetLossCellTest : public OpTest {};

TEST_P(TargetLossCellTest, GivesTheScoresOfTwoLossesAndTheSumOfTheirGradients) {
  constexpr std::int64_t kSamples = 6, kWidth = 8, kOutputs = 3;
  ops::TargetLossSpec huber{.n = kSamples,
                            .num_outputs = kOutputs,
                            .kind = TargetLossKind::kHuberError,
                            .mean = {1, 0, 2},
                            .stddev = {2, 1, 1}};
  ops::TargetLossSpec absolute = huber;
  absolute.kind = TargetLossKind::kAbsoluteError;
  for (const DataType type : types()) {
    SCOPED_TRACE(to_string(type));
    CellBuilder cell({.name = "loss", .type = type});
    const Value y = logits("out", cell.input(Shape::vectors(kSamples, kWidth)), kOutputs);
    const Value t = cell.feature("target", {.shape = Shape::vectors(kSamples, kOutputs), .type = DataType::kFloat32});
    const Array x = rounded(type, random_array(kSamples * kWidth, 1)),
                w = rounded(type, random_array(kOutputs * kWidth, 2)), b = rounded(type, random_array(kOutputs, 3));
    Array targets = random_array(kSamples * kOutputs, 4, 1, 2);
    targets[4] = std::nan("");
    LossCellCall call(
        *backend_, cell.finish(objectives({{"huber", target_loss(y, t, huber)}, {"mae", target_loss(y, t, absolute)}})),
        x, in_arena(w, b), std::vector<float>(targets.begin(), targets.end()));
    const Array dloss = random_array(2 * kSamples, 5);
    call.cell->forward(call.frame);
    call.set_dy(dloss);
    call.cell->backward(call.frame);

    const ops::LinearSpec linear{.n = kSamples, .num_inputs = kWidth, .num_outputs = kOutputs};
    const Array outputs = reference::linear(linear, x, w, b), got = call.y.doubles();
    Array dy(outputs.size());
    for (const auto& [loss, first] : {std::pair(huber, std::size_t{0}), {absolute, index(kSamples)}}) {
      const auto want = reference::target_scores(loss, targets, outputs);
      const auto own = dloss.begin() + static_cast<std::ptrdiff_t>(first);
      const Array part = reference::target_gradient(loss, targets, outputs, Array(own, own + kSamples));
      for (std::size_t i = 0; i < dy.size(); ++i) dy[i] += part[i];
      for (std::size_t n = 0; n < index(kSamples); ++n) {
        EXPECT_NEAR(got[3 * (first + n)], want.loss[n], 1e-5);  // outputs are sums of 9 numbers up to 1 in float32
        EXPECT_EQ(got[3 * (first + n) + 2], want.num_labels[n]);
      }
    }
    const auto want = reference::linear_gradient(linear, x, w, dy);
    // Sums of a few numbers in float32; in 16 bits each gradient is rounded a few times before.
    const double allowed = type == DataType::kFloat32 ? 1e-5 : type == DataType::kFloat16 ? 2e-3 : 1e-2;
    EXPECT_LE(relative_distance(call.dx.doubles(), want.dx), allowed);
    EXPECT_LE(relative_distance(call.gradient(0, kOutputs * kWidth), want.dw), allowed);
    EXPECT_LE(relative_distance(call.gradient(32, kOutputs), want.db), allowed);
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(TargetLossCellTest);

}  // namespace
}  // namespace convoy
