/// Sums over whole tensors have the same bits on any number of replicas, and clipping is torch's.
#include "update/square_sums.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/random.h"
#include "convoy/ops/backend.h"

#include "parallel/mpi_main.h"

namespace convoy::test {

namespace {

// Tensors up to 36,864 values, most of them cut by slices; buckets of one cell and of several.
struct SmallNetwork {
  explicit SmallNetwork(std::int64_t bucket_floats)
      : layout(make_arena_layout(network, {{0, std::ssize(network)}}, bucket_floats)) {}

  Network network =
      make_network({.name = "resnet20", .input = ImageShape{8, 8, 1}, .micro_batch = 1, .num_classes = 10});
  ArenaLayout layout;
};

// Returns values of very different sizes, so that another order of summation would give other bits.
std::vector<float> values_of(const ArenaLayout& layout, std::uint64_t what) {
  std::vector<float> values(layout.count);
  for (std::size_t e = 0; e < layout.entries.size(); ++e) {
    const ArenaEntry& entry = layout.entries[e];
    const RandomKey key{.seed = 5, .item = 1000 * what + e};
    for (std::int64_t i = 0; i < entry.spec.count(); ++i) {
      const auto i_in_key = static_cast<std::uint64_t>(i);
      values[entry.offset + i] = static_cast<float>(std::exp(3 * random_normal(key, i_in_key)));
    }
  }
  return values;
}

// The definition, on the whole tensor.
double sum_of(const float* values, std::int64_t count) {
  double sum = 0;
  for (std::int64_t block = 0; block < count; block += ops::kSumBlock) {
    double leaves[ops::kSumLeaves] = {};
    for (std::int64_t leaf = 0; leaf < ops::kSumLeaves; ++leaf) {
      double squares[ops::kSumLeaf] = {};
      for (std::int64_t i = 0; i < ops::kSumLeaf; ++i) {
        const std::int64_t at = block + leaf * ops::kSumLeaf + i;
        if (at < count) squares[i] = static_cast<double>(values[at]) * static_cast<double>(values[at]);
      }
      leaves[leaf] = ops::halving_sum<ops::kSumLeaf>(squares);
    }
    sum += ops::halving_sum<ops::kSumLeaves>(leaves);
  }
  return sum;
}

}  // namespace

TEST(SquareSums, AreThoseOfTheWholeTensorBitForBitWhereverSlicesCutIt) {
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  for (const std::int64_t bucket_floats : {1, 5'000, 1'000'000}) {
    const SmallNetwork small(bucket_floats);
    const ArenaLayout& layout = small.layout;
    SquareSums sums(layout, world(), 2, backend->device(), backend->elementwise());
    const std::vector<std::vector<float>> kinds = {values_of(layout, 1), values_of(layout, 2)};
    for (int round = 0; round < 2; ++round) {
      for (std::int64_t kind = 0; kind < 2; ++kind) {
        for (std::int64_t b = 0; b < std::ssize(layout.buckets); ++b) {
          const Slice own = slice_of(layout.buckets[b], world().rank(), world().size());
          std::vector<float> mine(kinds[kind].begin() + own.begin, kinds[kind].begin() + own.end);
          sums.start(b, kind, mine.data());  // and nothing but its slice
        }
      }
      sums.exchange(*make_host_transport());
      for (std::int64_t kind = 0; kind < 2; ++kind) {
        for (std::int64_t e = 0; e < std::ssize(layout.entries); ++e) {
          const ArenaEntry& entry = layout.entries[e];
          const double want =
              entry.spec.is_statistic() ? 0 : sum_of(kinds[kind].data() + entry.offset, entry.spec.count());
          ASSERT_EQ(sums.of(e, kind), want) << entry.spec.name;
          ASSERT_EQ(sums.of_all(kind)[e], want);
        }
      }
    }
  }
}

}  // namespace convoy::test
