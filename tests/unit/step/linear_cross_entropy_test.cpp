/// A cell that computes the loss of many words in blocks, against plain loops over all of them at once.
#include "model/layers/linear_cross_entropy.h"

#include <fmt/core.h>

#include "model/layers/objectives.h"
#include "reference/linear.h"
#include "reference/sample_cross_entropy.h"
#include "unit/step/loss_cell.h"

namespace convoy {
namespace {

using reference::relative_distance;

struct Case {
  std::int64_t samples, words, width, classes;
};

std::unique_ptr<Cell> loss_cell(const Case& of, DataType type) {
  CellBuilder cell({.name = "loss", .type = type});
  const Value x = cell.input(Shape::sequences(of.samples, of.words, of.width));
  const Value labels =
      cell.feature("words", {.shape = Shape::sequences(of.samples, of.words, 1), .type = DataType::kInt32});
  return cell.finish(objectives({{"words", linear_cross_entropy("out", x, labels, of.classes)}}));
}

class LinearCrossEntropyTest : public OpTest {};

TEST_P(LinearCrossEntropyTest, InBlocksIsWhatItIsAtOnceJointOrInTwoParts) {
  for (const DataType type : types()) {
    for (const Case& of : {Case{.samples = 3, .words = 5, .width = 16, .classes = 7},
                           Case{.samples = 6, .words = 100, .width = 8, .classes = 12},    // 2 blocks of 3 samples
                           Case{.samples = 2, .words = 600, .width = 8, .classes = 7}}) {  // one sample is too large
      SCOPED_TRACE(
          fmt::format("{} samples of {} words, {} classes, {}", of.samples, of.words, of.classes, to_string(type)));
      const std::int64_t rows = of.samples * of.words;
      const Array x = rounded(type, random_array(rows * of.width, 1));
      const std::int64_t num_weights = of.classes * of.width;
      const Array w = rounded(type, random_array(num_weights, 2, 0, 0.5)),
                  b = rounded(type, random_array(of.classes, 3, 0, 0.5)), parameters = in_arena(w, b);
      const std::size_t bias = index(round_up(num_weights, 16));
      std::vector<std::int32_t> labels;
      for (std::int64_t row = 0; row < rows; ++row)
        labels.push_back(row % 7 == 3 ? ops::kNoLabel : static_cast<std::int32_t>(row * 13 % of.classes));
      const Array dloss = random_array(of.samples, 4);

      // At once, in double.
      const ops::LinearSpec linear{.n = rows, .num_inputs = of.width, .num_outputs = of.classes};
      const ops::SampleCrossEntropySpec spec{.n = of.samples, .num_rows = of.words, .num_classes = of.classes};
      const Array logits = reference::linear(linear, x, w, b);
      const auto scores = reference::sample_scores(spec, labels, logits);
      const auto want =
          reference::linear_gradient(linear, x, w, reference::sample_gradient(spec, labels, logits, dloss));

      const LossCellCall call(*backend_, loss_cell(of, type), x, parameters, labels);
      ASSERT_EQ(call.cell->memory().arena_count(), std::ssize(parameters));
      call.cell->forward(call.frame);
      call.set_dy(dloss);
      call.cell->backward(call.frame);
      // Sums of some thousand products in float32, by values of about 1; in 16 bits each gradient is rounded once
      // before.
      const double allowed = type == DataType::kFloat32 ? 1e-5 : type == DataType::kFloat16 ? 2e-3 : 1e-2;
      const Array got = call.y.doubles();
      Array loss;
      for (std::size_t n = 0; n < index(of.samples); ++n) {
        loss.push_back(got[3 * n]);
        EXPECT_EQ(got[3 * n + 2], scores.num_labels[n]);
      }
      EXPECT_LE(relative_distance(loss, scores.loss), 1e-5);
      EXPECT_LE(relative_distance(call.dx.doubles(), want.dx), allowed);
      EXPECT_LE(relative_distance(call.gradient(0, num_weights), want.dw), allowed);
      EXPECT_LE(relative_distance(call.gradient(bias, of.classes), want.db), allowed);

      LossCellCall split(*backend_, loss_cell(of, type), x, parameters, labels);
      split.cell->forward(split.frame);
      split.set_dy(dloss);
      split.frame.weight_gradient_inputs = split.stored.data();
      split.frame.gradients = nullptr;
      split.cell->backward(split.frame);
      split.frame.gradients = split.gradients;
      split.cell->backward_weight(split.frame);
      EXPECT_EQ(bits(split.dx), bits(call.dx));
      for (const auto& [begin, count] : {std::pair(std::size_t{0}, num_weights), {bias, of.classes}})
        EXPECT_EQ(split.gradient(begin, count), call.gradient(begin, count));
    }
  }
}

TEST_P(LinearCrossEntropyTest, LogitsAreNeverWholeInMemory) {
  const Case of{.samples = 200, .words = 25, .width = 256, .classes = 20000};
  for (const DataType type : types()) {
    const auto cell = loss_cell(of, type);
    const std::int64_t all = of.samples * of.words * of.classes * kFloatBytes,
                       weights = (of.width + 1) * of.classes * kFloatBytes;
    // A tenth of the logits, their gradients (float32's in the same place), and a block's part of the weights'
    // gradients; in addition the scores.
    const std::int64_t gradients = type == DataType::kFloat32 ? 0 : all / 10 / 2;
    EXPECT_LE(cell->memory().scratch_bytes(), all / 10 + gradients + weights + all / 10000);
    EXPECT_LE(cell->memory().activation_bytes() + cell->memory().statistic_bytes() + cell->y().bytes(), all / 1000);
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(LinearCrossEntropyTest);

TEST(LinearCrossEntropy, ABlockHoldsWholeSamplesAndAboutFiveHundredRows) {
  EXPECT_EQ(samples_of_block(32, 19), 16);
  EXPECT_EQ(samples_of_block(200, 25), 20);
  EXPECT_EQ(samples_of_block(8, 1), 8);
  EXPECT_EQ(samples_of_block(7, 100), 1) << "5 would do, but do not divide 7";
  EXPECT_EQ(samples_of_block(4, 1000), 1) << "a sample is never cut";
}

}  // namespace
}  // namespace convoy
