/// ElementwiseOps: equal to float32 arithmetic that is rounded at every step, and independent of position.
#include "convoy/ops/elementwise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::AdamSpec;
using ops::SgdSpec;

constexpr std::int64_t kCount = 70001;  // odd, and enough for threads to share

/// One float32 operation: volatile keeps the compiler from merging it with the next.
float once(float value) {
  const volatile float result = value;
  return result;
}

struct SgdState {
  float momentum, weight;
};

SgdState sgd_step(const SgdSpec& spec, float gradient, SgdState state) {
  const float g = once(once(spec.gradient_factor * gradient) + once(spec.weight_decay * state.weight));
  const float v = once(once(spec.momentum * state.momentum) + g);
  const float direction = spec.nesterov ? once(g + once(spec.momentum * v)) : v;
  return {v, once(state.weight - once(spec.lr * direction))};
}

struct AdamState {
  float mean, square, weight;
};

AdamState adam_step(const AdamSpec& spec, float gradient, AdamState state) {
  const float w = once(spec.weight_factor * state.weight);
  const float g = once(once(spec.gradient_factor * gradient) + once(spec.weight_decay * w));
  const float m = once(once(spec.beta1 * state.mean) + once(spec.one_minus_beta1 * g));
  const float v = once(once(spec.beta2 * state.square) + once(spec.one_minus_beta2 * once(g * g)));
  const float root = once(once(once(std::sqrt(v)) / spec.root_correction) + spec.epsilon);
  return {m, v, once(w - once(once(spec.step_size * m) / root))};
}

/// The sum of blocks [begin, begin + num_blocks) at i, split at the largest power of two below their number.
float tree_sum(const std::vector<Array>& blocks, std::size_t i, std::size_t begin, std::size_t num_blocks) {
  if (num_blocks == 1) return static_cast<float>(blocks[begin][i]);
  const std::size_t left = std::bit_floor(num_blocks - 1);
  return once(tree_sum(blocks, i, begin, left) + tree_sum(blocks, i, begin + left, num_blocks - left));
}

class ElementwiseTest : public OpTest {
 protected:
  /// Offsets and lengths of slices that begin and end anywhere in a vector.
  static std::vector<std::pair<std::int64_t, std::int64_t>> slices() {
    std::vector<std::pair<std::int64_t, std::int64_t>> result;
    std::int64_t at = 0;
    for (std::int64_t length = 1; at < kCount; length = length % 97 + 5) {
      result.emplace_back(at, std::min(length, kCount - at));
      at += length;
    }
    return result;
  }

  ops::ElementwiseOps& elementwise() { return backend_->elementwise(); }
  static std::byte* at(const DeviceArray& array, std::int64_t i) { return array.data() + i * size_of(array.type()); }

  /// Sets the flag in a HostBuffer to `before`. Returns the flag after find_non_finite().
  std::int32_t non_finite(const float* values, std::int64_t count, std::int32_t before = 0) {
    const HostBuffer found(backend_->device(), sizeof before);
    std::memcpy(found.data(), &before, sizeof before);
    elementwise().find_non_finite(values, count, reinterpret_cast<std::int32_t*>(found.data()));
    backend_->device().synchronize();
    std::int32_t after = 0;
    std::memcpy(&after, found.data(), sizeof after);
    return after;
  }

  /// Sets the sum in a HostBuffer to `before`. Returns the sum after add_checksum().
  std::uint64_t checksum(const void* data, std::int64_t size_bytes, std::uint64_t before = 0) {
    const HostBuffer sum(backend_->device(), sizeof before);
    sum.as<std::uint64_t>().front() = before;
    elementwise().add_checksum(data, size_bytes, sum.as<std::uint64_t>().data());
    backend_->device().synchronize();
    return sum.as<std::uint64_t>().front();
  }

  /// The contract's mix of an index and a word.
  static std::uint64_t mixed(std::uint64_t index, std::uint32_t word) {
    std::uint64_t x = (index * 0x9e3779b97f4a7c15U) ^ (word * 0xd1342543de82ef95U);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  }

