/// The gradient tree adds in one order, wherever the leaves are computed.
#include "update/gradient_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "convoy/base/random.h"
#include "convoy/ops/backend.h"

namespace convoy {

namespace {

constexpr std::int64_t kTreeFloats = 48;

// Leaves of very different sizes: another order of additions gives other bits.
std::vector<float> leaf_values(std::int64_t leaf) {
  std::vector<float> values(kTreeFloats);
  for (std::int64_t i = 0; i < kTreeFloats; ++i)
    values[i] = static_cast<float>(random_normal({.seed = 5, .item = static_cast<std::uint64_t>(leaf)}, i) *
                                   std::exp2(static_cast<double>((leaf * 7 + i) % 20)));
  return values;
}

// The definition: split at the largest power of two below n.
std::vector<float> tree_sum(std::int64_t begin, std::int64_t end) {
  if (end - begin == 1) return leaf_values(begin);
  const auto left_size = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(end - begin - 1)));
  std::vector<float> left = tree_sum(begin, begin + left_size);
  const std::vector<float> right = tree_sum(begin + left_size, end);
  for (std::int64_t i = 0; i < kTreeFloats; ++i) left[i] += right[i];
  return left;
}

std::vector<float> sum_by_counter(ops::Backend& backend, std::int64_t first, std::int64_t leaves) {
  GradientTree tree(backend.device(), backend.elementwise(), kTreeFloats, leaves);
  for (std::int64_t i = 0; i < leaves; ++i) {
    const std::vector<float> values = leaf_values(first + i);
    std::copy(values.begin(), values.end(), tree.leaf(i));
    tree.merge(i, 16, kTreeFloats);  // in pieces, as buckets do
    tree.merge(i, 0, 16);
  }
  tree.finish(16, kTreeFloats);
  tree.finish(0, 16);
  return {tree.sum(), tree.sum() + kTreeFloats};
}

}  // namespace

TEST(GradientTree, CounterEqualsTheDefinitionForAnyNumberOfLeaves) {
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  for (std::int64_t leaves = 1; leaves <= 33; ++leaves)
    EXPECT_EQ(sum_by_counter(*backend, 0, leaves), tree_sum(0, leaves)) << leaves;
}

TEST(GradientTree, BlocksOfPowersOfTwoFoldToTheSameBits) {
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  for (const std::int64_t block : {1, 2, 4, 8}) {
    for (std::int64_t replicas = 1; replicas <= 9; ++replicas) {
      std::vector<std::vector<float>> sums;
      for (std::int64_t r = 0; r < replicas; ++r) sums.push_back(sum_by_counter(*backend, r * block, block));
      std::vector<const float*> blocks;
      for (auto& sum : sums) blocks.push_back(sum.data());
      backend->elementwise().fold(blocks, sums[0].data(), kTreeFloats);
      EXPECT_EQ(sums[0], tree_sum(0, replicas * block)) << replicas << " replicas of " << block;
    }
  }
}

TEST(GradientTree, TheOrderMatters) {
  // Otherwise the two tests above could not fail.
  std::vector<float> in_a_row = leaf_values(0);
  for (std::int64_t leaf = 1; leaf < 8; ++leaf) {
    const std::vector<float> values = leaf_values(leaf);
    for (std::int64_t i = 0; i < kTreeFloats; ++i) in_a_row[i] += values[i];
  }
  EXPECT_NE(in_a_row, tree_sum(0, 8));
}

TEST(GradientTree, NeedsOneLevelABinaryDigit) {
  EXPECT_EQ(GradientTree::num_levels(1), 1);
  EXPECT_EQ(GradientTree::num_levels(2), 2);
  EXPECT_EQ(GradientTree::num_levels(7), 3);
  EXPECT_EQ(GradientTree::num_levels(8), 4);
}

}  // namespace convoy
