/// A stage that recomputes, or takes its backward in two parts, has the gradients of one that does neither, bit for
/// bit.
#include "step/stage.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <string>

#include <fmt/core.h>
#include <fmt/format.h>

#include "convoy/base/random.h"

#include "unit/model/toy_network.h"
#include "unit/ops/op_test.h"

namespace convoy {
namespace {

const ProgressHook kNoProgressHook = [] {};

/// Cells of every kind: projections, bottlenecks, padded shortcuts, pyramids, both heads, and some that no paper has.
struct TestNetwork {
  std::string name;
  ImageShape image;
  std::vector<CellRange> ranges;
  std::vector<std::string> frozen;  ///< before all cells that are trained, between them, and in part
};
const std::vector<TestNetwork> kNetworks = {
    {"resnet18", {17, 15, 3}, {{0, 5}, {1, 5}}, {"layer1.1.*", "layer2.0.*", "layer2.1.conv1.*"}},
    {"resnet50", {16, 16, 3}, {{0, 5}, {2, 5}}, {"conv1.*", "bn1.*", "layer1.0.*", "layer1.2.*", "layer2.0.conv1.*"}},
    {"resnet20", {12, 12, 1}, {{0, 11}, {4, 11}}, {"conv1.*", "bn1.*", "layer1.0.*", "layer2.1.*"}},
    {"pyramidnet20-a27", {12, 12, 3}, {{0, 11}, {4, 11}}, {"layer1.0.*", "layer2.0.*"}},
    {"toy", {12, 10, 3}, {{0, 7}, {1, 7}}, {"three.*", "drops.*", "pre.conv1.*"}},
    {"gated", {12, 10, 3}, {{0, 5}, {1, 5}}, {"squeeze.*", "gates.conv1.*", "norms.norm3.*"}},
};

struct Way {
  bool recomputes = false;
  bool splits = false;
};

using Bits = std::vector<std::uint32_t>;

class StageTest : public OpTest {
 protected:
  static constexpr std::int64_t kSamples = 3, kClasses = 5, kFrames = 2;

  Network network(const TestNetwork& test, DataType type, bool frozen) const {
    if (test.name == "toy" || test.name == "gated") {
      const auto make = test.name == "toy" ? test::toy_network : test::gated_network;
      Network toy = make(test.image.batch(kSamples), kClasses, type);
      if (frozen) freeze_parameters(test.frozen, toy);
      return toy;
    }
    return make_network({.name = test.name,
                         .input = test.image,
                         .micro_batch = kSamples,
                         .num_classes = kClasses,
                         .type = type,
                         .freeze = frozen ? test.frozen : std::vector<std::string>{}});
  }

  void fill(const std::string& name, DataType type, std::int64_t count, double half_width, void* to) const {
    Array values = random_array(count, static_cast<int>(name.size()) + name.back(), 0, half_width);
    std::vector<float> floats(values.begin(), values.end());
    const Buffer buffer(backend_->device(), count * static_cast<std::int64_t>(sizeof(float)));
    backend_->device().copy_to_device(buffer.data(), floats.data(), buffer.size_bytes());
    backend_->elementwise().round_to(type, buffer.floats(), to, count);
    backend_->device().synchronize();
  }

  /// Drawn once for all stages of a test: to draw takes as long as the kernels.
  const std::vector<float>& initial_values_of(const ParameterSpec& spec) const {
    std::vector<float>& values = drawn_[fmt::format("{} {}", spec.name, fmt::join(spec.dims, " "))];
    if (values.empty()) values = initial_values(spec, {.seed = 7});
    return values;
  }

  /// Initial parameters, with batch norms and statistics that change something, each in its own way.
  void fill_parameters(Stage& stage) const {
    const ArenaLayout& layout = stage.plan().layout;
    std::vector<float> arena(static_cast<std::size_t>(layout.count), 0.0f);
    for (const ArenaEntry& entry : layout.entries) {
      std::vector<float> values = initial_values_of(entry.spec);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] *= 1 + 0.01f * static_cast<float>(i % 13);
      if (entry.spec.role == ParameterRole::kNormOrBias) {
        const std::size_t first = hash_name(entry.spec.name) % 7;
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0.05f * static_cast<float>((first + i) % 7);
      }
      to_device_order(entry.spec, values, {arena.data() + entry.offset, values.size()});
    }
    backend_->device().copy_to_device(stage.parameters().masters, arena.data(),
                                      layout.count * static_cast<std::int64_t>(sizeof(float)));
    stage.reload_weights();
  }