  Array a_ = random_array(kCount, 1), b_ = random_array(kCount, 2), c_ = random_array(kCount, 3);
};

const std::vector<SgdSpec> kSgdSpecs = {
    {.lr = 0.1f, .momentum = 0.9f, .weight_decay = 1e-4f},
    {.lr = 0.1f, .momentum = 0.9f, .weight_decay = 1e-4f, .nesterov = true},
    {.lr = 0.1f, .momentum = 0.9f, .weight_decay = 1e-4f, .nesterov = true, .gradient_factor = 0x1p-10f},
};

TEST_P(ElementwiseTest, SgdRoundsAfterEveryOperationAsTorchDoes) {
  for (const SgdSpec& spec : kSgdSpecs) {
    const DeviceArray gradient(*backend_, a_), momentum(*backend_, b_), weight(*backend_, c_);
    elementwise().sgd(spec, {gradient, momentum, weight, nullptr, kCount});
    const std::vector<float> momenta = momentum.values(), weights = weight.values();
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const SgdState want =
          sgd_step(spec, static_cast<float>(a_[i]), {static_cast<float>(b_[i]), static_cast<float>(c_[i])});
      ASSERT_EQ(momenta[i], want.momentum) << i;
      ASSERT_EQ(weights[i], want.weight) << i;
    }
  }
}

TEST_P(ElementwiseTest, SgdRoundsACopyOfTheNewWeights) {
  for (const DataType type : types()) {
    SCOPED_TRACE(to_string(type));
    SgdSpec spec = kSgdSpecs[2];
    spec.copy_type = type;
    const DeviceArray gradient(*backend_, a_), momentum(*backend_, b_), weight(*backend_, c_);
    const DeviceArray copy(*backend_, kCount, type);
    elementwise().sgd(spec, {gradient, momentum, weight, copy, kCount});
    EXPECT_EQ(copy.doubles(), rounded(type, weight.doubles()));
  }
}

TEST_P(ElementwiseTest, SgdOfSlicesEqualsSgdOfTheWholeBitForBit) {
  for (const DataType type : types()) {
    SCOPED_TRACE(to_string(type));
    for (SgdSpec spec : kSgdSpecs) {
      spec.copy_type = type;
      const DeviceArray gradient(*backend_, a_), momentum(*backend_, b_), weight(*backend_, c_);
      const DeviceArray sliced_momentum(*backend_, b_), sliced_weight(*backend_, c_);
      const DeviceArray copy(*backend_, kCount, type), sliced_copy(*backend_, kCount, type);
      elementwise().sgd(spec, {gradient, momentum, weight, copy, kCount});
      for (const auto& [i, length] : slices()) {
        elementwise().sgd(spec, {gradient + i, sliced_momentum + i, sliced_weight + i, at(sliced_copy, i), length});
      }
      EXPECT_EQ(bits(momentum), bits(sliced_momentum));
      EXPECT_EQ(bits(weight), bits(sliced_weight));
      EXPECT_EQ(bits(copy), bits(sliced_copy));
    }
  }
}

// The specs of the second and of the thousandth step of Adam; the last two are of AdamW, the last with scaled
// gradients.
const std::vector<AdamSpec> kAdamSpecs = {
    {.weight_decay = 1e-2f, .step_size = 0.00526f, .root_correction = 0.0447f},
    {.weight_decay = 1e-2f, .step_size = 0.001f, .root_correction = 0.795f},
    {.weight_factor = 0.9999f, .step_size = 0.001f, .root_correction = 0.795f},
    {.gradient_factor = 0x1p-10f, .weight_factor = 0.9999f, .step_size = 0.001f, .root_correction = 0.795f},
};

