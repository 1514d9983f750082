/// DropoutOp against plain loops, and the statistics of the values that it drops.
#include "reference/dropout.h"

#include <algorithm>
#include <cmath>

#include "convoy/ops/elementwise.h"

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::DrawKey;
using ops::DropoutSpec;

constexpr std::uint64_t kLayer = 0x9ddfea08eb382d69;

class DropoutTest : public OpTest {
 protected:
  /// The key in memory that host and device read.
  DrawKey& key_of(const HostBuffer& memory) const { return *reinterpret_cast<DrawKey*>(memory.data()); }
  HostBuffer key_memory(const DrawKey& key) const {
    HostBuffer memory(backend_->device(), sizeof(DrawKey));
    key_of(memory) = key;
    return memory;
  }
  /// The factors of dropout: its results for ones.
  Array factors(const DropoutSpec& spec, const DrawKey& key) const {
    const HostBuffer memory = key_memory(key);
    const DeviceArray ones(*backend_, Array(index(spec.count), 1.0)), y(*backend_, spec.count);
    backend_->create<ops::DropoutOp>(spec)->run(&key_of(memory), ones, y);
    return y.doubles();
  }
};

// The published answers of Philox4x32-10 for zeros, and for all bits set.
TEST(DropoutReference, DrawsThePublishedWords) {
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(reference::philox({0, 0, 0, 0}, 0, 0), (reference::Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(reference::philox({kOnes, kOnes, kOnes, kOnes}, kOnes, kOnes),
            (reference::Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST_P(DropoutTest, EqualsPlainLoopsExactly) {
  const DrawKey key{.seed = 0x123456789abcdef0, .step = 0xfedcba9876, .micro_batch = 0x89abcdef};
  const HostBuffer memory = key_memory(key);
  for (const std::int64_t count : {1, 2, 3, 4, 7, 8, 12, 130, 1000, 2048, 4100}) {
    for (const float p : {0.0f, 0.1f, 0.5f, 0.999f}) {
      for (const DataType type : types()) {
        SCOPED_TRACE(fmt::format("{} values, p = {}, {}", count, p, to_string(type)));
        const DropoutSpec spec{.count = count, .p = p, .layer = kLayer, .type = type};
        const Array x = rounded(type, random_array(count, 1));
        const DeviceArray device_x(*backend_, x, type), y(*backend_, count, type);
        const auto op = backend_->create<ops::DropoutOp>(spec);
        op->run(&key_of(memory), device_x, y);
        EXPECT_EQ(y.doubles(), reference::dropout(spec, key, x));
        op->run(&key_of(memory), device_x, device_x);
        EXPECT_EQ(bits(device_x), bits(y)) << "over its input";
      }
    }
  }
}

// Whole samples share a draw in stochastic depth.
TEST_P(DropoutTest, ValuesThatShareADrawEqualPlainLoopsExactly) {
  const DrawKey key{.seed = 3, .step = 4, .micro_batch = 5};
  const HostBuffer memory = key_memory(key);
  for (const auto& [samples, values] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 7}, {20, 2}, {33, 3}, {17, 48}, {9, 1000}, {40, 1024}, {3, 20001}}) {
    for (const float p : {0.0f, 0.4f, 0.999f}) {
      for (const DataType type : types()) {
        SCOPED_TRACE(fmt::format("{} samples of {} values, p = {}, {}", samples, values, p, to_string(type)));
        const std::int64_t count = samples * values;
        const DropoutSpec spec{.count = count, .p = p, .layer = kLayer, .type = type, .values_per_draw = values};
        Array x = rounded(type, random_array(count, 1));
        const DeviceArray device_x(*backend_, x, type), y(*backend_, count, type);
        backend_->create<ops::DropoutOp>(spec)->run(&key_of(memory), device_x, y);
        EXPECT_EQ(y.doubles(), reference::dropout(spec, key, x));
      }
    }
  }
}

TEST_P(DropoutTest, TheSumWithAResidualHasTheBitsOfBothOperations) {
  const DrawKey key{.seed = 7, .step = 8, .micro_batch = 9};
  const HostBuffer memory = key_memory(key);
  for (const auto& [count, together] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {3, 1}, {8, 1}, {63, 1}, {64, 1}, {130, 1}, {1000, 1}, {20000, 1}, {1000, 50}, {40004, 10001}}) {
    for (const DataType type : types()) {
      SCOPED_TRACE(fmt::format("{} values, {} together, {}", count, together, to_string(type)));
      const DeviceArray x(*backend_, random_array(count, 1), type), residual(*backend_, random_array(count, 2), type);
      const DeviceArray y(*backend_, count, type), want(*backend_, count, type);
      const auto op = backend_->create<ops::DropoutOp>(
          {.count = count, .p = 0.1f, .layer = kLayer, .type = type, .values_per_draw = together});
      op->run(&key_of(memory), x, want);
      backend_->elementwise().add(type, residual, want, want, count);
      op->run_and_add(&key_of(memory), x, residual, y);
      EXPECT_EQ(bits(y), bits(want));
      const DeviceArray over_x(*backend_, random_array(count, 1), type);
      op->run_and_add(&key_of(memory), over_x, residual, over_x);
      EXPECT_EQ(bits(over_x), bits(want)) << "over x";
      op->run_and_add(&key_of(memory), x, residual, residual);
      EXPECT_EQ(bits(residual), bits(want)) << "over the residual";
    }
  }
}

TEST_P(DropoutTest, AReluBeforeItHasTheBitsOfBothOperationsForwardAndBackward) {
  const DrawKey key{.seed = 7, .step = 8, .micro_batch = 9};
  const HostBuffer memory = key_memory(key);
  for (const auto& [count, together] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {3, 1}, {8, 1}, {63, 1}, {64, 1}, {130, 1}, {1000, 1}, {20000, 1}, {40001, 1}, {1000, 50}}) {
    for (const DataType type : types()) {
      SCOPED_TRACE(fmt::format("{} values, {} together, {}", count, together, to_string(type)));
      Array values = random_array(count, 1);
      values.front() = 0;
      values.back() = std::nan("");
      const DeviceArray x(*backend_, values, type), dy(*backend_, random_array(count, 2), type);
      const DeviceArray y(*backend_, count, type), dx(*backend_, count, type), relu(*backend_, count, type);
      const DeviceArray want(*backend_, count, type);
      const auto op = backend_->create<ops::DropoutOp>(
          {.count = count, .p = 0.3f, .layer = kLayer, .type = type, .values_per_draw = together});
      const auto activation = backend_->create<ops::ActivationOp>({.count = count, .type = type});
      activation->forward(x, relu);
      op->run(&key_of(memory), relu, want);
      op->relu_and_run(&key_of(memory), x, y);
      EXPECT_EQ(bits(y), bits(want));
      const DeviceArray copy(*backend_, values, type);
      op->relu_and_run(&key_of(memory), copy, copy);
      EXPECT_EQ(bits(copy), bits(want)) << "over its input";

      op->run(&key_of(memory), dy, want);
      activation->backward(x, want, want);
      op->backward_of_relu(y, dy, dx);
      EXPECT_EQ(dx.doubles(), want.doubles());  // not the sign of a zero
      op->backward_of_relu(y, dy, dy);
      EXPECT_EQ(bits(dy), bits(dx)) << "over its input";
    }
  }
}

// The number of dropped values is binomial: sqrt(n p (1 - p)) is its standard deviation. Both values of a pair of
// neighbours at the border of two blocks of words are dropped with probability p^2.
TEST_P(DropoutTest, DropsTheShareThatIsAskedForAndNeighboursIndependently) {
  constexpr std::int64_t kCount = 40000;
  constexpr double kDeviations = 5;  // chance: 6e-7
  for (const float p : {0.1f, 0.5f}) {
    const Array y = factors({.count = kCount, .p = p, .layer = kLayer}, {.seed = 1});
    const auto expect_share = [](double num, double n, double share, const char* what) {
      EXPECT_NEAR(num, n * share, kDeviations * std::sqrt(n * share * (1 - share))) << what;
    };
    expect_share(static_cast<double>(std::ranges::count(y, 0.0)), kCount, p, "all");
    for (std::size_t lane = 0; lane < 8; ++lane) {
      double num_both = 0;
      for (std::size_t i = lane; i + 1 < y.size(); i += 8) num_both += y[i] == 0 && y[i + 1] == 0 ? 1 : 0;
      expect_share(num_both, kCount / 8.0, double{p} * p, "pairs");
    }
  }
}

TEST_P(DropoutTest, DrawsOtherNumbersForEachSeedStepMicroBatchAndLayer) {
  const DropoutSpec spec{.count = 256, .p = 0.5f, .layer = kLayer};
  DropoutSpec other_layer = spec;
  ++other_layer.layer;
  const DrawKey key{.seed = 3, .step = 5, .micro_batch = 7};
  std::vector<Array> all = {factors(spec, key), factors(other_layer, key)};
  for (const auto part : {&DrawKey::seed, &DrawKey::step, &DrawKey::micro_batch}) {
    DrawKey other = key;
    ++(other.*part);
    all.push_back(factors(spec, other));
  }
  DrawKey far = key;
  far.step += std::uint64_t{1} << 32;
  all.push_back(factors(spec, far));
  EXPECT_EQ(factors(spec, key), all.front());
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

// Repeated work is issued, captured, then replayed, each time with the key that is then in memory.
TEST_P(DropoutTest, DrawsAnewWhenRepeatedWorkRunsAgain) {
  const DropoutSpec spec{.count = 100, .p = 0.5f, .layer = kLayer};
  const Array x = random_array(spec.count, 1);
  const DeviceArray device_x(*backend_, x), y(*backend_, spec.count);
  const HostBuffer memory = key_memory({.seed = 9});
  const auto op = backend_->create<ops::DropoutOp>(spec);
  const auto work = backend_->device().make_repeated_work();
  for (std::uint64_t step = 0; step < 4; ++step) {
    key_of(memory).step = step;
    work->run([&] { op->run(&key_of(memory), device_x, y); });
    EXPECT_EQ(y.doubles(), reference::dropout(spec, {.seed = 9, .step = step}, x)) << "step " << step;
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(DropoutTest);

}  // namespace
}  // namespace convoy
