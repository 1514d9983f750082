/// The sharded update equals one rank's update of everything, bit for bit, for any number of replicas.
#include "update/sharded_update.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/random.h"
#include "convoy/ops/backend.h"

#include "parallel/mpi_main.h"
#include "update/gradient_tree.h"

namespace convoy::test {

namespace {

// Buckets of one cell each; the head's 10 biases and the narrow first layers leave slices of some replicas empty. Some
// parameters are frozen: whole cells, and some among others of a cell, statistics too. Neighbouring statistics have
// different momenta.
struct Small {
  Small() {
    for (ArenaEntry& entry : layout.entries)
      if (entry.spec.name.ends_with("2.running_var")) entry.spec.momentum = 0.25;
  }

  Network network = make_network({.name = "resnet20",
                                  .input = ImageShape{8, 8, 1},
                                  .micro_batch = 1,
                                  .num_classes = 10,
                                  .freeze = {"bn1.*", "layer1.*", "layer3.1.conv2.weight", "fc.bias"}});
  ArenaLayout layout = make_arena_layout(network, {{0, std::ssize(network)}}, 1);
};

// The factor of the old value of a running statistic.
float keep_of(const ParameterSpec& spec) {
  return spec.name.ends_with("2.running_var") ? 0.75f : 0.9f;
}

float value_of(int what, std::int64_t i) {
  return static_cast<float>(
      random_normal({.seed = 11, .item = static_cast<std::uint64_t>(what)}, static_cast<std::uint64_t>(i)));
}

// Drawn once: many ranks on few cores draw for long.
const std::vector<float>& values_of(int what, std::int64_t count) {
  static std::map<int, std::vector<float>> drawn;
  std::vector<float>& values = drawn[what];
  for (std::int64_t i = std::ssize(values); i < count; ++i) values.push_back(value_of(what, i));
  return values;
}

// Two steps on the sums of `first`, `first` + 1, ... in tree order, without any exchange.
class OneRank {
 public:
  OneRank(const Small& small, ops::ElementwiseOps& elementwise, Optimizer& optimizer, float* parameters)
      : small_(small), elementwise_(elementwise), optimizer_(optimizer), parameters_(parameters) {}

  void update(std::vector<std::vector<float>> sums, std::vector<float>& momentum) {
    std::vector<const float*> blocks;
    for (auto& sum : sums) blocks.push_back(sum.data());
    elementwise_.fold(blocks, sums[0].data(), small_.layout.count);
    for (const ArenaEntry& entry : small_.layout.entries) {
      if (entry.spec.frozen) continue;
      float* gradient = sums[0].data() + entry.offset;
      std::vector<float*> state = {momentum.data() + entry.offset};
      if (entry.spec.is_statistic()) {
        elementwise_.moving_average(keep_of(entry.spec), 1.0f / static_cast<float>(sums.size()), gradient,
                                    parameters_ + entry.offset, entry.spec.count());
      } else {
        optimizer_.update(
            {.gradient = gradient, .weight = parameters_ + entry.offset, .state = state, .count = entry.spec.count()});
      }
    }
  }

