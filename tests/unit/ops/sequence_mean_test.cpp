/// SequenceMeanOp against plain loops.
#include "reference/sequence_mean.h"

#include <limits>

#include "unit/ops/device_ints.h"
#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::SequenceMeanSpec;

/// The longest, the shortest and one in between; with more sequences also lengths outside of 1..T.
std::vector<std::int32_t> lengths_for(const SequenceMeanSpec& spec) {
  const auto longest = static_cast<std::int32_t>(spec.length);
  const std::vector<std::int32_t> all = {longest, 1, (longest + 1) / 2, 0, longest + 5, -3};
  std::vector<std::int32_t> lengths;
  for (std::int64_t n = 0; n < spec.n; ++n) lengths.push_back(all[index(n) % all.size()]);
  return lengths;
}

class SequenceMeanTest : public OpTest {
 protected:
  /// x, which is NaN past the lengths: the operation may not read it there.
  Array x_for(const SequenceMeanSpec& spec, const std::vector<std::int32_t>& lengths) const {
    const Array all = rounded(spec.type, random_array(spec.n * spec.length * spec.width, 1));
    Array x(all.size(), std::numeric_limits<double>::quiet_NaN());
    reference::for_each_word_there(spec, lengths, [&](std::size_t ix, std::size_t, double) { x[ix] = all[ix]; });
    return x;
  }
};

TEST_P(SequenceMeanTest, EqualsPlainLoops) {
  for (const DataType type : types()) {
    for (SequenceMeanSpec spec : {SequenceMeanSpec{.n = 1, .length = 1, .width = 1},
                                  {.n = 7, .length = 9, .width = 37},
                                  {.n = 6, .length = 100, .width = 64},
                                  {.n = 1, .length = 333, .width = 200},
                                  {.n = 3, .length = 50, .width = 516},
                                  {.n = 30, .length = 2, .width = 24}}) {
      spec.type = type;
      SCOPED_TRACE(
          fmt::format("{} sequences of {} words of {} values, {}", spec.n, spec.length, spec.width, to_string(type)));
      const std::vector<std::int32_t> lengths = lengths_for(spec);
      const Array x = x_for(spec, lengths), dy = rounded(type, random_array(spec.n * spec.width, 2));
      const DeviceInts device_lengths(backend_->device(), lengths);
      const DeviceArray device_x(*backend_, x, type), device_dy(*backend_, dy, type),
          y(*backend_, spec.n * spec.width, type), dx(*backend_, std::ssize(x), type);
      const auto op = backend_->create<ops::SequenceMeanOp>(spec);
      op->forward(device_x, device_lengths, y);
      op->backward(device_dy, device_lengths, dx);
      // A sum of T values in any order and a division.
      expect_close("y", y, reference::sequence_mean(spec, lengths, x),
                   rounding_bound(reference::sequence_mean(spec, lengths, absolute(x)), spec.length + 1));
      expect_close("dx", dx, reference::sequence_mean_gradient(spec, lengths, dy),
                   rounding_bound(reference::sequence_mean_gradient(spec, lengths, absolute(dy)), 1));
    }
  }
}

TEST_P(SequenceMeanTest, GivesTheSameBitsInEveryRun) {
  for (const DataType type : types()) {
    const SequenceMeanSpec spec{.n = 5, .length = 120, .width = 72, .type = type};
    const std::vector<std::int32_t> lengths = lengths_for(spec);
    std::vector<std::uint32_t> first;
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto backend = another_backend();
      const DeviceInts device_lengths(backend->device(), lengths);
      const DeviceArray x(*backend, x_for(spec, lengths), type), y(*backend, spec.n * spec.width, type);
      const auto op = backend->create<ops::SequenceMeanOp>(spec);
      for (int run = 0; run < 2; ++run) {
        op->forward(x, device_lengths, y);
        if (first.empty()) first = bits(y);
        EXPECT_EQ(first, bits(y));
      }
    }
  }
}

TEST_P(SequenceMeanTest, ASequenceHasTheBitsThatItHasAlone) {
  const SequenceMeanSpec spec{.n = 4, .length = 50, .width = 200}, alone{.n = 1, .length = 50, .width = 200};
  const std::vector<std::int32_t> lengths = {50, 7, 33, 50};
  const Array x = x_for(spec, lengths);
  const DeviceArray device_x(*backend_, x), y(*backend_, 800);
  backend_->create<ops::SequenceMeanOp>(spec)->forward(device_x, DeviceInts(backend_->device(), lengths), y);
  const Array together = y.doubles();
  for (std::size_t n = 0; n < 4; ++n) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(n * 50 * 200);
    const DeviceArray own(*backend_, Array(begin, begin + 50 * 200)), own_y(*backend_, 200);
    backend_->create<ops::SequenceMeanOp>(alone)->forward(own, DeviceInts(backend_->device(), {lengths[n]}), own_y);
    const auto from = together.begin() + static_cast<std::ptrdiff_t>(n * 200);
    EXPECT_EQ(own_y.doubles(), Array(from, from + 200)) << n;
  }
}

TEST(SequenceMeanOnTheCpu, GivesTheSameBitsForEveryNumberOfThreads) {
  const SequenceMeanSpec spec{.n = 2, .length = 77, .width = 333};
  std::vector<std::uint32_t> first;
  for (const std::int64_t threads : {1, 2, 3, 7}) {
    const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
    const DeviceInts lengths(backend->device(), {77, 40});
    const DeviceArray x(*backend, random_array(2 * 77 * 333, 1)), y(*backend, 2 * 333);
    backend->create<ops::SequenceMeanOp>(spec)->forward(x, lengths, y);
    if (first.empty()) first = bits(y);
    EXPECT_EQ(first, bits(y)) << threads << " threads";
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(SequenceMeanTest);

}  // namespace
}  // namespace convoy
