/// The patterns of messages, with values that differ by rank, message and index.
#include "parallel/transport_patterns.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/data_type.h"

#include "parallel/mpi_main.h"

namespace convoy::test {

namespace {

constexpr std::int64_t kFrameCount = 1500;  // floats of a message of the pipeline

// Whole numbers below 2^23, exact in float32; they differ by sender, message and index.
float value_of(int sender, std::int64_t message, std::int64_t i) {
  return static_cast<float>(1'000'000 * (sender + 1) + 7'919 * (message % 100) + i % 7'919);
}

std::int64_t count_differences(const float* values, std::int64_t count, const std::function<float(std::int64_t)>& is) {
  std::int64_t differences = 0;
  for (std::int64_t i = 0; i < count; ++i) differences += values[i] != is(i) ? 1 : 0;
  return differences;
}

void fill(float* values, std::int64_t count, const std::function<float(std::int64_t)>& with) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = with(i);
}

// Of the unequal parts, the last rank's is empty.
std::vector<std::int64_t> counts_of(std::int64_t bucket, Parts sizes) {
  std::vector<std::int64_t> counts(world().size(), 900 + 500 * bucket);
  if (sizes == Parts::kUnequal && world().size() > 1) counts.back() = 0;
  return counts;
}

std::int64_t offset_of(const std::vector<std::int64_t>& counts, int rank) {
  return std::accumulate(counts.begin(), counts.begin() + rank, std::int64_t{0});
}

}  // namespace

const ProcessGrid& one_pipeline() {
  static const ProcessGrid kGrid(world(), world().size());
  return kGrid;
}

int next() {
  return (world().rank() + 1) % world().size();
}

int previous() {
  return (world().rank() + world().size() - 1) % world().size();
}

void Rig::wait_for(Message& message) {
  mpi::wait_until([&] {
    transport().progress();
    if (message.test()) return true;
    on_progress();
    return false;
  });
}

void Rig::wait_for(const Messages& messages) {
  for (const auto& message : messages) wait_for(*message);
}

void Rig::finish() {
  device().synchronize();
  EXPECT_FALSE(transport().progress()) << "a message is still under way";
}

std::int64_t differences_in_ring(Rig& rig, const RingSpec& spec) {
  const std::int64_t size_bytes = spec.count * kFloatBytes;
  std::vector<Buffer> outputs, inputs;
  Messages sends, receives;
  for (std::int64_t f = 0; f < spec.num_frames; ++f) {
    outputs.emplace_back(rig.device(), size_bytes);
    inputs.emplace_back(rig.device(), size_bytes);
    sends.push_back(rig.transport().send({.group = one_pipeline().model(),
                                          .data = outputs.back().data(),
                                          .size_bytes = size_bytes,
                                          .peer = next(),
                                          .tag = 3}));
    receives.push_back(rig.transport().receive({.group = one_pipeline().model(),
                                                .data = inputs.back().data(),
                                                .size_bytes = size_bytes,
                                                .peer = previous(),
                                                .tag = 3}));
  }
  rig.transport().connect();
  std::int64_t differences = 0;
  for (auto& receive : receives) receive->start();
  const auto take = [&](std::int64_t m) {
    const std::int64_t f = m % spec.num_frames;
    rig.wait_for(*receives[f]);
    rig.issue([&, f, m] {
      differences +=
          count_differences(inputs[f].floats(), spec.count, [m](auto i) { return value_of(previous(), m, i); });
    });
    if (m + spec.num_frames < spec.num_messages) receives[f]->start();
  };
  for (std::int64_t m = 0; m < spec.num_messages; ++m) {
    const std::int64_t f = m % spec.num_frames;
    rig.wait_for(*sends[f]);
    rig.issue(
        [&, f, m] { fill(outputs[f].floats(), spec.count, [m](auto i) { return value_of(world().rank(), m, i); }); });
    sends[f]->start();
    if (m + 1 >= spec.num_frames) take(m + 1 - spec.num_frames);
  }
  for (std::int64_t m = spec.num_messages + 1 - spec.num_frames; m < spec.num_messages; ++m) take(m);
  rig.wait_for(sends);
  rig.finish();
  return differences;
}