 private:
  const Small& small_;
  ops::ElementwiseOps& elementwise_;
  Optimizer& optimizer_;
  float* parameters_;
};

std::vector<float> update_on_all_ranks(ReductionKind reduction, int steps, std::int64_t neighbours = kMaxNeighbours) {
  const Small small;
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  const auto optimizer =
      make_optimizer({.momentum = 0.9, .weight_decay = 1e-4}, DataType::kFloat32, backend->elementwise());
  optimizer->begin_step({.learning_rate = 0.1});
  std::vector<float> parameters = values_of(1000, small.layout.count);
  std::vector<float> sum(small.layout.count + slack_of_slices(world().size()));
  const auto transport = make_host_transport();
  ShardedUpdate update({.exchange = {.layout = small.layout,
                                     .data = world(),
                                     .reduction = reduction,
                                     .neighbours = neighbours,
                                     .local_sum = sum.data(),
                                     .parameters = parameters.data()},
                        .micro_batches_per_step = world().size(),
                        .parameters = {.masters = parameters.data()}},
                       {backend->device(), backend->elementwise(), *transport, *optimizer});
  transport->connect();
  for (int step = 0; step < steps; ++step) {
    const std::vector<float> mine = values_of(100 * step + world().rank(), small.layout.count);
    std::copy(mine.begin(), mine.end(), sum.begin());  // where the update expects it
    for (std::int64_t b = std::ssize(small.layout.buckets) - 1; b >= 0; --b) update.start_reduce(b);
    for (std::int64_t b = std::ssize(small.layout.buckets) - 1; b >= 0; --b) {
      update.fold(b);
      update.update(b);
    }
    for (std::int64_t b = 0; b < std::ssize(small.layout.buckets); ++b) update.finish_gather(b);
  }
  return parameters;
}

std::vector<float> update_on_one_rank(int steps) {
  const Small small;
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  const auto optimizer =
      make_optimizer({.momentum = 0.9, .weight_decay = 1e-4}, DataType::kFloat32, backend->elementwise());
  optimizer->begin_step({.learning_rate = 0.1});
  std::vector<float> parameters = values_of(1000, small.layout.count), momentum(small.layout.count, 0.0f);
  OneRank one(small, backend->elementwise(), *optimizer, parameters.data());
  for (int step = 0; step < steps; ++step) {
    std::vector<std::vector<float>> sums;
    for (int r = 0; r < world().size(); ++r) sums.push_back(values_of(100 * step + r, small.layout.count));
    one.update(std::move(sums), momentum);
  }
  return parameters;
}

struct Case {
  OptimizerParams optimizer;
  double clip_norm = 0;
  double ema_decay = 0;
  std::int64_t neighbours = kMaxNeighbours;
};

struct Result {
  std::vector<float> parameters, average;
};

// Two steps of the replicas of `data`, each with the sums that `sum_of(step)` gives; afterwards the moving average.
template <typename SumOf>
Result two_steps(const Case& c, const mpi::Communicator& data, SumOf&& sum_of) {
  const Small small;
  const ArenaLayout& layout = small.layout;
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  const auto optimizer = make_optimizer(c.optimizer, DataType::kFloat32, backend->elementwise());
  const mpi::Communicator alone = world().split(world().rank(), 0);
  std::optional<ClipSpec> clip;
  if (c.clip_norm > 0) {
    clip = {.norm = c.clip_norm,
            .model = &alone,
            .tensors_of_stages = {static_cast<int>(layout.entries.size())},
            .in_order = std::vector<std::int64_t>(layout.entries.size())};
    std::iota(clip->in_order.begin(), clip->in_order.end(), 0);
  }
  std::vector<float> parameters = values_of(1000, layout.count), sum(layout.count);
  const auto transport = make_host_transport();
  ShardedUpdate update({.exchange = {.layout = layout,
                                     .data = data,
                                     .neighbours = c.neighbours,
                                     .local_sum = sum.data(),
                                     .parameters = parameters.data()},
                        .micro_batches_per_step = world().size(),
                        .parameters = {.masters = parameters.data()},
                        .tells_roles = true,
                        .tensor_norms = tensor_norms(c.optimizer.kind),
                        .clip = clip,
                        .ema_decay = c.ema_decay},
                       {backend->device(), backend->elementwise(), *transport, *optimizer});
  transport->connect();
  update.start_ema();
  const std::int64_t num_buckets = std::ssize(layout.buckets);
  for (int step = 0; step < 2; ++step) {
    const std::vector<float> values = sum_of(step);
    std::copy(values.begin(), values.end(), sum.begin());
    update.begin_step({.learning_rate = 0.1, .number = step + 1});
    for (std::int64_t b = 0; b < num_buckets; ++b) update.start_reduce(b);
    for (std::int64_t b = 0; b < num_buckets; ++b) update.fold(b);
    if (update.needs_norms()) update.agree_on_norms();
    for (std::int64_t b = 0; b < num_buckets; ++b) update.update(b);
    for (std::int64_t b = 0; b < num_buckets; ++b) update.finish_gather(b);
  }
  Result result{.parameters = parameters, .average = {}};
  if (c.ema_decay == 0) return result;
  update.swap_ema();
  result.average = parameters;
  update.swap_ema();
  EXPECT_EQ(parameters, result.parameters) << "swapped twice";
  return result;
}

// The sums of all ranks, folded.
std::vector<float> folded_sum(int step, std::int64_t count) {
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  std::vector<std::vector<float>> sums;
  std::vector<const float*> blocks;
  for (int r = 0; r < world().size(); ++r) sums.push_back(values_of(100 * step + r, count));
  for (const auto& sum : sums) blocks.push_back(sum.data());
  backend->elementwise().fold(blocks, sums[0].data(), count);
  return sums[0];
}

/// You et al. 2019, algorithm 2, at a learning rate of 0.1, on gradients clipped to c.clip_norm.
class LambInDoubles {
 public:
  LambInDoubles(const Small& small, const Case& c)
      : small_(small), case_(c), w_(size()), m_(size()), v_(size()), direction_(size()) {
    const std::vector<float> first = values_of(1000, small.layout.count);
    std::copy(first.begin(), first.end(), w_.begin());
  }

