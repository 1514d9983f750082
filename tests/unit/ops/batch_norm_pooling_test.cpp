/// BatchNormMaxPoolOp against double loops, and bit for bit against the two operations that it replaces.
#include <limits>

#include "reference/pooling.h"
#include "unit/ops/batch_norm_pass.h"
#include "unit/ops/device_bytes.h"
#include "unit/ops/pooling_specs.h"

namespace convoy {
namespace {

using ops::BatchNormMaxPoolOp;
using ops::BatchNormMaxPoolSpec;

// Windows that overlap, touch and leave gaps; one pixel, odd sizes, several groups of channels; many blocks of sums.
const std::vector<BatchNormMaxPoolSpec> kSpecs = {
    {Shape::images(2, 8, 8, 64), 3, 2, 1},    {Shape::images(3, 9, 7, 64), 3, 2, 1},
    {Shape::images(2, 7, 6, 128), 2, 2, 0},   {Shape::images(3, 11, 10, 64), 3, 3, 0},
    {Shape::images(2, 10, 9, 64), 2, 3, 1},   {Shape::images(1, 1, 1, 64), 3, 2, 1},
    {Shape::images(1, 9, 13, 64), 4, 2, 2},   {Shape::images(2, 5, 5, 192), 1, 1, 0},
    {Shape::images(1, 17, 16, 64), 15, 8, 7}, {Shape::images(1, 45, 50, 64), 3, 2, 1},
};

/// Values with channels of equal values: positive ones, of which the first wins; those that the ReLU makes 0; and -0.
BatchNormValues values_of(const BatchNormMaxPoolSpec& spec) {
  BatchNormValues values(spec.x, spec.type);
  values.residual.assign(values.residual.size(), 0);
  for (const std::size_t c : {1, 2, 3}) values.gamma[c] = 0;
  values.beta[1] = 0.25;
  values.beta[2] = -0.25;
  values.beta[3] = -0.0;
  return values;
}

/// The results of either way of computing, in poisoned memory.
struct Results {
  Results(ops::Backend& backend, const BatchNormMaxPoolSpec& spec)
      : y(backend, spec.y().count(), spec.type),
        mean(backend, spec.x.c),
        inv_std(backend, spec.x.c),
        var_unbiased(backend, spec.x.c),
        dx(backend, spec.x.count(), spec.type),
        dgamma(backend, spec.x.c),
        dbeta(backend, spec.x.c),
        mean_copy(backend, spec.x.c),
        var_copy(backend, spec.x.c),
        winner(backend, spec.y().count()) {}

  std::vector<std::vector<std::uint32_t>> all_bits() const {
    return {bits(y),      bits(mean),  bits(inv_std),   bits(var_unbiased), bits(dx),
            bits(dgamma), bits(dbeta), bits(mean_copy), bits(var_copy)};
  }

  DeviceArray y, mean, inv_std, var_unbiased;
  DeviceArray dx, dgamma, dbeta, mean_copy, var_copy;
  DeviceBytes winner;
};

struct Inputs {
  Inputs(ops::Backend& backend, const BatchNormMaxPoolSpec& spec, const BatchNormValues& values)
      : x(backend, values.x, spec.type),
        gamma(backend, values.gamma),
        beta(backend, values.beta),
        dy(backend, rounded(spec.type, random_array(spec.y().count(), 6)), spec.type),
        running_mean(backend, random_array(spec.x.c, 7)),
        running_var(backend, random_array(spec.x.c, 8, 2, 1)) {}