std::int64_t differences_in_pipeline(Rig& rig, std::int64_t num_micro_batches) {
  const int stage = world().rank(), last = world().size() - 1;
  constexpr std::int64_t kBytes = kFrameCount * kFloatBytes;
  constexpr int kActivation = 0, kGradient = 1;
  constexpr std::int64_t kGradientBuffers = 2;
  std::vector<Buffer> x, y, dx, dy;
  Messages send_y, receive_x, send_dx, receive_dy;
  const auto plan = [&](std::vector<Buffer>& buffers, Messages& messages, bool is_send, int peer, int tag) {
    const MessageSpec spec{.group = one_pipeline().model(),
                           .data = buffers.emplace_back(rig.device(), kBytes).data(),
                           .size_bytes = kBytes,
                           .peer = peer,
                           .tag = tag};
    if (peer < 0 || peer > last) return;
    messages.push_back(is_send ? rig.transport().send(spec) : rig.transport().receive(spec));
  };
  for (std::int64_t m = 0; m < num_micro_batches; ++m) {
    plan(x, receive_x, false, stage - 1, kActivation);
    plan(y, send_y, true, stage + 1, kActivation);
  }
  for (std::int64_t b = 0; b < kGradientBuffers; ++b) {
    plan(dy, receive_dy, false, stage + 1, kGradient);
    plan(dx, send_dx, true, stage - 1, kGradient);
  }
  rig.transport().connect();

  std::int64_t differences = 0;
  for (auto& receive : receive_x) receive->start();
  for (std::int64_t b = 0; stage < last && b < std::min(kGradientBuffers, num_micro_batches); ++b)
    receive_dy[b]->start();
  for (std::int64_t m = 0; m < num_micro_batches; ++m) {
    if (stage > 0) {
      rig.wait_for(*receive_x[m]);
    } else {
      rig.issue([&, m] { fill(x[m].floats(), kFrameCount, [m](auto i) { return static_cast<float>(m + i % 100); }); });
    }
    rig.issue([&, m] {
      fill(y[m].floats(), kFrameCount, [&](auto i) { return 2 * x[m].floats()[i] + static_cast<float>(stage); });
    });
    if (stage < last) send_y[m]->start();
  }
  for (std::int64_t m = 0; m < num_micro_batches; ++m) {
    const std::int64_t b = m % kGradientBuffers;
    if (stage < last) rig.wait_for(*receive_dy[b]);
    if (stage > 0) rig.wait_for(*send_dx[b]);
    const float* from = stage < last ? dy[b].floats() : y[m].floats();
    rig.issue(
        [&, m, b, from] { fill(dx[b].floats(), kFrameCount, [&](auto i) { return 3 * from[i] + x[m].floats()[i]; }); });
    if (stage < last && m + kGradientBuffers < num_micro_batches) receive_dy[b]->start();
    if (stage > 0) {
      send_dx[b]->start();
      continue;
    }
    rig.issue([&, m, b] {
      differences += count_differences(dx[b].floats(), kFrameCount, [&](std::int64_t i) {
        std::vector<float> inputs = {static_cast<float>(m + i % 100)};
        for (int s = 0; s <= last; ++s) inputs.push_back(2 * inputs.back() + static_cast<float>(s));
        float gradient = inputs.back();
        for (int s = last; s >= 0; --s) gradient = 3 * gradient + inputs[s];
        return gradient;
      });
    });
  }
  rig.wait_for(send_y);
  rig.wait_for(send_dx);
  rig.finish();
  return differences;
}