  double weight(std::int64_t i) const { return w_[i]; }
  void step(const std::vector<float>& gradient) {
    double square_sum = 0;
    for_each_trained([&](const ArenaEntry&, std::int64_t i) { square_sum += std::pow(gradient[i], 2); });
    const double factor = case_.clip_norm / std::sqrt(square_sum);
    ASSERT_LT(factor, 1) << "nothing is clipped";
    const OptimizerParams& o = case_.optimizer;
    const double mean_factor = 1 / (1 - std::pow(o.beta1, ++step_)), square_factor = 1 / (1 - std::pow(o.beta2, step_));
    std::map<std::string, std::pair<double, double>> square_sums;  // of a tensor's weights, of its direction
    for_each_trained([&](const ArenaEntry& entry, std::int64_t i) {
      const double g = factor * gradient[i];
      m_[i] = o.beta1 * m_[i] + (1 - o.beta1) * g;
      v_[i] = o.beta2 * v_[i] + (1 - o.beta2) * g * g;
      direction_[i] = mean_factor * m_[i] / (std::sqrt(square_factor * v_[i]) + o.epsilon) + o.weight_decay * w_[i];
      square_sums[entry.spec.name].first += w_[i] * w_[i];
      square_sums[entry.spec.name].second += direction_[i] * direction_[i];
    });
    for_each_trained([&](const ArenaEntry& entry, std::int64_t i) {
      const auto [of_weights, of_direction] = square_sums[entry.spec.name];
      const bool has_own_rate = entry.spec.role != ParameterRole::kNormOrBias;
      w_[i] -= 0.1 * (has_own_rate ? std::sqrt(of_weights / of_direction) : 1) * direction_[i];
    });
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(small_.layout.count); }
  template <typename Visit>
  void for_each_trained(const Visit& visit) const {
    for (const ArenaEntry& entry : small_.layout.entries)
      for (std::int64_t i = entry.offset; entry.spec.is_trained() && i < entry.offset + entry.spec.count(); ++i)
        visit(entry, i);
  }

  const Small& small_;
  const Case& case_;
  std::vector<double> w_, m_, v_, direction_;
  int step_ = 0;
};

// Calls compare(a[i], b[i], name) for each value of an entry, without the padding between entries.
template <typename Compare>
void for_each_value(const std::vector<float>& a, const std::vector<float>& b, Compare&& compare) {
  for (const ArenaEntry& entry : Small().layout.entries)
    for (std::int64_t i = entry.offset; i < entry.offset + entry.spec.count(); ++i)
      compare(a[i], b[i], entry.spec.name);
}

}  // namespace

TEST(ShardedUpdate, InvariantReductionHasTheBitsOfOneRank) {
  const auto whole = update_on_one_rank(3);
  for (const std::int64_t neighbours : {1, 2, 4, 8, 16}) {
    const auto sharded = update_on_all_ranks(ReductionKind::kInvariant, 3, neighbours);
    for_each_value(sharded, whole, [&](float a, float b, const std::string& name) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b)) << name << ", " << neighbours;
    });
  }
}

TEST(ShardedUpdate, FastReductionEqualsItWithinRounding) {
  const auto fast = update_on_all_ranks(ReductionKind::kFast, 3), whole = update_on_one_rank(3);
  // Sums of at most 16 normal values, below 20, in another order: at most 15 roundings of 2^-24 of 20, times the rate
  // of 0.1 and what momentum makes of three steps, 1 + 1.9 + 2.71: 1e-5. And three roundings of a parameter below 16,
  // 1e-6 each.
  for_each_value(fast, whole, [](float a, float b, const std::string& name) { ASSERT_NEAR(a, b, 1.3e-5) << name; });
}

TEST(ShardedUpdate, EveryReplicaEndsWithTheSameParameters) {
  const auto mine = update_on_all_ranks(ReductionKind::kInvariant, 2);
  const auto all = world().gather(std::as_bytes(std::span(mine)), 0);
  if (world().rank() != 0) return;
  const std::size_t size = mine.size() * sizeof(float);
  for (int r = 1; r < world().size(); ++r)
    EXPECT_TRUE(std::equal(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size),
                           all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(r) * size)))
        << "replica " << r;
}

TEST(ShardedUpdate, EveryOptimizerHasTheBitsOfOneRankClippedAndAveragedToo) {
  const std::int64_t count = Small().layout.count;
  const mpi::Communicator alone = world().split(world().rank(), 0);
  for (const Case& c :
       {Case{.optimizer = {.kind = OptimizerKind::kAdam}, .ema_decay = 0.9},
        Case{.optimizer = {.kind = OptimizerKind::kAdamW, .decay_norms_and_biases = false}},
        Case{.optimizer = {.kind = OptimizerKind::kLars, .weight_decay = 0.01}, .ema_decay = 0.99},
        Case{.optimizer = {.kind = OptimizerKind::kLars}, .clip_norm = 3, .neighbours = 1},
        Case{.optimizer = {.kind = OptimizerKind::kLamb, .weight_decay = 0.01}, .ema_decay = 0.99, .neighbours = 2},
        Case{.optimizer = {.kind = OptimizerKind::kLamb, .weight_decay = 0.01}, .clip_norm = 3},
        Case{.optimizer = {.kind = OptimizerKind::kSgd}, .clip_norm = 3}}) {
    const Result sharded =
        two_steps(c, world(), [&](int step) { return values_of(100 * step + world().rank(), count); });
    const Result whole = two_steps(c, alone, [&](int step) { return folded_sum(step, count); });
    const auto same = [](float a, float b, const std::string& name) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b)) << name;
    };
    for_each_value(sharded.parameters, whole.parameters, same);
    if (c.ema_decay == 0) continue;
    for_each_value(sharded.average, whole.average, same);
    EXPECT_NE(sharded.average, sharded.parameters);
  }
}