  /// An odd number of 16-bit values has zeros after it.
  Bits bits_of(const void* data, std::int64_t size_bytes) const {
    Bits host(static_cast<std::size_t>((size_bytes + 3) / 4));
    backend_->device().synchronize();
    backend_->device().copy_to_host(host.data(), data, size_bytes);
    return host;
  }

  /// Both micro-batches forward, an evaluation over the memory that is shared, both backward: gradients of the input
  /// and of the arena, micro-batch by micro-batch. A chunk in two pieces, as the last micro-batch's buckets are; chunk
  /// by chunk, as if they were other stages. The runs follow each other.
  std::vector<Bits> gradients(const Network& cells, const std::vector<CellRange>& runs, const Way& way) const {
    const DataType type = cells.front()->memory().type();
    const std::int64_t num_chunks = std::ssize(runs);
    Stage stage(*backend_, cells,
                plan_stage(cells, {.runs = runs,
                                   .num_frames = std::vector<std::int64_t>(runs.size(), kFrames + 1),
                                   .recomputed = std::vector<bool>(cells.size(), way.recomputes),
                                   .splits_backward = way.splits}));
    fill_parameters(stage);
    const HostBuffer draw_keys(backend_->device(), kFrames * static_cast<std::int64_t>(sizeof(ops::DrawKey)));
    for (std::int64_t m = 0; m <= kFrames; ++m) {
      fill(fmt::format("x{}", m), type, stage.first_cell().x().shape.count(), 1, stage.input({0, m}));
      for (std::int64_t c = 0; c < num_chunks; ++c) {
        if (c > 0)
          backend_->elementwise().copy(stage.output({c - 1, m}), stage.input({c, m}),
                                       cells[runs[c].begin]->x().bytes());
        if (m < kFrames && stage.plan().chunks[c].draws) {
          ops::DrawKey* key = reinterpret_cast<ops::DrawKey*>(draw_keys.data()) + m;
          key->micro_batch = static_cast<std::uint64_t>(m);
          stage.set_draw_key({c, m}, key);
        }
        stage.forward({c, m}, m < kFrames, kNoProgressHook);
      }
    }
    const std::int64_t arena_bytes = stage.plan().layout.count * static_cast<std::int64_t>(sizeof(float));
    std::vector<Buffer> dys, arenas;
    for (std::int64_t m = 0; m < kFrames; ++m) {
      dys.emplace_back(backend_->device(), stage.last_cell().dy().bytes());
      fill(fmt::format("dy{}", m), type, stage.last_cell().y().shape.count(), 0.1, dys.back().data());
      arenas.emplace_back(backend_->device(), arena_bytes);
    }
    for (std::int64_t c = num_chunks - 1; c >= 0; --c) {
      for (std::int64_t m = 0; m < kFrames; ++m) {
        Buffer dx(backend_->device(), cells[runs[c].begin]->x().bytes());
        for (const CellRange& piece : pieces_of(runs[c])) {
          const Stage::BackwardPiece args{.frame = {c, m},
                                          .cells = piece,
                                          .dy = dys[m].data(),
                                          .dx = runs[c].begin == 0 ? nullptr : dx.data(),
                                          .gradients = way.splits ? nullptr : arenas[m].floats()};
          if (way.splits) {
            stage.backward_input(args, kNoProgressHook);
          } else {
            stage.backward(args, kNoProgressHook);
          }
        }
        dys[m] = std::move(dx);
      }
    }
    std::vector<Bits> all;
    for (const Buffer& dx : dys) all.push_back(bits_of(dx.data(), dx.size_bytes()));
    for (std::int64_t m = 0; m < kFrames; ++m) {
      if (way.splits)
        for (std::int64_t c = 0; c < num_chunks; ++c)
          for (const CellRange& piece : pieces_of(runs[c]))
            stage.backward_weight({.frame = {c, m}, .cells = piece, .gradients = arenas[m].floats()}, kNoProgressHook);
      all.push_back(bits_of(arenas[m].data(), arena_bytes));
    }
    return all;
  }

  std::vector<float> floats_at(const void* data, std::int64_t count) const {
    std::vector<float> host(static_cast<std::size_t>(count));
    backend_->device().synchronize();
    backend_->device().copy_to_host(host.data(), data, count * kFloatBytes);
    return host;
  }

  static double norm(const std::vector<float>& values) {
    return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
  }

