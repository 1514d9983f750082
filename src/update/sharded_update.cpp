/// Reduce-scatter of gradients, update of the own slice, all-gather of parameters.
#include "update/sharded_update.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "convoy/base/clock.h"

namespace convoy {

namespace {

constexpr std::int64_t kGradients = 0, kWeights = 1;  // kinds of norms; directions take the place of gradients

}  // namespace

// All replicas of the stage call it.
ShardedUpdate::ShardedUpdate(const ShardedUpdateSpec& spec, const UpdateTools& tools)
    : spec_(spec), tools_(tools), exchange_(spec.exchange, tools.device, tools.elementwise, tools.transport) {
  const Shard shard = shard_of(spec.exchange.layout, spec.exchange.data.rank(), spec.exchange.data.size());
  shard_count_ = shard.count;
  for (std::size_t b = 0; b < shard.slices.size(); ++b) {
    BucketState& state = buckets_.emplace_back();
    state.own = shard.slices[b];
    state.gradient = exchange_.reduced(static_cast<std::int64_t>(b));
    state.shard_offset = shard.offsets[b];
    find_runs(state);
  }
  for (std::size_t i = 0; i < tools.optimizer.state_names().size(); ++i)
    state_.emplace_back(tools.device, shard_count_ * kFloatBytes);
  state_pointers_.resize(state_.size());
  if (spec.ema_decay > 0) ema_ = Buffer(tools.device, shard_count_ * kFloatBytes);
  const bool has_weight_norms = spec.tensor_norms != TensorNorms::kNone;
  if (has_weight_norms || spec.clip)
    norms_.emplace(spec.exchange.layout, spec.exchange.data, has_weight_norms ? 2 : 1, tools.device, tools.elementwise);
  if (!spec.clip) return;
  const std::vector<int>& counts = spec.clip->tensors_of_stages;
  stage_sums_.offsets.resize(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), stage_sums_.offsets.begin(), 0);
  stage_sums_.all.resize(static_cast<std::size_t>(stage_sums_.offsets.back()) +
                         static_cast<std::size_t>(counts.back()));
}

void ShardedUpdate::begin_step(const UpdateStep& step) {
  step_ = step;
  tools_.optimizer.begin_step(step);
}

ShardedUpdate::UpdateKind ShardedUpdate::update_kind(const ParameterSpec& spec) {
  if (spec.frozen) return UpdateKind::kNone;
  return spec.is_statistic() ? UpdateKind::kMovingAverage : UpdateKind::kOptimizer;
}

// Entries of the own slice, neighbours of one kind joined; padding belongs to the run before it.
void ShardedUpdate::find_runs(BucketState& state) const {
  const auto& entries = spec_.exchange.layout.entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::int64_t entry_end = i + 1 < entries.size() ? entries[i + 1].offset : spec_.exchange.layout.count;
    const Run run{.begin = std::max(entries[i].offset, state.own.begin),
                  .end = std::min(entry_end, state.own.end),
                  .kind = update_kind(entries[i].spec),
                  .role = spec_.tells_roles ? entries[i].spec.role : ParameterRole::kWeight,
                  .rate_factor = entries[i].spec.rate_factor,
                  .keep = static_cast<float>(1 - entries[i].spec.momentum),
                  .entry = static_cast<std::int64_t>(i)};
    if (run.begin >= run.end) continue;
    if (!state.runs.empty() && state.runs.back().continues_with(run, spec_.tensor_norms != TensorNorms::kNone)) {
      state.runs.back().end = run.end;
    } else {
      state.runs.push_back(run);
    }
  }
}

void ShardedUpdate::fold(std::int64_t bucket) {
  exchange_.await_reduce(bucket);
  exchange_.fold(bucket);
  if (!norms_) return;
  if (needs_gradient_norms()) norms_->start(bucket, kGradients, buckets_[bucket].gradient);
  if (spec_.tensor_norms != TensorNorms::kNone)
    norms_->start(bucket, kWeights, spec_.parameters.masters + buckets_[bucket].own.begin);
}

void ShardedUpdate::find_non_finite(std::int64_t bucket, std::int32_t* found) {
  const BucketState& state = buckets_[bucket];
  tools_.elementwise.find_non_finite(state.gradient, state.own.count(), found);
}

void ShardedUpdate::agree_on_norms() {
  if (needs_gradient_norms()) exchange_norms();
  if (spec_.clip) clip();
  if (spec_.tensor_norms != TensorNorms::kOfDirections) return;
  find_directions();
  exchange_norms();
}

void ShardedUpdate::exchange_norms() {
  const ScopedTimer timer(wait_seconds_);
  norms_->exchange(tools_.transport);
}

void ShardedUpdate::clip() {
  const ScopedTimer timer(wait_seconds_);
  const double norm = std::sqrt(total_gradient_square_sum()) * step_.gradient_factor;
  UpdateStep clipped = step_;
  clipped.gradient_factor *= std::min(1.0, spec_.clip->norm / (norm + 1e-6));
  tools_.optimizer.begin_step(clipped);
}