TEST_P(ElementwiseTest, AdamRoundsAfterEveryOperationOfItsDefinition) {
  const Array squares = absolute(c_);
  for (const AdamSpec& spec : kAdamSpecs) {
    const DeviceArray gradient(*backend_, a_), mean(*backend_, b_), square(*backend_, squares), weight(*backend_, a_);
    elementwise().adam(spec, {gradient, mean, square, weight, nullptr, kCount});
    const std::vector<float> means = mean.values(), roots = square.values(), weights = weight.values();
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const AdamState want =
          adam_step(spec, static_cast<float>(a_[i]),
                    {static_cast<float>(b_[i]), static_cast<float>(squares[i]), static_cast<float>(a_[i])});
      ASSERT_EQ(means[i], want.mean) << i;
      ASSERT_EQ(roots[i], want.square) << i;
      ASSERT_EQ(weights[i], want.weight) << i;
    }
  }
}

TEST_P(ElementwiseTest, AdamEqualsDoubleLoops) {
  const Array squares = absolute(c_);
  for (const AdamSpec& spec : kAdamSpecs) {
    const DeviceArray gradient(*backend_, a_), mean(*backend_, b_), square(*backend_, squares), weight(*backend_, a_);
    elementwise().adam(spec, {gradient, mean, square, weight, nullptr, kCount});
    Array means(a_.size()), roots(a_.size()), weights(a_.size());
    Array mean_bounds(a_.size()), root_bounds(a_.size()), weight_bounds(a_.size());
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const double beta1 = spec.beta1, beta2 = spec.beta2, decay = spec.weight_decay;
      const double w = spec.weight_factor * a_[i], scaled = spec.gradient_factor * a_[i], g = scaled + decay * w;
      means[i] = beta1 * b_[i] + spec.one_minus_beta1 * g;
      roots[i] = beta2 * squares[i] + spec.one_minus_beta2 * g * g;
      const double root = std::sqrt(roots[i]) / spec.root_correction + spec.epsilon;
      weights[i] = w - spec.step_size * means[i] / root;
      // m has five roundings, relative to its terms, which may cancel. v is a sum of non-negative terms: eight
      // roundings. The root has four, since its argument's errors count half, and three more; the quotient has three
      // more.
      const double terms = beta1 * std::abs(b_[i]) + spec.one_minus_beta1 * (std::abs(scaled) + decay * std::abs(w));
      mean_bounds[i] = 5 * kRounding * terms;
      root_bounds[i] = 8 * kRounding * roots[i];
      weight_bounds[i] = 2 * kRounding * std::abs(w) + 17 * kRounding * spec.step_size * terms / root;
    }
    expect_close("mean", mean, means, mean_bounds);
    expect_close("square", square, roots, root_bounds);
    expect_close("weight", weight, weights, weight_bounds);
  }
}

TEST_P(ElementwiseTest, AdamOfSlicesEqualsAdamOfTheWholeBitForBit) {
  const Array squares = absolute(c_);
  for (const DataType type : types()) {
    SCOPED_TRACE(to_string(type));
    AdamSpec spec = kAdamSpecs[3];
    spec.copy_type = type;
    const DeviceArray gradient(*backend_, a_), mean(*backend_, b_), square(*backend_, squares), weight(*backend_, a_);
    const DeviceArray sliced_mean(*backend_, b_), sliced_square(*backend_, squares), sliced_weight(*backend_, a_);
    const DeviceArray copy(*backend_, kCount, type), sliced_copy(*backend_, kCount, type);
    elementwise().adam(spec, {gradient, mean, square, weight, copy, kCount});
    for (const auto& [i, length] : slices()) {
      elementwise().adam(
          spec, {gradient + i, sliced_mean + i, sliced_square + i, sliced_weight + i, at(sliced_copy, i), length});
    }
    EXPECT_EQ(copy.doubles(), rounded(type, weight.doubles()));
    EXPECT_EQ(bits(mean), bits(sliced_mean));
    EXPECT_EQ(bits(square), bits(sliced_square));
    EXPECT_EQ(bits(weight), bits(sliced_weight));
    EXPECT_EQ(bits(copy), bits(sliced_copy));
  }
}

// Adam's spec for LAMB: a rate of 1, LAMB's decay, and scaled gradients.
const AdamSpec kDirectionSpec{
    .gradient_factor = 0x1p-10f, .weight_decay = 1e-2f, .step_size = 1.0f / 0.271f, .root_correction = 0.0547f};

