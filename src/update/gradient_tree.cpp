/// The binary counter of partial sums.
#include "update/gradient_tree.h"

#include <bit>
#include <cassert>

namespace convoy {

namespace {

std::int64_t trailing_ones(std::int64_t i) {
  return std::countr_one(static_cast<std::uint64_t>(i));
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
    elementwise_.add(DataType::kFloat32, levels_[level].floats() + begin, sum, sum, end - begin);
}

void GradientTree::finish(std::int64_t begin, std::int64_t end) {
  // What the counter holds after n leaves are the set bits of n, larger sums to the left; the highest bit is the last
  // level.
  float* right = nullptr;
  for (std::int64_t level = 0; level < std::ssize(levels_); ++level) {
    if ((num_leaves_ >> level & 1) == 0) continue;
    float* left = levels_[level].floats();
    if (right != nullptr) elementwise_.add(DataType::kFloat32, left + begin, right + begin, left + begin, end - begin);
    right = left;
  }
}

}  // namespace convoy