// Finds the directions of this replica's slices, and waits for the device's work.
void ShardedUpdate::find_directions() {
  for (std::int64_t b = 0; b < std::ssize(buckets_); ++b) {
    const BucketState& state = buckets_[b];
    for (const Run& run : state.runs)
      if (run.kind == UpdateKind::kOptimizer) tools_.optimizer.find_directions(arguments_of(state, run));
    norms_->start(b, kGradients, state.gradient);
  }
  if (!tools_.device.idle()) wait_until(tools_.transport, [&] { return tools_.device.idle(); });
  tools_.device.synchronize();
}

// Adds up the sums of the tensors of all stages, in the order of the network.
double ShardedUpdate::total_gradient_square_sum() {
  const std::vector<int>& counts = spec_.clip->tensors_of_stages;
  mpi::Request request = spec_.clip->model->start_all_gather(norms_->of_all(kGradients).data(), stage_sums_.all.data(),
                                                             counts, stage_sums_.offsets);
  wait_until(tools_.transport, [&] { return request.test(); });
  double sum = 0;
  for (const std::int64_t tensor : spec_.clip->in_order) sum += stage_sums_.all[tensor];
  return sum;
}

void ShardedUpdate::update(std::int64_t bucket) {
  const BucketState& state = buckets_[bucket];
  const float statistics_scale = 1.0f / static_cast<float>(spec_.micro_batches_per_step);
  for (const Run& run : state.runs) {
    if (run.kind == UpdateKind::kNone) continue;
    const UpdateArguments args = arguments_of(state, run);
    if (run.kind == UpdateKind::kMovingAverage) {
      tools_.elementwise.moving_average(run.keep, statistics_scale, args.gradient, args.weight, args.count);
    } else {
      tools_.optimizer.update(args);
    }
  }
  exchange_.start_gather(bucket);
  if (spec_.ema_decay > 0) average(state);
}

// The arguments are valid until the next call.
UpdateArguments ShardedUpdate::arguments_of(const BucketState& state, const Run& run) {
  const std::int64_t in_slice = run.begin - state.own.begin;
  for (std::size_t i = 0; i < state_.size(); ++i)
    state_pointers_[i] = state_[i].floats() + state.shard_offset + in_slice;
  const bool has_norms = spec_.tensor_norms != TensorNorms::kNone;
  return {.gradient = state.gradient + in_slice,
          .weight = spec_.parameters.masters + run.begin,
          .weight_copy = spec_.parameters.copy_at(run.begin),
          .state = state_pointers_,
          .role = run.role,
          .rate_factor = run.rate_factor,
          .gradient_square_sum = has_norms ? norms_->of(run.entry, kGradients) : 0,
          .weight_square_sum = has_norms ? norms_->of(run.entry, kWeights) : 0,
          .count = run.end - run.begin};
}

// Frozen parameters do not change, to the bit.
void ShardedUpdate::average(const BucketState& state) const {
  for (const Run& run : state.runs)
    if (run.kind != UpdateKind::kNone)
      tools_.elementwise.moving_average(static_cast<float>(spec_.ema_decay), 1.0f, spec_.parameters.masters + run.begin,
                                        ema_.floats() + state.shard_offset + run.begin - state.own.begin,
                                        run.end - run.begin);
}

void ShardedUpdate::finish_gather(std::int64_t bucket) {
  exchange_.await_gather(bucket);
  if (spec_.parameters.copies == nullptr) return;
  const Bucket& whole = spec_.exchange.layout.buckets[bucket];
  const Slice& own = buckets_[bucket].own;
  for (const Slice& slice : {Slice{whole.begin, own.begin}, Slice{own.end, whole.end}})
    tools_.elementwise.round_to(spec_.parameters.type, spec_.parameters.masters + slice.begin,
                                spec_.parameters.copy_at(slice.begin), slice.count());
}

void ShardedUpdate::start_ema() {
  if (spec_.ema_decay == 0) return;
  for (const BucketState& state : buckets_)
    copy(spec_.parameters.masters + state.own.begin, ema_.floats() + state.shard_offset, state.own.count());
}

// Swaps through the local sum, which is not in use between steps; but it must keep zeros for frozen parameters.
void ShardedUpdate::swap_ema() {
  for (std::int64_t b = 0; b < std::ssize(buckets_); ++b) {
    const BucketState& state = buckets_[b];
    for (const Run& run : state.runs) {
      if (run.kind == UpdateKind::kNone) continue;  // its average is the value
      const std::int64_t count = run.end - run.begin;
      float* trained = spec_.parameters.masters + run.begin;
      float* average = ema_.floats() + state.shard_offset + run.begin - state.own.begin;
      float* spare = spec_.exchange.local_sum + run.begin;
      copy(trained, spare, count);
      copy(average, trained, count);
      copy(spare, average, count);
    }
    exchange_.start_gather(b);
  }
  for (std::int64_t b = 0; b < std::ssize(buckets_); ++b) exchange_.await_gather(b);
}

void ShardedUpdate::copy(const float* from, float* to, std::int64_t count) const {
  tools_.elementwise.round_to(DataType::kFloat32, from, to, count);
}

std::vector<float*> ShardedUpdate::states() const {
  std::vector<float*> pointers;
  for (const Buffer& buffer : state_) pointers.push_back(buffer.floats());
  return pointers;
}

}  // namespace convoy