  DeviceArray x, gamma, beta, dy, running_mean, running_var;
};

void train(BatchNormMaxPoolOp& op, const Inputs& in, const void* dy, const Results& out) {
  op.forward({.x = in.x, .gamma = in.gamma, .beta = in.beta}, {out.y, out.mean, out.inv_std, out.var_unbiased},
             out.winner.data());
  op.backward({.dy = dy,
               .x = in.x,
               .gamma = in.gamma,
               .mean = out.mean,
               .inv_std = out.inv_std,
               .var_unbiased = out.var_unbiased},
              out.winner.data(), {out.dx, nullptr, out.dgamma, out.dbeta, out.mean_copy, out.var_copy});
}

void infer(BatchNormMaxPoolOp& op, const Inputs& in, const Results& out) {
  op.infer({.x = in.x,
            .gamma = in.gamma,
            .beta = in.beta,
            .running_mean = in.running_mean,
            .running_var = in.running_var,
            .y = out.y},
           out.winner.data());
  op.infer_backward({.dy = in.dy, .gamma = in.gamma, .running_var = in.running_var, .dx = out.dx}, out.winner.data());
}

/// The two operations one after the other.
struct Parts {
  Parts(ops::Backend& backend, const BatchNormMaxPoolSpec& spec)
      : batch_norm(backend.create<ops::BatchNormOp>(spec.batch_norm())),
        max_pool(backend.create<ops::MaxPoolOp>(spec.pooling())),
        normalised(backend, spec.x.count(), spec.type),
        gradient(backend, spec.x.count(), spec.type) {}

  void train(const Inputs& in, const Results& out) const {
    batch_norm->forward({.x = in.x, .gamma = in.gamma, .beta = in.beta},
                        {normalised, out.mean, out.inv_std, out.var_unbiased});
    max_pool->forward(normalised, out.y, out.winner.data());
    max_pool->backward(in.dy, out.winner.data(), gradient);
    batch_norm->backward({gradient, nullptr, in.x, nullptr, in.gamma, in.beta, out.mean, out.inv_std, out.var_unbiased},
                         {out.dx, nullptr, out.dgamma, out.dbeta, out.mean_copy, out.var_copy});
  }

  void infer(const Inputs& in, const Results& out) const {
    batch_norm->infer({in.x, nullptr, in.gamma, in.beta, in.running_mean, in.running_var, normalised});
    max_pool->forward(normalised, out.y, out.winner.data());
    max_pool->backward(in.dy, out.winner.data(), gradient);
    batch_norm->infer_backward({gradient, nullptr, normalised, in.gamma, in.running_var, out.dx, nullptr});
  }