TEST_P(ElementwiseTest, AdamDirectionRoundsAfterEveryOperationOfItsDefinition) {
  const Array squares = absolute(c_);
  const DeviceArray gradient(*backend_, a_), mean(*backend_, b_), square(*backend_, squares), weight(*backend_, c_);
  elementwise().adam_direction(kDirectionSpec, {gradient, mean, square, weight, kCount});
  const std::vector<float> directions = gradient.values(), means = mean.values(), roots = square.values();
  AdamSpec without_decay = kDirectionSpec;
  without_decay.weight_decay = 0;
  for (std::size_t i = 0; i < a_.size(); ++i) {
    const AdamState from_zero = adam_step(without_decay, static_cast<float>(a_[i]),
                                          {static_cast<float>(b_[i]), static_cast<float>(squares[i]), 0});
    ASSERT_EQ(means[i], from_zero.mean) << i;
    ASSERT_EQ(roots[i], from_zero.square) << i;
    ASSERT_EQ(directions[i], once(-from_zero.weight + once(kDirectionSpec.weight_decay * static_cast<float>(c_[i]))))
        << i;
  }
  EXPECT_EQ(weight.doubles(), c_) << "only read";
}

TEST_P(ElementwiseTest, AdamDirectionEqualsDoubleLoops) {
  const Array squares = absolute(c_);
  const DeviceArray gradient(*backend_, a_), mean(*backend_, b_), square(*backend_, squares), weight(*backend_, c_);
  elementwise().adam_direction(kDirectionSpec, {gradient, mean, square, weight, kCount});
  Array directions(a_.size()), bounds(a_.size());
  for (std::size_t i = 0; i < a_.size(); ++i) {
    const double beta1 = kDirectionSpec.beta1, beta2 = kDirectionSpec.beta2, g = kDirectionSpec.gradient_factor * a_[i];
    const double m = beta1 * b_[i] + kDirectionSpec.one_minus_beta1 * g;
    const double v = beta2 * squares[i] + kDirectionSpec.one_minus_beta2 * g * g;
    const double root = std::sqrt(v) / kDirectionSpec.root_correction + kDirectionSpec.epsilon;
    const double decay = kDirectionSpec.weight_decay * c_[i];
    directions[i] = kDirectionSpec.step_size * m / root + decay;
    // The roundings of Adam's update, then a product and a sum.
    const double terms = beta1 * std::abs(b_[i]) + kDirectionSpec.one_minus_beta1 * std::abs(g);
    bounds[i] = 18 * kRounding * kDirectionSpec.step_size * terms / root + 2 * kRounding * std::abs(decay);
  }
  expect_close("direction", gradient, directions, bounds);
}

TEST_P(ElementwiseTest, DescendSubtractsARoundedProductAndRoundsACopy) {
  constexpr float kRate = 0.37f;
  for (const DataType type : types()) {
    SCOPED_TRACE(to_string(type));
    const DeviceArray direction(*backend_, a_), weight(*backend_, b_), copy(*backend_, kCount, type);
    elementwise().descend(kRate, type, {direction, weight, copy, kCount});
    const std::vector<float> weights = weight.values();
    for (std::size_t i = 0; i < a_.size(); ++i)
      ASSERT_EQ(weights[i], once(static_cast<float>(b_[i]) - once(kRate * static_cast<float>(a_[i])))) << i;
    EXPECT_EQ(copy.doubles(), rounded(type, weight.doubles()));
    const DeviceArray alone(*backend_, b_);
    elementwise().descend(kRate, type, {direction, alone, nullptr, kCount});
    EXPECT_EQ(bits(alone), bits(weight));
  }
}

