/// BroadcastOp against plain loops.
#include "reference/broadcast.h"

#include <array>

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::BroadcastKind;
using ops::BroadcastSpec;

constexpr BroadcastKind kKinds[] = {BroadcastKind::kAdd, BroadcastKind::kMultiply};

class BroadcastTest : public OpTest {
 protected:
  /// Tests forward and backward. y and dx have one rounding; dv has one for each row, and one for each product.
  void expect_plain_loops(const BroadcastSpec& spec) {
    SCOPED_TRACE(fmt::format("{} x {}, {}, {}, {} vectors in {}", spec.num_rows, spec.num_columns,
                             spec.kind == BroadcastKind::kAdd ? "add" : "multiply", to_string(spec.type),
                             spec.num_vectors, to_string(spec.vector_type)));
    const std::int64_t count = spec.num_rows * spec.num_columns, v_count = spec.num_vectors * spec.num_columns;
    const Array x = rounded(spec.type, random_array(count, 1)), dy = rounded(spec.type, random_array(count, 2)),
                v = rounded(spec.vector_type, random_array(v_count, 3));
    const DeviceArray device_x(*backend_, x, spec.type), device_dy(*backend_, dy, spec.type),
        device_v(*backend_, v, spec.vector_type);
    const DeviceArray y(*backend_, count, spec.type), dx(*backend_, count, spec.type),
        dv(*backend_, v_count, spec.vector_type);
    const auto op = backend_->create<ops::BroadcastOp>(spec);
    op->forward(device_x, device_v.data(), y);
    expect_close("y", y, reference::broadcast(spec, x, v),
                 rounding_bound(absolute(reference::broadcast(spec, x, v)), 1));
    const auto want = reference::broadcast_gradient(spec, x, v, dy);
    const bool multiplies = spec.kind == BroadcastKind::kMultiply;
    op->backward({.dy = device_dy,
                  .x = device_x,
                  .v = device_v.data(),
                  .dx = multiplies ? dx.data() : nullptr,
                  .dv = dv.data()});
    if (multiplies) expect_close("dx", dx, want.dx, rounding_bound(absolute(want.dx), 1));
    expect_close("dv", dv, want.dv, rounding_bound(want.scale_of_dv, spec.num_rows / spec.num_vectors + 1));
  }
};

TEST_P(BroadcastTest, EqualsPlainLoops) {
  for (const BroadcastKind kind : kKinds)
    for (const DataType type : types())
      for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
               {1, 1}, {1, 7}, {5, 3}, {64, 96}, {1025, 33}, {3000, 16}, {2, 5000}, {40, 768}})
        expect_plain_loops({.num_rows = rows, .num_columns = columns, .kind = kind, .type = type});
}

TEST_P(BroadcastTest, HasAVectorForEachSampleOrForEachRow) {
  for (const BroadcastKind kind : kKinds)
    for (const DataType type : types())
      for (const DataType vector_type : {type, DataType::kFloat32})
        for (const auto& [vectors, rows_of_vector, columns] : std::vector<std::array<std::int64_t, 3>>{
                 {1, 9, 16}, {3, 9, 16}, {2, 1030, 7}, {5, 49, 600}, {4, 1, 33}, {1, 1, 40000}, {70000, 1, 3}})
          expect_plain_loops({.num_rows = vectors * rows_of_vector,
                              .num_columns = columns,
                              .kind = kind,
                              .type = type,
                              .num_vectors = vectors,
                              .vector_type = vector_type});
}

// So the size of a micro-batch changes no bit of its samples.
TEST_P(BroadcastTest, BitsOfAVectorDoNotDependOnTheNumberOfVectors) {
  constexpr std::int64_t kVectors = 3, kColumns = 20;
  for (const std::int64_t rows : {1, 49, 1500}) {
    const std::int64_t count = rows * kColumns;
    const Array x = random_array(kVectors * count, 1), dy = random_array(kVectors * count, 2);
    const auto dv_of = [&](std::int64_t first, std::int64_t vectors) {
      const auto part = [&](const Array& of) {
        return Array(of.begin() + first * count, of.begin() + (first + vectors) * count);
      };
      const DeviceArray some_x(*backend_, part(x)), some_dy(*backend_, part(dy)), dv(*backend_, vectors * kColumns);
      backend_
          ->create<ops::BroadcastOp>({.num_rows = vectors * rows,
                                      .num_columns = kColumns,
                                      .kind = BroadcastKind::kMultiply,
                                      .num_vectors = vectors})
          ->backward({.dy = some_dy, .x = some_x, .dv = dv.data()});
      return bits(dv);
    };
    const auto all = dv_of(0, kVectors);
    for (std::int64_t v = 0; v < kVectors; ++v)
      EXPECT_EQ(dv_of(v, 1), std::vector(all.begin() + v * kColumns, all.begin() + (v + 1) * kColumns));
  }
}

