/// Pieces of slices, their exchange, and the sums that all replicas make of them.
#include "update/square_sums.h"

#include <algorithm>

namespace convoy {

using ops::kSumBlock, ops::kSumLeaf, ops::kSumLeaves, ops::SumPiece;

SquareSums::SquareSums(const ArenaLayout& layout, const mpi::Communicator& data, std::int64_t num_kinds, Device& device,
                       ops::ElementwiseOps& elementwise)
    : elementwise_(elementwise), data_(data), sums_(num_kinds, std::vector<double>(layout.entries.size())) {
  plan_blocks(layout);
  std::vector<SumPiece> mine;
  for (int r = 0; r < data.size(); ++r) {
    std::vector<SumPiece> pieces;
    first_target_.push_back(std::ssize(targets_));
    for (const Bucket& bucket : layout.buckets) {
      if (r == data.rank()) first_piece_.push_back(std::ssize(pieces));
      plan_slice(layout, slice_of(bucket, r, data.size()), pieces);
    }
    offsets_.push_back(static_cast<int>(num_kinds * first_target_.back()));
    counts_.push_back(static_cast<int>(num_kinds * std::ssize(pieces)));
    if (r == data.rank()) mine = std::move(pieces);
  }
  first_target_.push_back(std::ssize(targets_));
  first_piece_.push_back(std::ssize(mine));
  const auto bytes = static_cast<std::int64_t>(mine.size() * sizeof(SumPiece));
  pieces_ = Buffer(device, bytes);
  if (bytes > 0) device.copy_to_device(pieces_.data(), mine.data(), bytes);
  device.synchronize();
  mine_ = HostBuffer(device, num_kinds * std::ssize(mine) * static_cast<std::int64_t>(sizeof(double)));
  all_.resize(num_kinds * targets_.size());
}

void SquareSums::plan_blocks(const ArenaLayout& layout) {
  std::int64_t num_blocks = 0;
  for (const ArenaEntry& entry : layout.entries) {
    const std::int64_t blocks = !entry.spec.is_trained() ? 0 : (entry.spec.count() + kSumBlock - 1) / kSumBlock;
    blocks_of_.push_back({num_blocks, num_blocks + blocks});
    num_blocks += blocks;
  }
  block_sums_.resize(num_blocks);
}

// Whole blocks of a tensor where the slice holds them, leaves at its ends.
void SquareSums::plan_slice(const ArenaLayout& layout, const Slice& slice, std::vector<SumPiece>& pieces) {
  for (std::size_t e = 0; e < layout.entries.size(); ++e) {
    const ArenaEntry& entry = layout.entries[e];
    const std::int64_t count = entry.spec.count();
    const std::int64_t begin = std::max<std::int64_t>(0, slice.begin - entry.offset);  // in the tensor
    const std::int64_t end = std::min(count, slice.end - entry.offset);
    if (!entry.spec.is_trained() || begin >= end) continue;
    const auto add = [&](std::int64_t from, std::int64_t to, const Target& target) {
      pieces.push_back({.begin = entry.offset + from - slice.begin, .count = to - from});
      targets_.push_back(target);
    };
    for (std::int64_t b = begin / kSumBlock; b * kSumBlock < end; ++b) {
      const std::int64_t block = blocks_of_[e].begin + b;
      const std::int64_t block_begin = b * kSumBlock, block_end = std::min(block_begin + kSumBlock, count);
      if (begin <= block_begin && block_end <= end) {
        add(block_begin, block_end, {.block = block});
        continue;
      }
      for (std::int64_t from = std::max(begin, block_begin); from < std::min(end, block_end); from += kSumLeaf)
        add(from, std::min(from + kSumLeaf, block_end), leaf_of(block, (from - block_begin) / kSumLeaf));
    }
  }
}

SquareSums::Target SquareSums::leaf_of(std::int64_t block, std::int64_t leaf) {
  const auto [cut, is_new] = cut_block_of_.try_emplace(block, std::ssize(cut_blocks_));
  if (is_new) cut_blocks_.push_back({.block = block});
  return {.block = block, .leaf = leaf, .cut_block = cut->second};
}

void SquareSums::start(std::int64_t bucket, std::int64_t kind, const float* values) {
  const std::int64_t begin = first_piece_[bucket], end = first_piece_[bucket + 1];
  elementwise_.sum_squares(values, pieces_.as<SumPiece>().data() + begin, end - begin,
                           mine_.as<double>().data() + kind * first_piece_.back() + begin);
}

void SquareSums::exchange(Transport& transport) {
  mpi::Request request = data_.start_all_gather(mine_.as<double>().data(), all_.data(), counts_, offsets_);
  wait_until(transport, [&] { return request.test(); });
  for (std::int64_t kind = 0; kind < std::ssize(sums_); ++kind) add_up(kind);
}

void SquareSums::add_up(std::int64_t kind) {
  for (std::size_t r = 0; r < counts_.size(); ++r) {
    const std::int64_t first = first_target_[r], num = first_target_[r + 1] - first;
    const double* received = all_.data() + offsets_[r] + kind * num;
    for (std::int64_t k = 0; k < num; ++k) {
      const Target& target = targets_[first + k];
      if (target.leaf == kWhole) {
        block_sums_[target.block] = received[k];
      } else {
        cut_blocks_[target.cut_block].leaves[target.leaf] = received[k];
      }
    }
  }
  for (const CutBlock& cut : cut_blocks_) {
    Leaves leaves = cut.leaves;
    block_sums_[cut.block] = ops::halving_sum<kSumLeaves>(leaves.data());
  }
  for (std::size_t e = 0; e < blocks_of_.size(); ++e) {
    double sum = 0;
    for (std::int64_t b = blocks_of_[e].begin; b < blocks_of_[e].end; ++b) sum += block_sums_[b];
    sums_[kind][e] = sum;
  }
}

}  // namespace convoy