TEST_P(ElementwiseTest, DirectionsAndDescentOfSlicesEqualThoseOfTheWholeBitForBit) {
  const Array squares = absolute(c_);
  const DeviceArray gradient(*backend_, a_), mean(*backend_, b_), square(*backend_, squares), weight(*backend_, c_);
  const DeviceArray sliced_gradient(*backend_, a_), sliced_mean(*backend_, b_), sliced_square(*backend_, squares),
      sliced_weight(*backend_, c_);
  const DeviceArray copy(*backend_, kCount, DataType::kBfloat16), sliced_copy(*backend_, kCount, DataType::kBfloat16);
  elementwise().adam_direction(kDirectionSpec, {gradient, mean, square, weight, kCount});
  elementwise().descend(0.37f, DataType::kBfloat16, {gradient, weight, copy, kCount});
  for (const auto& [i, length] : slices()) {
    elementwise().adam_direction(kDirectionSpec,
                                 {sliced_gradient + i, sliced_mean + i, sliced_square + i, sliced_weight + i, length});
    elementwise().descend(0.37f, DataType::kBfloat16,
                          {sliced_gradient + i, sliced_weight + i, at(sliced_copy, i), length});
  }
  EXPECT_EQ(bits(gradient), bits(sliced_gradient));
  EXPECT_EQ(bits(mean), bits(sliced_mean));
  EXPECT_EQ(bits(square), bits(sliced_square));
  EXPECT_EQ(bits(weight), bits(sliced_weight));
  EXPECT_EQ(bits(copy), bits(sliced_copy));
}

TEST_P(ElementwiseTest, SquareSumsOfPiecesAreHalvingSumsOfTheirLeaves) {
  // Whole blocks, short blocks, single leaves and single values, in any order, as in slices.
  std::vector<ops::SumPiece> pieces;
  for (std::int64_t begin = 0; begin + ops::kSumBlock <= kCount; begin += ops::kSumBlock)
    pieces.push_back({.begin = begin, .count = ops::kSumBlock});
  for (const std::int64_t count : {1, 3, 15, 16, 17, 250, 496, 511}) pieces.push_back({.begin = 48, .count = count});
  const auto num_pieces = std::ssize(pieces), bytes = num_pieces * static_cast<std::int64_t>(sizeof(ops::SumPiece));
  const Buffer table(backend_->device(), bytes);
  backend_->device().copy_to_device(table.data(), pieces.data(), bytes);
  const HostBuffer sums(backend_->device(), num_pieces * static_cast<std::int64_t>(sizeof(double)));
  const DeviceArray values(*backend_, a_);
  elementwise().sum_squares(values, reinterpret_cast<const ops::SumPiece*>(table.data()), num_pieces,
                            reinterpret_cast<double*>(sums.data()));
  backend_->device().synchronize();
  for (std::int64_t k = 0; k < num_pieces; ++k) {
    const auto piece = pieces[index(k)];
    double got = 0, plain = 0, leaves[ops::kSumLeaves] = {};
    for (std::int64_t leaf = 0; leaf < ops::kSumLeaves; ++leaf) {
      double squares[ops::kSumLeaf] = {};
      for (std::int64_t i = 0; i < ops::kSumLeaf && leaf * ops::kSumLeaf + i < piece.count; ++i) {
        const double value = a_[index(piece.begin + leaf * ops::kSumLeaf + i)];
        squares[i] = value * value;
        plain += value * value;
      }
      leaves[leaf] = ops::halving_sum<ops::kSumLeaf>(squares);
    }
    std::memcpy(&got, sums.data() + k * static_cast<std::int64_t>(sizeof got), sizeof got);
    ASSERT_EQ(got, ops::halving_sum<ops::kSumLeaves>(leaves)) << k;
    ASSERT_NEAR(got, plain, 512 * 0x1p-53 * plain) << k;
  }
}

