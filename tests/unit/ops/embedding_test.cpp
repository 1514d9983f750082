/// EmbeddingOp against plain loops.
#include "reference/embedding.h"

#include <cmath>
#include <random>

#include "convoy/base/error.h"

#include "unit/ops/device_ints.h"
#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::EmbeddingSpec;
using ops::kNoToken;

using Tokens = std::vector<std::int32_t>;

/// Tokens distributed as in a text: the frequency of token v is about 1 / (v + 1), and some sequences end early.
Tokens text_like(const EmbeddingSpec& spec) {
  std::mt19937_64 random(7);
  Tokens tokens;
  for (std::int64_t n = 0; n < spec.n; ++n) {
    const std::int64_t end = n == 0 ? spec.length : spec.length * (1 + n % 4) / 4;
    for (std::int64_t t = 0; t < spec.length; ++t) {
      const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
      const double rank = std::pow(static_cast<double>(spec.num_rows), unit) - 1;
      tokens.push_back(t < end ? static_cast<std::int32_t>(rank) : kNoToken);
    }
  }
  return tokens;
}

class EmbeddingTest : public OpTest {
 protected:
  /// Tests both directions against loops. Without tokens the positions are embedded.
  void expect_loops(const EmbeddingSpec& spec, const Tokens& tokens) {
    SCOPED_TRACE(fmt::format("{} sequences of {} words, {} rows of {} values, {}", spec.n, spec.length, spec.num_rows,
                             spec.width, to_string(spec.type)));
    const std::int64_t count = spec.n * spec.length * spec.width;
    const Array table = rounded(spec.type, random_array(spec.num_rows * spec.width, 1)),
                dy = rounded(spec.type, random_array(count, 2));
    const DeviceInts device_tokens(backend_->device(), tokens);
    const DeviceArray device_table(*backend_, table, spec.type), device_dy(*backend_, dy, spec.type),
        y(*backend_, count, spec.type), dtable(*backend_, spec.num_rows * spec.width);
    const auto op = backend_->create<ops::EmbeddingOp>(spec);
    op->forward(device_tokens, device_table, y);
    op->backward_weight(device_tokens, device_dy, dtable);

    // scale * row: one rounding, and one of its sum with a position, which is below 1 and has been rounded once.
    EmbeddingSpec scaled = spec;
    scaled.sinusoids = false;
    Array y_bound = rounding_bound(reference::embedding(scaled, tokens, absolute(table)), 2);
    if (spec.sinusoids)
      for (double& bound : y_bound) bound += 2 * kRounding;
    expect_close("y", y, reference::embedding(spec, tokens, table), y_bound);
    // At most N * T additions, and the product with scale.
    expect_close("dtable", dtable, reference::embedding_gradient(spec, tokens, dy),
                 rounding_bound(reference::embedding_gradient(spec, tokens, absolute(dy)), spec.n * spec.length + 1));
  }

  std::vector<std::uint32_t> gradient_bits(ops::Backend& backend, const EmbeddingSpec& spec, const Tokens& tokens) {
    const DeviceInts device_tokens(backend.device(), tokens);
    const DeviceArray dy(backend, rounded(spec.type, random_array(spec.n * spec.length * spec.width, 2)), spec.type),
        dtable(backend, spec.num_rows * spec.width);
    const auto op = backend.create<ops::EmbeddingOp>(spec);
    const auto larger = backend.create<ops::EmbeddingOp>({.n = 9, .length = 99, .num_rows = 999, .width = 99});
    op->backward_weight(device_tokens, dy, dtable);
    auto first = bits(dtable);
    op->backward_weight(device_tokens, dy, dtable);
    EXPECT_EQ(first, bits(dtable)) << "a second time";
    return first;
  }
};

TEST_P(EmbeddingTest, OfTextEqualsPlainLoops) {
  for (const DataType type : types()) {
    for (EmbeddingSpec spec : {EmbeddingSpec{.n = 1, .length = 1, .num_rows = 1, .width = 1},
                               {.n = 3, .length = 7, .num_rows = 11, .width = 5, .scale = 3},
                               {.n = 4, .length = 50, .num_rows = 60, .width = 64, .scale = 8, .sinusoids = true},
                               {.n = 2, .length = 90, .num_rows = 40, .width = 37, .sinusoids = true},
                               {.n = 5, .length = 100, .num_rows = 2, .width = 24},
                               {.n = 2, .length = 40, .num_rows = 30, .width = 516}}) {
      spec.type = type;
      expect_loops(spec, text_like(spec));
    }
  }
}

// A token has two or three bytes: a radix sort takes as many passes.
TEST_P(EmbeddingTest, OfLargeVocabulariesEqualsPlainLoops) {
  expect_loops({.n = 4, .length = 50, .num_rows = 257, .width = 8}, Tokens(200, 256));
  for (const EmbeddingSpec& spec : {EmbeddingSpec{.n = 3, .length = 90, .num_rows = 1000, .width = 8, .scale = 0.3f},
                                    EmbeddingSpec{.n = 2, .length = 60, .num_rows = 70000, .width = 2}})
    expect_loops(spec, text_like(spec));
}

TEST_P(EmbeddingTest, OfPositionsEqualsPlainLoops) {
  for (const DataType type : types()) {
    for (EmbeddingSpec spec : {EmbeddingSpec{.n = 1, .length = 1, .num_rows = 1, .width = 4},
                               {.n = 70, .length = 9, .num_rows = 12, .width = 16},
                               {.n = 3, .length = 64, .num_rows = 64, .width = 37, .scale = 2}}) {
      spec.type = type;
      expect_loops(spec, {});
    }
  }
}

