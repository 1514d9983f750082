/// The patterns of messages, with values that differ by rank, message and index.
#include "parallel/transport_patterns.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/data_type.h"
#include "convoy/schedule/bound_program.h"

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

namespace {

/// A bucket of differences_in_exchange. In phase k a rank adds what comes from k ranks before it to what it has, and
/// the next phase sends that: each value goes through all ranks.
struct PhasesOfSums {
  std::vector<Buffer> sums, received;  ///< by phase
  std::unique_ptr<Message> exchange;
};

}  // namespace

std::int64_t differences_in_exchange(Rig& rig, std::int64_t num_steps) {
  constexpr std::int64_t kBuckets = 3;
  const int me = world().rank(), ranks = world().size();
  const auto count_of = [](std::int64_t bucket) { return 900 + 500 * bucket; };
  std::vector<PhasesOfSums> buckets(kBuckets);
  for (std::int64_t b = 0; b < kBuckets; ++b) {
    PhasesOfSums& bucket = buckets[b];
    const std::int64_t count = count_of(b), bytes = count * kFloatBytes;
    std::vector<ExchangePhase> phases(ranks);
    for (int k = 0; k <= ranks; ++k) bucket.sums.emplace_back(rig.device(), bytes);
    for (int k = 0; k < ranks; ++k) {
      bucket.received.emplace_back(rig.device(), bytes);
      const auto spec = [&](const Buffer& buffer, int peer, std::int64_t size_bytes) {
        return MessageSpec{.group = world(),
                           .data = buffer.data(),
                           .size_bytes = size_bytes,
                           .peer = peer,
                           .tag = static_cast<int>(b)};
      };
      phases[k].receives = {spec(bucket.received[k], previous(), bytes), spec(bucket.received[k], next(), 0)};
      phases[k].sends = {spec(bucket.sums[k], next(), bytes), spec(bucket.sums[k], previous(), 0)};
      float *sum = bucket.sums[k + 1].floats(), *own = bucket.sums[k].floats(), *other = bucket.received[k].floats();
      phases[k].then = [&rig, sum, own, other, count] {
        rig.issue([=] { fill(sum, count, [=](auto i) { return own[i] + 2 * other[i]; }); });
      };
    }
    bucket.exchange = rig.transport().exchange(std::move(phases));
  }
  rig.transport().connect();

  const auto value = [](int rank, std::int64_t step, std::int64_t i) {
    return static_cast<float>((rank + 1) * (i % 100) + step);  // whole numbers: exact
  };
  const auto expected = [&](std::int64_t step, std::int64_t i) {
    std::vector<float> sums(ranks);
    for (int r = 0; r < ranks; ++r) sums[r] = value(r, step, i);
    for (int k = 0; k < ranks; ++k) {
      const std::vector<float> before = sums;
      for (int r = 0; r < ranks; ++r) sums[r] += 2 * before[(r + ranks - 1) % ranks];
    }
    return sums[me];
  };
  std::int64_t differences = 0;
  for (std::int64_t step = 0; step < num_steps; ++step) {
    const auto start = [&](std::int64_t b) {
      rig.issue(
          [&, step, b] { fill(buckets[b].sums[0].floats(), count_of(b), [&](auto i) { return value(me, step, i); }); });
      buckets[b].exchange->start();
    };
    start(0);
    for (std::int64_t b = 0; b < kBuckets; ++b) {
      if (b + 1 < kBuckets) start(b + 1);
      rig.wait_for(*buckets[b].exchange);
      rig.issue([&, step, b] {
        differences +=
            count_differences(buckets[b].sums.back().floats(), count_of(b), [&](auto i) { return expected(step, i); });
      });
    }
  }
  rig.finish();
  return differences;
}

std::int64_t differences_in_reduce_scatter(Rig& rig, std::int64_t num_steps) {
  constexpr std::int64_t kBuckets = 2;
  const int me = world().rank(), ranks = world().size();
  const auto count_of = [](std::int64_t bucket) { return 900 + 500 * bucket; };
  std::vector<Buffer> gradients, parts;
  Messages reductions;
  for (std::int64_t b = 0; b < kBuckets; ++b) {
    gradients.emplace_back(rig.device(), ranks * count_of(b) * kFloatBytes);
    parts.emplace_back(rig.device(), count_of(b) * kFloatBytes);
    reductions.push_back(rig.transport().reduce_scatter(
        {.group = world(), .data = gradients[b].floats(), .part = parts[b].floats(), .part_count = count_of(b)}));
  }
  rig.transport().connect();
  const auto value = [](int rank, std::int64_t step, std::int64_t i) {
    return static_cast<float>((rank + 1) * (i % 1000 + step));  // whole numbers: exact in any order
  };
  std::int64_t differences = 0;
  for (std::int64_t step = 0; step < num_steps; ++step) {
    for (std::int64_t b = 0; b < kBuckets; ++b) {
      rig.issue([&, step, b] {
        fill(gradients[b].floats(), ranks * count_of(b), [&](auto i) { return value(me, step + b, i); });
      });
      reductions[b]->start();
    }
    for (std::int64_t b = kBuckets - 1; b >= 0; --b) {
      rig.wait_for(*reductions[b]);
      rig.issue([&, step, b] {
        differences += count_differences(parts[b].floats(), count_of(b), [&](auto i) {
          float sum = 0;
          for (int r = 0; r < ranks; ++r) sum += value(r, step + b, me * count_of(b) + i);
          return sum;
        });
      });
    }
  }
  rig.finish();
  return differences;
}

}  // namespace convoy::test