TEST_P(ElementwiseTest, MovingAverageRoundsAfterEveryOperationAndDoesNotSeeSlices) {
  const float keep = 0.9f, scale = 1.0f / 3;
  const DeviceArray sum(*backend_, a_), running(*backend_, b_), sliced(*backend_, b_);
  elementwise().moving_average(keep, scale, sum, running, kCount);
  for (const auto& [i, length] : slices()) elementwise().moving_average(keep, scale, sum + i, sliced + i, length);
  EXPECT_EQ(bits(running), bits(sliced));
  const std::vector<float> values = running.values();
  const float take = once(once(1 - keep) * scale);
  for (std::size_t i = 0; i < a_.size(); ++i) {
    const float kept = once(keep * static_cast<float>(b_[i])), taken = once(take * static_cast<float>(a_[i]));
    ASSERT_EQ(values[i], once(kept + taken)) << i;
  }
}

TEST_P(ElementwiseTest, AddMayWriteIntoEitherOperand) {
  for (const DataType type : types()) {
    SCOPED_TRACE(to_string(type));
    const Array a = rounded(type, a_), b = rounded(type, b_);
    const DeviceArray sum(*backend_, kCount, type), left(*backend_, a, type), right(*backend_, b, type);
    elementwise().add(type, left, right, sum, kCount);
    const Array values = sum.doubles();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const float in_float32 = static_cast<float>(a[i]) + static_cast<float>(b[i]);
      ASSERT_EQ(values[i], rounded(type, in_float32)) << i;
    }
    const DeviceArray other_left(*backend_, a, type);
    elementwise().add(type, other_left, right, right, kCount);
    EXPECT_EQ(bits(right), bits(sum));
    const DeviceArray other_right(*backend_, b, type);
    elementwise().add(type, left, other_right, left, kCount);
    EXPECT_EQ(bits(left), bits(sum));
  }
}

TEST_P(ElementwiseTest, FoldAddsUpBlocksAsATreeSplitAtPowersOfTwo) {
  constexpr std::int64_t kFoldCount = 1031;
  for (const std::size_t num_blocks : {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 40, 70, 100}) {
    SCOPED_TRACE(fmt::format("{} blocks", num_blocks));
    std::vector<Array> values;
    std::vector<std::unique_ptr<DeviceArray>> arrays;
    std::vector<const float*> blocks, shifted;
    for (std::size_t b = 0; b < num_blocks; ++b) {
      values.push_back(random_array(kFoldCount, b + 1));
      arrays.push_back(std::make_unique<DeviceArray>(*backend_, values.back()));
      blocks.push_back(*arrays.back());
      shifted.push_back(blocks.back() + 1);
    }
    const DeviceArray sum(*backend_, kFoldCount), part(*backend_, kFoldCount - 1);
    elementwise().fold(blocks, sum, kFoldCount);
    elementwise().fold(shifted, part, kFoldCount - 1);
    std::vector<float> want(index(kFoldCount));
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = tree_sum(values, i, 0, num_blocks);
    EXPECT_EQ(bits(sum), bits(want));
    EXPECT_EQ(bits(part), bits(std::vector<float>(want.begin() + 1, want.end())));
    elementwise().fold(blocks, *arrays[0], kFoldCount);
    EXPECT_EQ(bits(*arrays[0]), bits(want));
  }
}

TEST_P(ElementwiseTest, RoundToRoundsToNearestEvenWhereverASliceBegins) {
  Array values = a_;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 3 == 0) values[i] *= 0x1p-20;                                                // subnormal in fp16
    if (i % 5 == 0) values[i] = rounded(DataType::kBfloat16, values[i]) * (1 + 0x1p-8);  // some are ties
    values[i] = rounded(DataType::kFloat32, values[i]);
  }
  values[7] = 65519, values[8] = 65520, values[9] = -3e38, values[10] = -0.0, values[11] = HUGE_VAL;
  for (const DataType type : types()) {
    SCOPED_TRACE(to_string(type));
    const DeviceArray from(*backend_, values), to(*backend_, kCount, type), sliced(*backend_, kCount, type);
    elementwise().round_to(type, from, to, kCount);
    EXPECT_EQ(to.doubles(), rounded(type, values));
    for (const auto& [i, length] : slices()) elementwise().round_to(type, from + i, at(sliced, i), length);
    EXPECT_EQ(bits(to), bits(sliced));
    const DeviceArray none(*backend_, 0, type);
    elementwise().round_to(type, from, none, 0);
    EXPECT_EQ(none.values().size(), 0u);
  }
}

