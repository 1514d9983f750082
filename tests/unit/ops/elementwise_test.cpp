/// ElementwiseOps: exact against float32 arithmetic rounded at every step, and free of position.
#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::SgdSpec;

constexpr std::int64_t kCount = 70001;  // odd, and enough for threads to share

/// One float32 operation: volatile keeps the compiler from merging it with the next.
float rounded(float value) {
  const volatile float once = value;
  return once;
}

struct SgdState {
  float momentum, weight;
};

SgdState sgd_step(const SgdSpec& spec, float gradient, SgdState state) {
  const float g = rounded(gradient + rounded(spec.weight_decay * state.weight));
  const float v = rounded(rounded(spec.momentum * state.momentum) + g);
  const float direction = spec.nesterov ? rounded(g + rounded(spec.momentum * v)) : v;
  return {v, rounded(state.weight - rounded(spec.lr * direction))};
}

class ElementwiseTest : public OpTest {
 protected:
  /// Offsets and lengths that begin and end anywhere in a vector.
  static std::vector<std::pair<std::int64_t, std::int64_t>> slices() {
    std::vector<std::pair<std::int64_t, std::int64_t>> result;
    std::int64_t at = 0;
    for (std::int64_t length = 1; at < kCount; length = length % 97 + 5) {
      result.emplace_back(at, std::min(length, kCount - at));
      at += length;
    }
    return result;
  }

  Array a_ = random_array(kCount, 1), b_ = random_array(kCount, 2), c_ = random_array(kCount, 3);
};

TEST_P(ElementwiseTest, SgdRoundsAfterEveryOperationAsTorchDoes) {
  for (const bool nesterov : {false, true}) {
    const SgdSpec spec{.lr = 0.1f, .momentum = 0.9f, .weight_decay = 1e-4f, .nesterov = nesterov};
    const DeviceArray gradient(*library_, a_), momentum(*library_, b_), weight(*library_, c_);
    library_->elementwise().sgd(spec, gradient, momentum, weight, kCount);
    const std::vector<float> momenta = momentum.values(), weights = weight.values();
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const SgdState want =
          sgd_step(spec, static_cast<float>(a_[i]), {static_cast<float>(b_[i]), static_cast<float>(c_[i])});
      ASSERT_EQ(momenta[i], want.momentum) << i;
      ASSERT_EQ(weights[i], want.weight) << i;
    }
  }
}

TEST_P(ElementwiseTest, SgdOfSlicesEqualsSgdOfTheWholeBitForBit) {
  for (const bool nesterov : {false, true}) {
    const SgdSpec spec{.lr = 0.1f, .momentum = 0.9f, .weight_decay = 1e-4f, .nesterov = nesterov};
    const DeviceArray gradient(*library_, a_), momentum(*library_, b_), weight(*library_, c_);
    const DeviceArray sliced_momentum(*library_, b_), sliced_weight(*library_, c_);
    library_->elementwise().sgd(spec, gradient, momentum, weight, kCount);
    for (const auto& [at, length] : slices()) {
      library_->elementwise().sgd(spec, gradient + at, sliced_momentum + at, sliced_weight + at, length);
    }
    EXPECT_EQ(bits(momentum), bits(sliced_momentum));
    EXPECT_EQ(bits(weight), bits(sliced_weight));
  }
}

TEST_P(ElementwiseTest, MovingAverageRoundsAfterEveryOperationAndDoesNotSeeSlices) {
  const float keep = 0.9f, scale = 1.0f / 3;
  const DeviceArray sum(*library_, a_), running(*library_, b_), sliced(*library_, b_);
  library_->elementwise().moving_average(keep, scale, sum, running, kCount);
  for (const auto& [at, length] : slices()) {
    library_->elementwise().moving_average(keep, scale, sum + at, sliced + at, length);
  }
  EXPECT_EQ(bits(running), bits(sliced));
  const std::vector<float> values = running.values();
  const float take = rounded(rounded(1 - keep) * scale);
  for (std::size_t i = 0; i < a_.size(); ++i) {
    const float kept = rounded(keep * static_cast<float>(b_[i])), taken = rounded(take * static_cast<float>(a_[i]));
    ASSERT_EQ(values[i], rounded(kept + taken)) << i;
  }
}

TEST_P(ElementwiseTest, AddMayWriteIntoEitherOperand) {
  const DeviceArray sum(*library_, kCount), left(*library_, a_), right(*library_, b_);
  library_->elementwise().add(left, right, sum, kCount);
  const std::vector<float> values = sum.values();
  for (std::size_t i = 0; i < a_.size(); ++i) {
    ASSERT_EQ(values[i], static_cast<float>(a_[i]) + static_cast<float>(b_[i])) << i;
  }
  const DeviceArray other_left(*library_, a_);
  library_->elementwise().add(other_left, right, right, kCount);
  EXPECT_EQ(bits(right), bits(sum));
  const DeviceArray other_right(*library_, b_);
  library_->elementwise().add(left, other_right, left, kCount);
  EXPECT_EQ(bits(left), bits(sum));
}

TEST_P(ElementwiseTest, CopyCopiesThatManyValues) {
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, std::int64_t{37}, kCount}) {
    const DeviceArray from(*library_, Array(a_.begin(), a_.begin() + count)), to(*library_, count);
    library_->elementwise().copy(from, to, count);
    EXPECT_EQ(bits(from), bits(to));
  }
}

CONVOY_RUN_WITH_ONE_AND_TWO_THREADS(ElementwiseTest);

}  // namespace
}  // namespace convoy