// A norm is that of the whole tensor's direction, which begins at the clipped gradient.
TEST(ShardedUpdate, LambOfClippedGradientsEqualsDoubleLoops) {
  const Small small;
  const Case c{.optimizer = {.kind = OptimizerKind::kLamb, .weight_decay = 0.01}, .clip_norm = 3};
  LambInDoubles want(small, c);
  for (int step = 0; step < 2; ++step) want.step(folded_sum(step, small.layout.count));
  const Result result =
      two_steps(c, world(), [&](int step) { return values_of(100 * step + world().rank(), small.layout.count); });
  for (const ArenaEntry& entry : small.layout.entries)
    for (std::int64_t i = entry.offset; entry.spec.is_trained() && i < entry.offset + entry.spec.count(); ++i)
      // Weights below 8; in each step about ten roundings of a direction below 2, taken at a tenth.
      ASSERT_NEAR(result.parameters[i], want.weight(i), 8 * 2 * 0x1p-24 + 2 * 0.1 * 10 * 2 * 0x1p-24)
          << entry.spec.name;
}

TEST(ShardedUpdate, ClipsByTheNormOverAllParameters) {
  const Small small;
  const auto entries = small.layout.entries;
  const std::vector<float> first = values_of(1000, small.layout.count), gradient = folded_sum(0, small.layout.count);
  double square_sum = 0;
  for (const ArenaEntry& entry : entries)
    for (std::int64_t i = entry.offset; i < entry.offset + entry.spec.count(); ++i)
      if (entry.spec.is_trained()) square_sum += static_cast<double>(gradient[i]) * gradient[i];
  const double norm = std::sqrt(square_sum);
  for (const double max : {0.5 * norm, 2 * norm}) {
    // One step counts: without momentum and with gradients of 0 the second changes nothing.
    const Case c{.optimizer = {.momentum = 0, .weight_decay = 0}, .clip_norm = max};
    const Result result = two_steps(c, world(), [&](int step) {
      return step == 0 ? values_of(world().rank(), small.layout.count) : std::vector<float>(small.layout.count, 0.0f);
    });
    const double factor = max < norm ? max / (norm + 1e-6) : 1;
    for (const ArenaEntry& entry : entries) {
      if (!entry.spec.is_trained()) continue;
      for (std::int64_t i = entry.offset; i < entry.offset + entry.spec.count(); ++i) {
        // Three roundings of numbers below 8.
        ASSERT_NEAR(result.parameters[i], first[i] - 0.1 * factor * gradient[i], 3 * 8 * 0x1p-24) << entry.spec.name;
      }
    }
  }
}

TEST(ShardedUpdate, TheMovingAverageEqualsDoubleLoopsStatisticsIncluded) {
  const Small small;
  const std::vector<float> first = values_of(1000, small.layout.count);
  const Case c{.optimizer = {.momentum = 0, .weight_decay = 0}, .ema_decay = 0.75};
  const auto nothing_at_step_1 = [&](int step) {
    return step == 0 ? values_of(world().rank(), small.layout.count) : std::vector<float>(small.layout.count, 0.0f);
  };
  const Result result = two_steps(c, world(), nothing_at_step_1);
  for (const ArenaEntry& entry : small.layout.entries) {
    for (std::int64_t i = entry.offset; i < entry.offset + entry.spec.count(); ++i) {
      // The second step leaves parameters alone and multiplies statistics by what it keeps of them.
      if (entry.spec.frozen) {
        ASSERT_EQ(result.average[i], first[i]) << entry.spec.name;
        continue;
      }
      const double second = result.parameters[i],
                   once = entry.spec.is_statistic() ? second / keep_of(entry.spec) : second;
      const double want = 0.75 * (0.75 * first[i] + 0.25 * once) + 0.25 * second;
      // About six roundings of numbers below 8.
      ASSERT_NEAR(result.average[i], want, 6 * 8 * 0x1p-24) << entry.spec.name;
    }
  }
}

}  // namespace convoy::test