// The upper half of some NaNs is that of an infinity; for others, the addition of rounding overflows into the sign.
TEST_P(ElementwiseTest, RoundToKeepsNaN) {
  for (const DataType type : types()) {
    SCOPED_TRACE(to_string(type));
    const DeviceArray from(*backend_, a_), to(*backend_, kCount, type);
    for (const std::uint32_t nan : {0x7f800001u, 0x7f80ffffu, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu}) {
      for (const std::int64_t position : {std::int64_t{0}, std::int64_t{9}, kCount - 1}) {
        backend_->device().copy_to_device(from.data() + position * 4, &nan, sizeof nan);
        elementwise().round_to(type, from, to, kCount);
        EXPECT_TRUE(std::isnan(to.doubles()[index(position)])) << fmt::format("{:x} at {}", nan, position);
      }
    }
  }
}

TEST_P(ElementwiseTest, FindsInfinitiesAndNaNWhereverTheyAre) {
  const DeviceArray finite(*backend_, a_);
  EXPECT_EQ(non_finite(finite, kCount), 0);
  EXPECT_EQ(non_finite(finite, 0), 0);
  EXPECT_EQ(non_finite(finite, kCount, 1), 1) << "what was found stays found";
  for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    for (const std::int64_t position : {std::int64_t{0}, std::int64_t{1}, std::int64_t{5}, kCount / 2, kCount - 1}) {
      Array values = a_;
      values[index(position)] = bad;
      const DeviceArray array(*backend_, values);
      EXPECT_EQ(non_finite(array, kCount), 1) << bad << " at " << position;
      EXPECT_EQ(non_finite(array, position), 0) << bad << " behind the range";
      EXPECT_EQ(non_finite(array + position + 1, kCount - position - 1), 0) << bad << " before the range";
    }
  }
  Array largest = {3.4e38, -3.4e38, 1e-45, 0};
  const DeviceArray array(*backend_, largest);
  EXPECT_EQ(non_finite(array, 4), 0);
}

TEST_P(ElementwiseTest, ChecksumsAreSumsOverWordsAndTheirPlaces) {
  const DeviceArray array(*backend_, a_);
  const std::vector<float> values = array.values();
  for (const std::int64_t size_bytes :
       {std::int64_t{0}, std::int64_t{4}, std::int64_t{6}, 4 * kCount - 1, 4 * kCount}) {
    std::vector<std::uint32_t> words(index(size_bytes + 3) / 4, 0);
    std::ranges::copy(std::as_bytes(std::span(values)).first(index(size_bytes)),
                      std::as_writable_bytes(std::span(words)).begin());
    std::uint64_t want = 7;
    for (std::size_t i = 0; i < words.size(); ++i) want += mixed(i, words[i]);
    EXPECT_EQ(checksum(array, size_bytes, 7), want) << size_bytes;
  }
}

TEST_P(ElementwiseTest, ChecksumsDifferWhereOneBitDoes) {
  const DeviceArray before(*backend_, a_);
  const std::uint64_t sum = checksum(before, 4 * kCount);
  std::vector<float> values = before.values();
  for (const std::int64_t position : {std::int64_t{0}, std::int64_t{31}, kCount / 2, kCount - 1}) {
    for (const unsigned bit : {0u, 11u, 31u}) {
      std::vector<float> flipped = values;
      float& value = flipped[index(position)];
      value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ 1u << bit);
      backend_->device().copy_to_device(before.data(), flipped.data(), 4 * kCount);
      EXPECT_NE(checksum(before, 4 * kCount), sum) << "bit " << bit << " of value " << position;
    }
  }
  std::swap(values[3], values[4]);
  backend_->device().copy_to_device(before.data(), values.data(), 4 * kCount);
  EXPECT_NE(checksum(before, 4 * kCount), sum) << "two values in each other's place";
}

CONVOY_RUN_ON_ALL_BACKENDS(ElementwiseTest);

}  // namespace
}  // namespace convoy