  std::unique_ptr<ops::BatchNormOp> batch_norm;
  std::unique_ptr<ops::MaxPoolOp> max_pool;
  DeviceArray normalised, gradient;
};

/// The winners of max pooling, with kNoWinner if the ReLU lets no gradient through.
std::vector<std::uint8_t> positive_winners(const Results& parts) {
  std::vector<std::uint8_t> winners = parts.winner.values();
  const std::vector<float> y = parts.y.values();
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!(y[i] > 0)) winners[i] = BatchNormMaxPoolOp::kNoWinner;
  return winners;
}

class BatchNormPoolingTest : public OpTest {};

TEST_P(BatchNormPoolingTest, EqualsDoubleLoops) {
  for (const BatchNormMaxPoolSpec& spec : with_types(kSpecs, types())) {
    SCOPED_TRACE(describe(spec));
    BatchNormValues values = values_of(spec);
    // dy is in sixteenths below 1: sums of four are exact in every type, so that their roundings need no bound.
    Array dy = random_array(spec.y().count(), 6);
    for (double& value : dy) value = std::round(16 * value) / 16;
    const Inputs in(*backend_, spec, values);
    const Results got(*backend_, spec);
    const auto op = backend_->create<BatchNormMaxPoolOp>(spec);
    train(*op, in, DeviceArray(*backend_, dy, spec.type), got);

    const auto want = reference::batch_norm(spec.batch_norm(), values.x, values.residual, values.gamma, values.beta);
    expect_statistics(values, want, got.mean, got.inv_std, got.var_unbiased);
    // The errors of maxima are at most the largest errors of the values.
    expect_close("y", got.y, reference::max_pool(spec.pooling(), want.y).y,
                 reference::max_pool(spec.pooling(), result_bound(values, want)).y);
    // Windows without a winner give no gradient: no index in a window is 255. So the reference needs no ReLU.
    values.dy = reference::max_pool_gradient(spec.pooling(), got.winner.values(), dy);
    expect_backward({.x = spec.x, .type = spec.type}, values, {}, got.mean.doubles(), got.inv_std.doubles(), got.dx,
                    nullptr, got.dgamma, got.dbeta);
    EXPECT_EQ(bits(got.mean_copy), bits(got.mean));
    EXPECT_EQ(bits(got.var_copy), bits(got.var_unbiased));
  }
}

TEST_P(BatchNormPoolingTest, GivesTheBitsOfBatchNormThenMaxPooling) {
  for (const BatchNormMaxPoolSpec& spec : with_types(kSpecs, types())) {
    SCOPED_TRACE(describe(spec));
    const Inputs in(*backend_, spec, values_of(spec));
    const Results got(*backend_, spec), want(*backend_, spec);
    train(*backend_->create<BatchNormMaxPoolOp>(spec), in, in.dy, got);
    Parts(*backend_, spec).train(in, want);
    EXPECT_EQ(got.all_bits(), want.all_bits());
    EXPECT_EQ(got.winner.values(), positive_winners(want));
  }
}

TEST_P(BatchNormPoolingTest, InferenceGivesTheBitsOfBatchNormThenMaxPoolingWithNaNAndInfinityToo) {
  for (const BatchNormMaxPoolSpec& spec : with_types(kSpecs, types())) {
    SCOPED_TRACE(describe(spec));
    BatchNormValues values = values_of(spec);
    const double infinity = std::numeric_limits<double>::infinity();
    values.x[values.x.size() / 2] = std::numeric_limits<double>::quiet_NaN();
    values.x[values.x.size() / 2 + 8] = infinity;
    values.x[values.x.size() / 2 + 9] = -infinity;
    const Inputs in(*backend_, spec, values);
    const Results got(*backend_, spec), want(*backend_, spec);
    infer(*backend_->create<BatchNormMaxPoolOp>(spec), in, got);
    Parts(*backend_, spec).infer(in, want);
    EXPECT_EQ(bits(got.y), bits(want.y));
    EXPECT_EQ(bits(got.dx), bits(want.dx));
    EXPECT_EQ(got.winner.values(), positive_winners(want));
  }
}

TEST_P(BatchNormPoolingTest, ForwardAgainGivesTheSameBits) {
  for (const BatchNormMaxPoolSpec& spec : with_types(kSpecs, types())) {
    SCOPED_TRACE(describe(spec));
    const Inputs in(*backend_, spec, values_of(spec));
    const Results first(*backend_, spec), again(*backend_, spec);
    const auto op = backend_->create<BatchNormMaxPoolOp>(spec);
    train(*op, in, in.dy, first);
    op->forward_again({.x = in.x, .gamma = in.gamma, .beta = in.beta},
                      {.y = again.y, .mean = first.mean, .inv_std = first.inv_std}, again.winner.data());
    EXPECT_EQ(bits(first.y), bits(again.y));
    EXPECT_EQ(first.winner.values(), again.winner.values());
  }
}

TEST(BatchNormPoolingOnTheCpu, GivesTheSameBitsForEveryNumberOfThreads) {
  for (const BatchNormMaxPoolSpec& spec : with_types(kSpecs, {DataType::kFloat32, DataType::kBfloat16})) {
    SCOPED_TRACE(describe(spec));
    std::vector<std::vector<std::uint32_t>> first;
    for (const std::int64_t threads : {1, 2, 3}) {
      const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
      const Inputs in(*backend, spec, values_of(spec));
      const Results got(*backend, spec);
      train(*backend->create<BatchNormMaxPoolOp>(spec), in, in.dy, got);
      if (first.empty()) first = got.all_bits();
      EXPECT_EQ(first, got.all_bits()) << threads << " threads";
    }
  }
}

CONVOY_RUN_ON_ALL_LIBRARIES(BatchNormPoolingTest);

}  // namespace
}  // namespace convoy
