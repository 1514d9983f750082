/// BatchNormOp with a max pooling against double loops, and bit for bit against the two operations that it replaces.
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "reference/pooling.h"
#include "unit/ops/batch_norm_pass.h"
#include "unit/ops/device_bytes.h"
#include "unit/ops/pooling_specs.h"

namespace convoy {
namespace {

using ops::BatchNormOp;
using ops::PoolingSpec;

// Windows that overlap, touch and leave gaps; one pixel, odd sizes, several groups of channels; many blocks of sums.
const std::vector<PoolingSpec> kSpecs = {
    {Shape::images(2, 8, 8, 64), 3, 2, 1},    {Shape::images(3, 9, 7, 64), 3, 2, 1},
    {Shape::images(2, 7, 6, 128), 2, 2, 0},   {Shape::images(3, 11, 10, 64), 3, 3, 0},
    {Shape::images(2, 10, 9, 64), 2, 3, 1},   {Shape::images(1, 1, 1, 64), 3, 2, 1},
    {Shape::images(1, 9, 13, 64), 4, 2, 2},   {Shape::images(2, 5, 5, 192), 1, 1, 0},
    {Shape::images(1, 17, 16, 64), 15, 8, 7}, {Shape::images(1, 45, 50, 64), 3, 2, 1},
};

/// Values with channels of equal values: positive ones, of which the first wins; those that the ReLU makes 0; and -0.
BatchNormValues values_of(const PoolingSpec& spec) {
  BatchNormValues values(spec.x, spec.type);
  values.residual.assign(values.residual.size(), 0);
  for (const std::size_t c : {1, 2, 3}) values.gamma[c] = 0;
  values.beta[1] = 0.25;
  values.beta[2] = -0.25;
  values.beta[3] = -0.0;
  return values;
}

struct Inputs {
  Inputs(ops::Backend& backend, const PoolingSpec& spec, BatchNormValues own_values)
      : values(std::move(own_values)),
        dy(backend, rounded(spec.type, random_array(spec.y().count(), 6)), spec.type),
        running_mean(backend, random_array(spec.x.c, 7)),
        running_var(backend, random_array(spec.x.c, 8, 2, 1)) {}

  BatchNormValues values;
  DeviceArray dy, running_mean, running_var;
};

/// The inputs, and the results of either way of computing, in poisoned memory.
struct PoolingResults : BatchNormArrays {
  PoolingResults(ops::Backend& backend, const PoolingSpec& spec, const Inputs& in)
      : BatchNormArrays(backend, in.values),
        y(backend, spec.y().count(), spec.type),
        winner(backend, spec.y().count()) {}

  std::vector<std::vector<std::uint32_t>> all_bits() const {
    std::vector<std::vector<std::uint32_t>> all = statistic_bits();
    for (auto& gradient : gradient_bits(dx)) all.push_back(std::move(gradient));
    all.push_back(bits(y));
    return all;
  }
  ops::BatchNormForward training(void* to_y) const {
    return {.branches = {forward_branch()}, .y = to_y, .winner = winner.data()};
  }
  ops::BatchNormForward inference(const Inputs& in, void* to_y) const {
    return {
        .branches =
            {{.x = x, .gamma = gamma, .beta = beta, .running_mean = in.running_mean, .running_var = in.running_var}},
        .y = to_y,
        .winner = winner.data()};
  }
  ops::BatchNormBackward gradient(const void* dy) const {
    return {.branches = {backward_branch(dx)}, .dy = dy, .winner = winner.data()};
  }
  ops::BatchNormBackward inference_gradient(const Inputs& in, const void* dy) const {
    return {.branches = {{.gamma = gamma, .running_var = in.running_var, .dx = dx}}, .dy = dy, .winner = winner.data()};
  }

  DeviceArray y;
  DeviceBytes winner;
};

void train(BatchNormOp& op, const void* dy, const PoolingResults& out) {
  op.forward(out.training(out.y));
  op.backward(out.gradient(dy));
}

void infer(BatchNormOp& op, const Inputs& in, const PoolingResults& out) {
  op.infer(out.inference(in, out.y));
  op.infer_backward(out.inference_gradient(in, in.dy));
}

/// The two operations one after the other.
struct Parts {
  Parts(ops::Backend& backend, const PoolingSpec& spec)
      : batch_norm(backend.create<BatchNormOp>({.x = spec.x, .relu = true, .type = spec.type})),
        max_pool(backend.create<ops::MaxPoolOp>(spec)),
        normalised(backend, spec.x.count(), spec.type),
        gradient(backend, spec.x.count(), spec.type) {}

  void train(const Inputs& in, const PoolingResults& out) const {
    batch_norm->forward(out.training(normalised));
    max_pool->forward(normalised, out.y, out.winner.data());
    max_pool->backward(in.dy, out.winner.data(), gradient);
    batch_norm->backward(out.gradient(gradient));
  }

  void infer(const Inputs& in, const PoolingResults& out) const {
    batch_norm->infer(out.inference(in, normalised));
    max_pool->forward(normalised, out.y, out.winner.data());
    max_pool->backward(in.dy, out.winner.data(), gradient);
    ops::BatchNormBackward args = out.inference_gradient(in, gradient);
    args.y = normalised;
    batch_norm->infer_backward(args);
  }

