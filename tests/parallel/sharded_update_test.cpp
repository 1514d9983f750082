/// The sharded update equals one rank's update of everything, bit for bit, for any number of replicas.
#include "train/sharded_update.h"

#include <bit>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/random.h"
#include "convoy/ops/library.h"

#include "parallel/mpi_main.h"
#include "train/gradient_tree.h"

namespace convoy::test {

namespace {

// Buckets of one cell each; the head's 10 biases and the narrow first layers leave slices of some replicas empty. Some
// parameters are frozen: whole cells, and some among others of a cell, statistics too.
struct Small {
  Network network = make_network({.name = "resnet20",
                                  .image = {8, 8, 1},
                                  .micro_batch = 1,
                                  .num_classes = 10,
                                  .freeze = {"bn1.*", "layer1.*", "layer3.1.conv2.weight", "fc.bias"}});
  ArenaLayout layout = make_arena_layout(network, {0, std::ssize(network)}, 1);
};

float value_of(int what, std::int64_t i) {
  return static_cast<float>(
      random_normal({.seed = 11, .item = static_cast<std::uint64_t>(what)}, static_cast<std::uint64_t>(i)));
}

std::vector<float> values_of(int what, std::int64_t count) {
  std::vector<float> values(count);
  for (std::int64_t i = 0; i < count; ++i) values[i] = value_of(what, i);
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
      const float* gradient = sums[0].data() + entry.offset;
      std::vector<float*> state = {momentum.data() + entry.offset};
      if (entry.spec.is_statistic()) {
        elementwise_.moving_average(0.9f, 1.0f / static_cast<float>(sums.size()), gradient, parameters_ + entry.offset,
                                    entry.spec.count());
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

std::vector<float> update_on_all_ranks(ReductionKind reduction, int steps) {
  const Small small;
  const auto library = ops::make_library({.device = DeviceKind::kCpu, .threads = 1});
  const auto optimizer =
      make_optimizer({.momentum = 0.9, .weight_decay = 1e-4}, DataType::kFloat32, library->elementwise());
  optimizer->begin_step(0.1, 1);
  std::vector<float> parameters = values_of(1000, small.layout.count), sum(small.layout.count);
  const auto transport = make_host_transport();
  ShardedUpdate update({.layout = small.layout,
                        .data = world(),
                        .reduction = reduction,
                        .micro_batches_a_step = world().size(),
                        .local_sum = sum.data(),
                        .parameters = {.masters = parameters.data()}},
                       {library->device(), library->elementwise(), *transport, *optimizer});
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
  const auto library = ops::make_library({.device = DeviceKind::kCpu, .threads = 1});
  const auto optimizer =
      make_optimizer({.momentum = 0.9, .weight_decay = 1e-4}, DataType::kFloat32, library->elementwise());
  optimizer->begin_step(0.1, 1);
  std::vector<float> parameters = values_of(1000, small.layout.count), momentum(small.layout.count, 0.0f);
  OneRank one(small, library->elementwise(), *optimizer, parameters.data());
  for (int step = 0; step < steps; ++step) {
    std::vector<std::vector<float>> sums;
    for (int r = 0; r < world().size(); ++r) sums.push_back(values_of(100 * step + r, small.layout.count));
    one.update(std::move(sums), momentum);
  }
  return parameters;
}

// Padding between entries is nobody's.
template <typename Compare>
void for_each_value(const std::vector<float>& a, const std::vector<float>& b, Compare&& compare) {
  for (const ArenaEntry& entry : Small().layout.entries)
    for (std::int64_t i = entry.offset; i < entry.offset + entry.spec.count(); ++i)
      compare(a[i], b[i], entry.spec.name);
}

}  // namespace

TEST(ShardedUpdate, InvariantReductionHasTheBitsOfOneRank) {
  const auto sharded = update_on_all_ranks(ReductionKind::kInvariant, 3), whole = update_on_one_rank(3);
  for_each_value(sharded, whole, [](float a, float b, const std::string& name) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b)) << name;
  });
}

TEST(ShardedUpdate, FastReductionEqualsItWithinRounding) {
  const auto fast = update_on_all_ranks(ReductionKind::kFast, 3), whole = update_on_one_rank(3);
  // Sums of at most 8 values near 1, three steps of 0.1 with momentum: a few units in the last place of 10.
  for_each_value(fast, whole, [](float a, float b, const std::string& name) { ASSERT_NEAR(a, b, 1e-5) << name; });
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

}  // namespace convoy::test