  static std::vector<CellRange> pieces_of(const CellRange& cells) {
    const std::int64_t cut = cells.end - cells.size() / 3;
    return {{cut, cells.end}, {cells.begin, cut}};
  }

  /// Which results are not the same bits, and how many values of them; empty where all are. The last kFrames are
  /// arenas, those before gradients of the input.
  static std::string differences(const std::vector<Bits>& got, const std::vector<Bits>& expected,
                                 const ArenaLayout& layout) {
    std::string text;
    const auto compare = [&](const std::string& name, std::span<const std::uint32_t> a,
                             std::span<const std::uint32_t> b) {
      std::int64_t count = 0;
      for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
      if (count > 0) text += fmt::format("{}: {} of {}\n", name, count, a.size());
    };
    const std::size_t first_arena = expected.size() - kFrames;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      if (k < first_arena) {
        compare(fmt::format("input of micro-batch {}", k), got[k], expected[k]);
        continue;
      }
      for (const ArenaEntry& entry : layout.entries) {
        const auto at = static_cast<std::size_t>(entry.offset), count = static_cast<std::size_t>(entry.spec.count());
        compare(fmt::format("{} of micro-batch {}", entry.spec.name, k - first_arena),
                std::span(got[k]).subspan(at, count), std::span(expected[k]).subspan(at, count));
      }
    }
    return text.empty() && got != expected ? "between the tensors" : text;
  }

  static bool all_zero(const Bits& bits) {
    return std::all_of(bits.begin(), bits.end(), [](std::uint32_t value) { return value == 0; });
  }

  // Along a parameter's gradient g the loss rises by |g| a step of length 1: central differences of the network's
  // numbers. The input of the second cell takes part as one more parameter.
  void expect_finite_differences(const TestNetwork& test, bool frozen) const {
    const Network cells = network(test, DataType::kFloat32, frozen);
    const CellRange range{1, test.ranges.front().end};
    Stage stage(*backend_, cells, plan_stage(cells, {.runs = {range}}));
    fill_parameters(stage);
    const ArenaLayout& layout = stage.plan().layout;
    const std::int64_t x_count = stage.first_cell().x().shape.count(), y_count = stage.last_cell().y().shape.count();
    fill("x", DataType::kFloat32, x_count, 1, stage.input({}));
    const Buffer dy(backend_->device(), y_count * kFloatBytes), dx(backend_->device(), x_count * kFloatBytes),
        gradients(backend_->device(), layout.count * kFloatBytes);
    fill("dy", DataType::kFloat32, y_count, 1, dy.data());
    const std::vector<float> weights_of_loss = floats_at(dy.data(), y_count);
    const auto loss = [&] {
      stage.forward({}, /*training=*/true, kNoProgressHook);
      const std::vector<float> y = floats_at(stage.output({}), y_count);
      return std::inner_product(y.begin(), y.end(), weights_of_loss.begin(), 0.0);
    };
    loss();
    stage.backward({.frame = {}, .cells = range, .dy = dy.data(), .dx = dx.data(), .gradients = gradients.floats()},
                   kNoProgressHook);
    const auto expect_slope = [&](const std::string& name, float* values, const float* gradient, std::int64_t count) {
      const std::vector<float> at = floats_at(values, count), g = floats_at(gradient, count);
      const double g_norm = norm(g);
      // Steps so short that few ReLUs pass their kink. The loss has errors of some 2^-20.
      const double step = 0.0002 * std::max(norm(at), 0.1 * std::sqrt(static_cast<double>(count)));
      constexpr double kLossError = 4e-6, kKinksAndCurvature = 0.05;
      const auto moved_loss = [&](double length) {
        std::vector<float> moved = at;
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += static_cast<float>(length * g[i] / g_norm);
        backend_->device().copy_to_device(values, moved.data(), count * kFloatBytes);
        stage.reload_weights();
        return loss();
      };
      if (g_norm == 0) return;
      const double slope = (moved_loss(step) - moved_loss(-step)) / (2 * step);
      moved_loss(0);
      EXPECT_NEAR(slope, g_norm, kKinksAndCurvature * g_norm + kLossError / step) << test.name << ", " << name;
    };
    expect_slope("input", static_cast<float*>(stage.input({})), dx.floats(), x_count);
    for (const ArenaEntry& entry : layout.entries)
      if (entry.spec.is_trained())
        expect_slope(entry.spec.name, stage.parameters().masters + entry.offset, gradients.floats() + entry.offset,
                     entry.spec.count());
  }