  std::unique_ptr<BatchNormOp> batch_norm;
  std::unique_ptr<ops::MaxPoolOp> max_pool;
  DeviceArray normalised, gradient;
};

/// The winners of max pooling, with kNoWinner if the ReLU lets no gradient through.
std::vector<std::uint8_t> positive_winners(const PoolingResults& parts) {
  std::vector<std::uint8_t> winners = parts.winner.values();
  const std::vector<float> y = parts.y.values();
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!(y[i] > 0)) winners[i] = BatchNormOp::kNoWinner;
  return winners;
}

class BatchNormPoolingTest : public OpTest {};

TEST_P(BatchNormPoolingTest, EqualsDoubleLoops) {
  for (const PoolingSpec& spec : with_types(kSpecs, types())) {
    SCOPED_TRACE(describe(spec));
    BatchNormValues values = values_of(spec);
    // dy is in sixteenths below 1: sums of four are exact in every type, so that their roundings need no bound.
    Array dy = random_array(spec.y().count(), 6);
    for (double& value : dy) value = std::round(16 * value) / 16;
    const Inputs in(*backend_, spec, values);
    const PoolingResults got(*backend_, spec, in);
    const auto op = backend_->create<BatchNormOp>(batch_norm_before(spec));
    train(*op, DeviceArray(*backend_, dy, spec.type), got);

    const auto want =
        reference::batch_norm(batch_norm_before(spec), values.x, values.residual, values.gamma, values.beta);
    expect_statistics(values, want, got.mean, got.inv_std, got.var_unbiased);
    // The errors of maxima are at most the largest errors of the values.
    expect_close("y", got.y, reference::max_pool(spec, want.y).y,
                 reference::max_pool(spec, result_bound(values, want)).y);
    // Windows without a winner give no gradient: no index in a window is 255. So the reference needs no ReLU.
    values.dy = reference::max_pool_gradient(spec, got.winner.values(), dy);
    expect_backward({.x = spec.x, .type = spec.type}, values, {}, got.mean.doubles(), got.inv_std.doubles(), got.dx,
                    nullptr, got.dgamma, got.dbeta);
    EXPECT_EQ(bits(got.mean_copy), bits(got.mean));
    EXPECT_EQ(bits(got.var_copy), bits(got.var_unbiased));
  }
}

TEST_P(BatchNormPoolingTest, GivesTheBitsOfBatchNormThenMaxPooling) {
  for (const PoolingSpec& spec : with_types(kSpecs, types())) {
    SCOPED_TRACE(describe(spec));
    const Inputs in(*backend_, spec, values_of(spec));
    const PoolingResults got(*backend_, spec, in), want(*backend_, spec, in);
    train(*backend_->create<BatchNormOp>(batch_norm_before(spec)), in.dy, got);
    Parts(*backend_, spec).train(in, want);
    EXPECT_EQ(got.all_bits(), want.all_bits());
    EXPECT_EQ(got.winner.values(), positive_winners(want));
  }
}

TEST_P(BatchNormPoolingTest, InferenceGivesTheBitsOfBatchNormThenMaxPoolingWithNaNAndInfinityToo) {
  for (const PoolingSpec& spec : with_types(kSpecs, types())) {
    SCOPED_TRACE(describe(spec));
    BatchNormValues values = values_of(spec);
    const double infinity = std::numeric_limits<double>::infinity();
    values.x[values.x.size() / 2] = std::numeric_limits<double>::quiet_NaN();
    values.x[values.x.size() / 2 + 8] = infinity;
    values.x[values.x.size() / 2 + 9] = -infinity;
    const Inputs in(*backend_, spec, values);
    const PoolingResults got(*backend_, spec, in), want(*backend_, spec, in);
    infer(*backend_->create<BatchNormOp>(batch_norm_before(spec)), in, got);
    Parts(*backend_, spec).infer(in, want);
    EXPECT_EQ(bits(got.y), bits(want.y));
    EXPECT_EQ(bits(got.dx), bits(want.dx));
    EXPECT_EQ(got.winner.values(), positive_winners(want));
  }
}

TEST_P(BatchNormPoolingTest, ForwardAgainGivesTheSameBits) {
  for (const PoolingSpec& spec : with_types(kSpecs, types())) {
    SCOPED_TRACE(describe(spec));
    const Inputs in(*backend_, spec, values_of(spec));
    const PoolingResults first(*backend_, spec, in), again(*backend_, spec, in);
    const auto op = backend_->create<BatchNormOp>(batch_norm_before(spec));
    train(*op, in.dy, first);
    ops::BatchNormForward args = first.training(again.y);
    args.winner = again.winner.data();
    op->forward_again(args);
    EXPECT_EQ(bits(first.y), bits(again.y));
    EXPECT_EQ(first.winner.values(), again.winner.values());
  }
}

TEST(BatchNormPoolingOnTheCpu, GivesTheSameBitsForEveryNumberOfThreads) {
  for (const PoolingSpec& spec : with_types(kSpecs, {DataType::kFloat32, DataType::kBfloat16})) {
    SCOPED_TRACE(describe(spec));
    std::vector<std::vector<std::uint32_t>> first;
    for (const std::int64_t threads : {1, 2, 3}) {
      const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
      const Inputs in(*backend, spec, values_of(spec));
      const PoolingResults got(*backend, spec, in);
      train(*backend->create<BatchNormOp>(batch_norm_before(spec)), in.dy, got);
      if (first.empty()) first = got.all_bits();
      EXPECT_EQ(first, got.all_bits()) << threads << " threads";
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(BatchNormPoolingTest);

}  // namespace
}  // namespace convoy