std::int64_t differences_in_exchange(Rig& rig, std::int64_t num_steps) {
  constexpr std::int64_t kBuckets = 3;
  const int me = world().rank(), ranks = world().size();
  struct Bucket {
    std::vector<std::int64_t> counts;
    Buffer gradients, received, sums;
    Messages reduce, gather;
  };
  std::vector<Bucket> buckets(kBuckets);
  for (std::int64_t b = 0; b < kBuckets; ++b) {
    Bucket& bucket = buckets[b];
    bucket.counts = counts_of(b, Parts::kUnequal);
    const std::int64_t total = offset_of(bucket.counts, ranks), own = bucket.counts[me];
    bucket.gradients = Buffer(rig.device(), total * kFloatBytes);
    bucket.received = Buffer(rig.device(), ranks * own * kFloatBytes);
    bucket.sums = Buffer(rig.device(), total * kFloatBytes);
    const auto spec = [&](float* data, std::int64_t count, int peer, std::int64_t tag) {
      return MessageSpec{.group = world(),
                         .data = data,
                         .size_bytes = count * kFloatBytes,
                         .peer = peer,
                         .tag = static_cast<int>(tag)};
    };
    const auto plan_pair = [&](Messages& messages, const MessageSpec& receive, const MessageSpec& send) {
      messages.push_back(rig.transport().receive(receive));
      messages.push_back(rig.transport().send(send));
    };
    for (int r = 0; r < ranks; ++r) {
      if (r == me) continue;
      float* theirs = bucket.gradients.floats() + offset_of(bucket.counts, r);
      plan_pair(bucket.reduce, spec(bucket.received.floats() + r * own, own, r, 2 * b),
                spec(theirs, bucket.counts[r], r, 2 * b));
      float* sums = bucket.sums.floats();
      plan_pair(bucket.gather, spec(sums + offset_of(bucket.counts, r), bucket.counts[r], r, 2 * b + 1),
                spec(sums + offset_of(bucket.counts, me), own, r, 2 * b + 1));
    }
  }
  rig.transport().connect();

  const auto value = [](int rank, std::int64_t step, std::int64_t i) {
    return static_cast<float>((rank + 1) * (i % 1000) + step);
  };
  std::int64_t differences = 0;
  for (std::int64_t step = 0; step < num_steps; ++step) {
    const auto start_reduce = [&](Bucket& bucket) {
      const std::int64_t total = offset_of(bucket.counts, ranks);
      rig.issue(
          [&, step, total, me] { fill(bucket.gradients.floats(), total, [&](auto i) { return value(me, step, i); }); });
      rig.transport().start_together(bucket.reduce);
    };
    start_reduce(buckets[0]);
    for (std::int64_t b = 0; b < kBuckets; ++b) {
      if (b + 1 < kBuckets) start_reduce(buckets[b + 1]);
      Bucket& bucket = buckets[b];
      rig.wait_for(bucket.reduce);
      rig.issue([&bucket, me, ranks] {
        const std::int64_t offset = offset_of(bucket.counts, me), own = bucket.counts[me];
        fill(bucket.sums.floats() + offset, own, [&](auto i) {
          float sum = bucket.gradients.floats()[offset + i];
          for (int r = 0; r < ranks; ++r)
            if (r != me) sum += bucket.received.floats()[r * own + i];
          return sum;
        });
      });
      rig.transport().start_together(bucket.gather);
    }
    for (Bucket& bucket : buckets) {
      rig.wait_for(bucket.gather);
      rig.issue([&, step] {
        differences += count_differences(bucket.sums.floats(), offset_of(bucket.counts, ranks), [&](auto i) {
          float sum = 0;
          for (int r = 0; r < ranks; ++r) sum += value(r, step, i);
          return sum;
        });
      });
    }
  }
  rig.finish();
  return differences;
}

std::int64_t differences_in_reduce_scatter(Rig& rig, Parts sizes, std::int64_t num_steps) {
  constexpr std::int64_t kBuckets = 2;
  const int me = world().rank(), ranks = world().size();
  std::vector<Buffer> gradients, parts;
  Messages reductions;
  for (std::int64_t b = 0; b < kBuckets; ++b) {
    const auto counts = counts_of(b, sizes);
    gradients.emplace_back(rig.device(), offset_of(counts, ranks) * kFloatBytes);
    parts.emplace_back(rig.device(), counts[me] * kFloatBytes);
    reductions.push_back(rig.transport().reduce_scatter(
        {.group = world(), .data = gradients[b].floats(), .part = parts[b].floats(), .counts = counts}));
  }
  rig.transport().connect();
  const auto value = [](int rank, std::int64_t step, std::int64_t i) {
    return static_cast<float>((rank + 1) * (i % 1000 + step));  // whole numbers: exact in any order
  };
  std::int64_t differences = 0;
  for (std::int64_t step = 0; step < num_steps; ++step) {
    for (std::int64_t b = 0; b < kBuckets; ++b) {
      rig.issue([&, step, b] {
        fill(gradients[b].floats(), offset_of(counts_of(b, sizes), ranks),
             [&](auto i) { return value(me, step + b, i); });
      });
      reductions[b]->start();
    }
    for (std::int64_t b = kBuckets - 1; b >= 0; --b) {
      rig.wait_for(*reductions[b]);
      rig.issue([&, step, b] {
        const auto counts = counts_of(b, sizes);
        differences += count_differences(parts[b].floats(), counts[me], [&](auto i) {
          float sum = 0;
          for (int r = 0; r < ranks; ++r) sum += value(r, step + b, offset_of(counts, me) + i);
          return sum;
        });
      });
    }
  }
  rig.finish();
  return differences;
}

}  // namespace convoy::test
