/// The binary counter of partial sums, and the fold across replicas.
#include "train/gradient_tree.h"

#include <bit>
#include <cassert>

namespace convoy {

namespace {

std::int64_t trailing_ones(std::int64_t i) {
  return std::countr_one(static_cast<std::uint64_t>(i));
}

// Sums blocks [begin, end) into blocks[begin]: left and right half, split at the largest power of two below the count.
void fold_range(ops::ElementwiseOps& elementwise, const std::vector<float*>& blocks, std::int64_t begin,
                std::int64_t end, std::int64_t count) {
  const auto n = static_cast<std::uint64_t>(end - begin);
  if (n < 2) return;
  const std::int64_t middle = begin + static_cast<std::int64_t>(std::bit_floor(n - 1));
  fold_range(elementwise, blocks, begin, middle, count);
  fold_range(elementwise, blocks, middle, end, count);
  elementwise.add(blocks[begin], blocks[middle], blocks[begin], count);
}

}  // namespace

std::int64_t GradientTree::num_levels(std::int64_t num_leaves) {
  return std::bit_width(static_cast<std::uint64_t>(num_leaves));
}

GradientTree::GradientTree(Device& device, ops::ElementwiseOps& elementwise, std::int64_t arena_count,
                           std::int64_t num_leaves)
    : elementwise_(elementwise), num_leaves_(num_leaves) {
  for (std::int64_t level = 0; level < num_levels(num_leaves); ++level)
    levels_.emplace_back(device, arena_count * static_cast<std::int64_t>(sizeof(float)));
}

float* GradientTree::leaf(std::int64_t i) {
  assert(i >= 0 && i < num_leaves_);
  return levels_[trailing_ones(i)].floats();
}

void GradientTree::merge(std::int64_t i, std::int64_t begin, std::int64_t end) {
  float* sum = leaf(i) + begin;
  for (std::int64_t level = 0; level < trailing_ones(i); ++level)
    elementwise_.add(levels_[level].floats() + begin, sum, sum, end - begin);
}

float* GradientTree::finish(std::int64_t begin, std::int64_t end) {
  // What the counter holds after n leaves are the set bits of n, larger sums to the left.
  float* right = nullptr;
  for (std::int64_t level = 0; level < std::ssize(levels_); ++level) {
    if ((num_leaves_ >> level & 1) == 0) continue;
    float* sum = levels_[level].floats();
    if (right != nullptr) elementwise_.add(sum + begin, right + begin, sum + begin, end - begin);
    right = sum;
  }
  return right;
}

void fold_blocks(ops::ElementwiseOps& elementwise, const std::vector<float*>& blocks, std::int64_t count) {
  fold_range(elementwise, blocks, 0, std::ssize(blocks), count);
}

}  // namespace convoy
