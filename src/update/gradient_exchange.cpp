/// Creates the messages of each bucket once; a step starts them.
#include "update/gradient_exchange.h"

#include <utility>

#include "convoy/base/clock.h"
#include "convoy/comm/tags.h"

namespace convoy {

GradientExchange::GradientExchange(const GradientExchangeSpec& spec, Device& device, ops::ElementwiseOps& elementwise,
                                   Transport& transport)
    : spec_(spec),
      elementwise_(elementwise),
      transport_(transport),
      owners_(spec.data.split(0, static_cast<int>(slice_number(spec.data.rank(), spec.data.size())))),
      phases_(tree_phases(spec.data.rank(), spec.data.size(), spec.neighbours)) {
  const std::int64_t num_buckets = std::ssize(spec.layout.buckets);
  for (const Bucket& bucket : spec.layout.buckets)
    buckets_.push_back({.own = slice_of(bucket, spec.data.rank(), spec.data.size())});
  std::int64_t num_received = 0;
  for (std::int64_t b = 0; b < num_buckets; ++b) num_received += received_count(b);
  received_ = Buffer(device, num_received * kFloatBytes);
  float* received = received_.floats();
  for (std::int64_t b = 0; b < num_buckets; ++b) {
    create_reduce(b, received);
    create_gather(b);
    received += received_count(b);
  }
}

Slice GradientExchange::slices(std::int64_t bucket, const SliceRun& run) const {
  const Bucket& whole = spec_.layout.buckets[bucket];
  return {.begin = slice_at(whole, run.first, spec_.data.size()).begin,
          .end = slice_at(whole, run.first + run.count - 1, spec_.data.size()).end};
}

std::int64_t GradientExchange::received_count(std::int64_t bucket) const {
  const std::int64_t replicas = spec_.data.size();
  if (spec_.reduction == ReductionKind::kFast && replicas > 1)
    return slice_at(spec_.layout.buckets[bucket], 0, replicas).count();
  std::int64_t count = 0;
  for (const TreePhase& phase : phases_)
    count += (std::ssize(phase.members) - 1) * slices(bucket, phase.members[phase.me].keeps).count();
  return count;
}

MessageSpec GradientExchange::message_with(const ExchangeMember& other, float* data, const Slice& range,
                                           int tag) const {
  return {.group = owners_,
          .data = data,
          .size_bytes = range.count() * kFloatBytes,
          .peer = static_cast<int>(slice_number(other.replica, spec_.data.size())),
          .tag = tag};
}

// Among the replicas of this stage. `received` has room for received_count().
void GradientExchange::create_reduce(std::int64_t bucket, float* received) {
  BucketState& state = buckets_[bucket];
  state.reduced = spec_.local_sum + state.own.begin;
  if (phases_.empty()) return;
  if (spec_.reduction == ReductionKind::kFast) return create_fast_reduce(bucket, received);
  const Bucket& whole = spec_.layout.buckets[bucket];
  Values held{.data = spec_.local_sum + whole.begin, .range = {.begin = whole.begin, .end = whole.end}};
  std::vector<ExchangePhase> phases;
  for (const TreePhase& phase : phases_) {
    phases.push_back(create_phase(bucket, phase, held, received));
    held = {.data = state.blocks.front(), .range = slices(bucket, phase.members[phase.me].keeps)};
    received += (std::ssize(phase.members) - 1) * held.range.count();
  }
  phases.back().then = {};  // by fold()
  state.reduced = held.data;
  state.reduce = transport_.exchange(std::move(phases));
}

// The sums of `held` that the others keep go to them; theirs of what this replica keeps come, and are added to its own.
ExchangePhase GradientExchange::create_phase(std::int64_t bucket, const TreePhase& phase, const Values& held,
                                             float* received) {
  const Slice mine = slices(bucket, phase.members[phase.me].keeps);
  ExchangePhase created;
  std::vector<float*>& blocks = buckets_[bucket].blocks;
  blocks.clear();
  for (std::int64_t i = 0; i < std::ssize(phase.members); ++i) {
    if (i == phase.me) {
      blocks.push_back(held.at(mine));
      continue;
    }
    const ExchangeMember& other = phase.members[i];
    const Slice theirs = slices(bucket, other.keeps);
    blocks.push_back(received);
    created.receives.push_back(message_with(other, received, mine, tags::reduce(bucket)));
    created.sends.push_back(message_with(other, held.at(theirs), theirs, tags::reduce(bucket)));
    received += mine.count();
  }
  created.then = [this, blocks, mine] { elementwise_.fold(blocks, blocks.front(), mine.count()); };
  return created;
}

void GradientExchange::create_fast_reduce(std::int64_t bucket, float* received) {
  BucketState& state = buckets_[bucket];
  const Bucket& whole = spec_.layout.buckets[bucket];
  state.reduced = received;
  state.reduce = transport_.reduce_scatter({.group = owners_,
                                            .data = spec_.local_sum + whole.begin,
                                            .part = received,
                                            .part_count = slice_at(whole, 0, owners_.size()).count()});
}

void GradientExchange::create_gather(std::int64_t bucket) {
  if (phases_.empty()) return;
  std::vector<ExchangePhase> phases;
  const std::vector<TreePhase> last_first(phases_.rbegin(), phases_.rend());
  for (const TreePhase& phase : last_first) {
    ExchangePhase& created = phases.emplace_back();
    const Slice mine = slices(bucket, phase.members[phase.me].keeps);
    for (std::int64_t i = 0; i < std::ssize(phase.members); ++i) {
      if (i == phase.me) continue;
      const ExchangeMember& other = phase.members[i];
      const Slice theirs = slices(bucket, other.keeps);
      created.receives.push_back(message_with(other, spec_.parameters + theirs.begin, theirs, tags::gather(bucket)));
      created.sends.push_back(message_with(other, spec_.parameters + mine.begin, mine, tags::gather(bucket)));
    }
  }
  buckets_[bucket].gather = transport_.exchange(std::move(phases));
}

void GradientExchange::start_reduce(std::int64_t bucket) {
  if (Message* reduce = buckets_[bucket].reduce.get(); reduce != nullptr) reduce->start();
}

void GradientExchange::fold(std::int64_t bucket) {
  const BucketState& state = buckets_[bucket];
  if (state.blocks.size() > 1) elementwise_.fold(state.blocks, state.reduced, state.own.count());
}

void GradientExchange::start_gather(std::int64_t bucket) {
  if (Message* gather = buckets_[bucket].gather.get(); gather != nullptr) gather->start();
}

void GradientExchange::wait_for(Message* message) {
  if (message == nullptr) return;
  const auto is_done = [&] {
    transport_.progress();
    return message->test();
  };
  if (is_done()) return;
  const ScopedTimer timer(wait_seconds_);
  mpi::wait_until(is_done);
}

}  // namespace convoy