// On a GPU, the sums of blocks are then so numerous that they, too, are summed in blocks.
TEST_P(BroadcastTest, SumsAMillionRows) {
  for (const BroadcastKind kind : kKinds)
    expect_plain_loops({.num_rows = (1 << 20) + 5, .num_columns = 1, .kind = kind});
}

TEST_P(BroadcastTest, WorksOverItsInputAndGivesWhatIsWantedAlone) {
  for (const BroadcastKind kind : kKinds) {
    const BroadcastSpec spec{.num_rows = 300, .num_columns = 20, .kind = kind};
    const std::int64_t count = spec.num_rows * spec.num_columns;
    const DeviceArray x(*backend_, random_array(count, 1)), dy(*backend_, random_array(count, 2)),
        v(*backend_, random_array(spec.num_columns, 3));
    const DeviceArray y(*backend_, count), dx(*backend_, count), dv(*backend_, spec.num_columns),
        dv_alone(*backend_, spec.num_columns);
    const auto op = backend_->create<ops::BroadcastOp>(spec);
    void* const wanted_dx = kind == BroadcastKind::kMultiply ? dx.data() : nullptr;
    op->forward(x, v.data(), y);
    op->backward({.dy = dy, .x = x, .v = v.data(), .dx = wanted_dx, .dv = dv.data()});
    op->backward({.dy = dy, .x = x, .v = v.data(), .dv = dv_alone.data()});
    EXPECT_EQ(bits(dv_alone), bits(dv));
    if (wanted_dx != nullptr) {
      op->backward({.dy = dy, .x = x, .v = v.data(), .dx = dy, .dv = dv_alone.data()});
      EXPECT_EQ(bits(dy), bits(dx)) << "over dy";
      EXPECT_EQ(bits(dv_alone), bits(dv)) << "over dy";
    }
    op->forward(x, v.data(), x);
    EXPECT_EQ(bits(x), bits(y)) << "over x";
  }
}

TEST(BroadcastOnTheCpu, GivesTheSameBitsForEveryNumberOfThreads) {
  for (const auto& [vectors, rows_of_vector] : {std::pair{5, 1500}, {1, 1}}) {
    const BroadcastSpec spec{.num_rows = std::int64_t{vectors} * rows_of_vector,
                             .num_columns = vectors == 1 ? 100'000 : 30,
                             .kind = BroadcastKind::kMultiply,
                             .type = DataType::kBfloat16,
                             .num_vectors = vectors,
                             .vector_type = DataType::kBfloat16};
    const std::int64_t count = spec.num_rows * spec.num_columns, v_count = spec.num_vectors * spec.num_columns;
    std::vector<std::vector<std::uint32_t>> first;
    for (const std::int64_t threads : {1, 2, 3, 7}) {
      const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
      const DeviceArray x(*backend, random_array(count, 1), spec.type),
          v(*backend, random_array(v_count, 2), spec.type), dy(*backend, random_array(count, 3), spec.type);
      const DeviceArray y(*backend, count, spec.type), dx(*backend, count, spec.type), dv(*backend, v_count, spec.type);
      const auto op = backend->create<ops::BroadcastOp>(spec);
      op->forward(x, v, y);
      op->backward({.dy = dy, .x = x, .v = v.data(), .dx = dx, .dv = dv.data()});
      const std::vector<std::vector<std::uint32_t>> now = {bits(y), bits(dx), bits(dv)};
      if (first.empty()) first = now;
      EXPECT_EQ(now, first) << threads << " threads";
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(BroadcastTest);

}  // namespace
}  // namespace convoy
