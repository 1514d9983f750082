/// Costs of instructions from the costs of chunks.
#include "convoy/schedule/costs.h"

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy {

namespace {

/// Returns the part of a chunk's backward that belongs to each bucket. The parts sum to 1.
std::vector<double> shares_of(const std::vector<BucketCost>& costs, std::int64_t num) {
  if (!costs.empty() && num > 0 && std::ssize(costs) != num)
    fail("A chunk of {} buckets was given the costs of {}.", num, costs.size());
  std::vector<double> shares(num, 1.0 / static_cast<double>(num));
  double sum = 0;
  for (const BucketCost& cost : costs) sum += cost.share;
  for (std::int64_t b = 0; b < std::min(num, std::ssize(costs)); ++b) shares[b] = costs[b].share / sum;
  return shares;
}

double seconds_of(const Instruction& i, const ChunkCost& cost, const std::vector<double>& shares) {
  const double share = is_backward(i.op) && i.bucket != kAllBuckets ? shares[i.bucket] : 1;
  switch (i.op) {
    case Op::kLoad:
      return cost.load_seconds;
    case Op::kForward:
      return cost.forward_seconds;
    case Op::kLoss:
      return cost.loss_seconds;
    case Op::kBackward:
      return cost.joint_backward_seconds() * share;
    case Op::kBackwardInput:
      return cost.backward_input_seconds * share;
    case Op::kBackwardWeight:
      return cost.backward_weight_seconds * share;
    case Op::kFoldBucket:
      return cost.buckets.empty() ? 0 : cost.buckets[i.bucket].fold_seconds;
    case Op::kUpdateBucket:
      return cost.buckets.empty() ? 0 : cost.buckets[i.bucket].update_seconds;
    default:
      return 0;
  }
}

}  // namespace

WorkSeconds work_seconds(const StageProgram& program, const std::vector<ChunkCost>& chunks) {
  std::vector<std::int64_t> num_buckets(chunks.size(), 0);
  for (const Instruction& i : program) num_buckets.at(i.chunk) = std::max(num_buckets[i.chunk], i.bucket + 1);
  std::vector<std::vector<double>> shares;
  for (std::size_t c = 0; c < chunks.size(); ++c) shares.push_back(shares_of(chunks[c].buckets, num_buckets[c]));
  WorkSeconds work;
  work.reserve(program.size());
  for (const Instruction& i : program) work.push_back(seconds_of(i, chunks[i.chunk], shares[i.chunk]));
  return work;
}

}  // namespace convoy