// One token everywhere, or between others: its words fill many segments; they begin in one and end in another.
TEST_P(EmbeddingTest, LongRunsOfOneTokenEqualPlainLoops) {
  for (const DataType type : types()) {
    for (const std::int64_t width : {8, 37, 256}) {
      const EmbeddingSpec spec{.n = 3, .length = 400, .num_rows = 20, .width = width, .type = type};
      Tokens tokens(1200, 7);
      expect_loops(spec, tokens);
      for (std::size_t i = 0; i < tokens.size(); i += 9) tokens[i] = static_cast<std::int32_t>(i / 9 % 20);
      expect_loops(spec, tokens);
      for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = i < 64 ? 0 : (i < 128 ? 3 : 19);
      expect_loops(spec, tokens);
      expect_loops(spec, Tokens(1200, kNoToken));
    }
  }
}

// Blocks of a few dozen words: a sum of 16384 equal values, one after the other, would lose digits.
TEST_P(EmbeddingTest, ASumOfManyWordsKeepsItsDigits) {
  const EmbeddingSpec spec{.n = 16, .length = 1024, .num_rows = 1, .width = 8};
  const double value = static_cast<double>(0.1f);
  const DeviceInts tokens(backend_->device(), Tokens(16384, 0));
  const DeviceArray dy(*backend_, Array(16384 * 8, value)), dtable(*backend_, 8);
  backend_->create<ops::EmbeddingOp>(spec)->backward_weight(tokens, dy, dtable);
  // Additions that a word passes through: 64 and 256 on the CPU; 16, 4 and 256 on a GPU.
  for (const double sum : dtable.doubles()) EXPECT_NEAR(sum, 16384 * value, 16384 * value * 320 * kRounding);
}

TEST_P(EmbeddingTest, GivesTheSameBitsInEveryRun) {
  for (const DataType type : types()) {
    const EmbeddingSpec spec{.n = 4, .length = 100, .num_rows = 50, .width = 40, .type = type};
    const auto first = gradient_bits(*backend_, spec, text_like(spec));
    EXPECT_EQ(first, gradient_bits(*another_backend(), spec, text_like(spec)));
  }
}

TEST_P(EmbeddingTest, PositionsHaveTheBitsOfTheirTokens) {
  const EmbeddingSpec spec{.n = 40, .length = 30, .num_rows = 33, .width = 20};
  Tokens tokens;
  for (std::int64_t word = 0; word < 40 * 30; ++word) tokens.push_back(static_cast<std::int32_t>(word % 30));
  EXPECT_EQ(gradient_bits(*backend_, spec, {}), gradient_bits(*backend_, spec, tokens));
}

// The CPU throws; a GPU, which cannot, makes the results NaN, so that the step fails.
TEST_P(EmbeddingTest, TokensOutsideOfTheTableAreNeverTakenForOne) {
  const EmbeddingSpec spec{.n = 2, .length = 3, .num_rows = 5, .width = 4};
  const DeviceArray table(*backend_, random_array(20, 1)), y(*backend_, 24), dy(*backend_, random_array(24, 2)),
      dtable(*backend_, 20), expected(*backend_, 20);
  const auto op = backend_->create<ops::EmbeddingOp>(spec);
  op->backward_weight(DeviceInts(backend_->device(), {0, 1, 2, 3, kNoToken, 0}), dy, expected);
  for (const std::int32_t token : {5, -2, 2000000000}) {
    const DeviceInts tokens(backend_->device(), {0, 1, 2, 3, token, 0});
    try {
      op->forward(tokens, table, y);
      const std::vector<float> values = y.values();
      for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(std::isnan(values[i]), i / 4 == 4) << i;
      op->backward_weight(tokens, dy, dtable);
      EXPECT_EQ(bits(dtable), bits(expected));
    } catch (const Error& error) {
      const std::string part = fmt::format("token {} at word 1 of sequence 1", token);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      EXPECT_THROW(op->backward_weight(tokens, dy, dtable), Error);
    }
  }
}

TEST_P(EmbeddingTest, RefusesMorePositionsThanTheTableHas) {
  const auto op = backend_->create<ops::EmbeddingOp>({.n = 1, .length = 6, .num_rows = 5, .width = 4});
  const DeviceArray table(*backend_, 20), y(*backend_, 24);
  EXPECT_THROW(op->forward(nullptr, table, y), Error);
  EXPECT_THROW(op->backward_weight(nullptr, y, table), Error);
}

TEST(EmbeddingOnTheCpu, GivesTheSameBitsForEveryNumberOfThreads) {
  const EmbeddingSpec spec{.n = 8, .length = 100, .num_rows = 50, .width = 40};
  std::vector<std::uint32_t> first;
  for (const std::int64_t threads : {1, 2, 3, 7}) {
    const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
    const DeviceInts tokens(backend->device(), text_like(spec));
    const DeviceArray dy(*backend, random_array(800 * 40, 2)), dtable(*backend, 50 * 40);
    backend->create<ops::EmbeddingOp>(spec)->backward_weight(tokens, dy, dtable);
    if (first.empty()) first = bits(dtable);
    EXPECT_EQ(first, bits(dtable)) << threads << " threads";
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(EmbeddingTest);

}  // namespace
}  // namespace convoy