  /// Freezing changes which operations run, and not what a type does to them: networks of one type are frozen.
  std::vector<bool> with_and_without_frozen(DataType type) const {
    return type == types().back() ? std::vector<bool>{false, true} : std::vector<bool>{false};
  }

 private:
  mutable std::map<std::string, std::vector<float>> drawn_;
};

TEST_P(StageTest, RecomputingAndSplittingGiveTheGradientsOfNeither) {
  for (const TestNetwork& test : kNetworks) {
    for (const DataType type : types()) {
      for (const bool frozen : with_and_without_frozen(type)) {
        const Network cells = network(test, type, frozen);
        for (const CellRange& range : test.ranges) {
          SCOPED_TRACE(fmt::format("{} in {}, cells from {}, {}", test.name, to_string(type), range.begin,
                                   frozen ? "partly frozen" : "all trained"));
          const ArenaLayout layout = make_arena_layout(cells, {range}, 1);
          const std::vector<Bits> expected = gradients(cells, {range}, {});
          const auto difference = [&](const Way& way) {
            return differences(gradients(cells, {range}, way), expected, layout);
          };
          ASSERT_FALSE(all_zero(expected.back()));
          ASSERT_NE(expected.back(), expected[expected.size() - 2]) << "both micro-batches have the same gradients";
          EXPECT_EQ(difference({.recomputes = true}), "") << "recomputed";
          EXPECT_EQ(difference({.splits = true}), "") << "in two parts";
          EXPECT_EQ(difference({.recomputes = true, .splits = true}), "") << "both";
        }
      }
    }
  }
}

TEST_P(StageTest, GradientsAreThoseOfFiniteDifferences) {
  for (const TestNetwork& test : kNetworks) expect_finite_differences(test, /*frozen=*/false);
}

TEST_P(StageTest, GradientsThroughFrozenCellsAreThoseOfFiniteDifferences) {
  for (const TestNetwork& test : kNetworks) expect_finite_differences(test, /*frozen=*/true);
}

TEST_P(StageTest, CutIntoChunksHasTheGradientsOfOneRun) {
  for (const TestNetwork& test : kNetworks) {
    for (const DataType type : types()) {
      for (const bool frozen : with_and_without_frozen(type)) {
        const Network cells = network(test, type, frozen);
        const CellRange all = test.ranges.front();
        const std::vector<CellRange> two = {{0, 3}, {3, all.end}}, three = {{0, 1}, {1, 3}, {3, all.end}};
        SCOPED_TRACE(fmt::format("{} in {}, {}", test.name, to_string(type), frozen ? "partly frozen" : "all trained"));
        const std::vector<Bits> expected = gradients(cells, {all}, {});
        ASSERT_FALSE(all_zero(expected.back()));
        const ArenaLayout layout = make_arena_layout(cells, {all}, 1);
        EXPECT_EQ(differences(gradients(cells, two, {}), expected, layout), "") << "in two runs";
        EXPECT_EQ(differences(gradients(cells, three, {.recomputes = true}), expected, layout), "")
            << "in three, recomputed";
      }
    }
  }
}

TEST_P(StageTest, OneOperationForBatchNormAndMaxPoolingHasTheGradientsOfTwo) {
  const Shape images = Shape::images(kSamples, 11, 10, 3);
  for (const DataType type : types()) {
    for (const std::vector<std::string>& frozen : {std::vector<std::string>{}, {"pool.*"}}) {
      Network together = test::pooled_network(images, kClasses, type, /*apart=*/false),
              apart = test::pooled_network(images, kClasses, type, /*apart=*/true);
      ASSERT_EQ(together[1]->layers().size(), 2) << "a convolution, and all else";
      for (Network* network : {&together, &apart})
        if (!frozen.empty()) freeze_parameters(frozen, *network);
      for (const std::int64_t first : {0, 1}) {
        SCOPED_TRACE(
            fmt::format("{}, cells from {}, {}", to_string(type), first, frozen.empty() ? "trained" : "frozen"));
        const std::vector<Bits> expected = gradients(apart, {{first, 4}}, {});
        ASSERT_FALSE(all_zero(expected.back()));
        const ArenaLayout layout = make_arena_layout(together, {{first, 3}}, 1);
        for (const bool recomputes : {false, true})
          for (const bool splits : {false, true})
            EXPECT_EQ(differences(gradients(together, {{first, 3}}, {recomputes, splits}), expected, layout), "")
                << "recomputes " << recomputes << ", splits " << splits;
      }
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(StageTest);

}  // namespace
}  // namespace convoy
