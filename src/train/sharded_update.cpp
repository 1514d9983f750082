/// Reduce by scattering, update the own slice, gather.
#include "train/sharded_update.h"

#include <algorithm>

#include "convoy/base/clock.h"

#include "train/gradient_tree.h"

namespace convoy {

namespace {

constexpr std::int64_t kFloatBytes = sizeof(float);

int reduce_tag(std::int64_t bucket) {
  return static_cast<int>(2 * bucket);
}
int gather_tag(std::int64_t bucket) {
  return static_cast<int>(2 * bucket + 1);
}

}  // namespace

ShardedUpdate::ShardedUpdate(const ShardedUpdateSpec& spec, Device& device, ops::ElementwiseOps& elementwise,
                             Optimizer& optimizer, float* parameters)
    : spec_(spec), elementwise_(elementwise), optimizer_(optimizer), parameters_(parameters) {
  const std::int64_t me = spec.data.rank(), replicas = spec.data.size();
  for (const Bucket& bucket : spec.layout.buckets) {
    BucketState& state = buckets_.emplace_back();
    for (std::int64_t r = 0; r < replicas; ++r) state.slices.push_back(slice_of(bucket, r, replicas));
    for (const Slice& slice : state.slices) state.counts.push_back(static_cast<int>(slice.count()));
    state.own = state.slices[me];
    state.shard_offset = shard_count_;
    state.blocks.resize(replicas);
    state.sends.resize(replicas);
    state.receives.resize(replicas);
    shard_count_ += state.own.count();
    find_runs(state);
  }
  received_ = Buffer(device, (replicas - 1) * shard_count_ * kFloatBytes);
  std::int64_t offset = 0;
  for (BucketState& state : buckets_) {
    for (std::int64_t r = 0; r < replicas; ++r) {
      if (r == me) continue;
      state.blocks[r] = received_.floats() + offset;
      offset += state.own.count();
    }
  }
  for (std::size_t slot = 0; slot < optimizer.slot_names().size(); ++slot)
    state_.emplace_back(device, shard_count_ * kFloatBytes);
  state_pointers_.resize(state_.size());
}

// Entries of the own slice, neighbours of one kind joined; padding belongs to the run before it.
void ShardedUpdate::find_runs(BucketState& state) const {
  const auto& entries = spec_.layout.entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::int64_t entry_end = i + 1 < entries.size() ? entries[i + 1].offset : spec_.layout.count;
    const Run run{.begin = std::max(entries[i].offset, state.own.begin),
                  .end = std::min(entry_end, state.own.end),
                  .statistic = entries[i].spec.is_statistic()};
    if (run.begin >= run.end) continue;
    if (!state.runs.empty() && state.runs.back().statistic == run.statistic) {
      state.runs.back().end = run.end;
    } else {
      state.runs.push_back(run);
    }
  }
}

void ShardedUpdate::start_reduce(std::int64_t bucket, float* local_sum) {
  BucketState& state = buckets_[bucket];
  const mpi::Communicator& data = spec_.data;
  state.local_sum = local_sum;
  state.reduced = local_sum + state.own.begin;
  ++num_in_flight_;
  if (data.size() == 1) return;
  if (spec_.reduction == ReductionKind::kFast) {
    // Among the replicas of this stage.
    state.reduced = state.blocks[data.rank() == 0 ? 1 : 0];
    state.receives[0] =
        data.start_reduce_scatter(local_sum + spec_.layout.buckets[bucket].begin, state.reduced, state.counts);
    return;
  }
  for (int r = 0; r < data.size(); ++r) {
    if (r == data.rank()) continue;
    state.receives[r] = data.start_receive(state.blocks[r], state.own.count() * kFloatBytes, r, reduce_tag(bucket));
  }
  for (int r = 0; r < data.size(); ++r) {
    if (r == data.rank()) continue;
    state.sends[r] = data.start_send(local_sum + state.slices[r].begin, state.slices[r].count() * kFloatBytes, r,
                                     reduce_tag(bucket));
  }
}

void ShardedUpdate::update(std::int64_t bucket) {
  BucketState& state = buckets_[bucket];
  const mpi::Communicator& data = spec_.data;
  wait_for(state.receives);
  if (data.size() > 1 && spec_.reduction == ReductionKind::kInvariant) {
    state.blocks[data.rank()] = state.reduced;
    fold_blocks(elementwise_, state.blocks, state.own.count());
    state.reduced = state.blocks[0];
  }
  update_slice(state);
  wait_for(state.sends);  // left before the receivers could fold: no wait in practice
  for (int r = 0; r < data.size(); ++r) {
    if (r == data.rank()) continue;
    const Slice& slice = state.slices[r];
    state.receives[r] =
        data.start_receive(parameters_ + slice.begin, slice.count() * kFloatBytes, r, gather_tag(bucket));
    state.sends[r] =
        data.start_send(parameters_ + state.own.begin, state.own.count() * kFloatBytes, r, gather_tag(bucket));
  }
}

void ShardedUpdate::update_slice(const BucketState& state) {
  const float statistics_scale = 1.0f / static_cast<float>(spec_.micro_batches_a_step);
  for (const Run& run : state.runs) {
    const float* gradient = state.reduced + (run.begin - state.own.begin);
    const std::int64_t count = run.end - run.begin;
    if (run.statistic) {
      elementwise_.moving_average(spec_.statistics_keep, statistics_scale, gradient, parameters_ + run.begin, count);
      continue;
    }
    const std::int64_t in_shard = state.shard_offset + run.begin - state.own.begin;
    for (std::size_t slot = 0; slot < state_.size(); ++slot) state_pointers_[slot] = state_[slot].floats() + in_shard;
    optimizer_.update(
        {.gradient = gradient, .weight = parameters_ + run.begin, .state = state_pointers_, .count = count});
  }
}

void ShardedUpdate::finish_gather(std::int64_t bucket) {
  wait_for(buckets_[bucket].receives);
  wait_for(buckets_[bucket].sends);
  --num_in_flight_;
}

void ShardedUpdate::wait_for(std::vector<mpi::Request>& requests) {
  const auto all_done = [&] { return std::all_of(requests.begin(), requests.end(), [](auto& r) { return r.test(); }); };
  if (all_done()) return;
  const ScopedTimer timer(wait_seconds_);
  mpi::wait_until(all_done);
}

bool ShardedUpdate::poke() {
  if (num_in_flight_ == 0 || spec_.data.size() == 1) return false;
  for (BucketState& state : buckets_)
    for (auto* requests : {&state.receives, &state.sends})
      for (mpi::Request& request : *requests)
        if (request.active()) {
          request.test();  // one test moves all of this rank's messages
          return true;
        }
  return false;
}

std::vector<float*> ShardedUpdate::slots() const {
  std::vector<float*> pointers;
  for (const Buffer& buffer : state_) pointers.push_back(buffer.floats());
  return pointers;
}

}  // namespace convoy
