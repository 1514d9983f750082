/// ConvolutionOp against double loops.
#include "reference/convolution.h"

#include <algorithm>

#include "reference/winograd.h"
#include "unit/ops/convolution_cases.h"
#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::ConvolutionSpec;

class ConvolutionTest : public OpTest {};

/// The bounds of the errors of y, dx and dw in float32.
struct Bounds {
  Array y, dx, dw;
};

Array larger(Array a, const Array& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::max(a[i], b[i]);
  return a;
}

/// A product is rounded once, and once for every addition that it takes part in: as many as the longest sum has terms.
/// If Winograd's products may be used, the larger bound counts, theirs or that of direct products. Theirs has, for y
/// and dx, 2 roundings in the transform of data, 4 in that of filters, and 4 in that of results; for dw 2, 2 and 4, and
/// one for each of up to 8 partial sums.
Bounds bounds_of(const ConvolutionSpec& spec, const Array& x, const Array& w, const Array& dy) {
  const Array size_x = absolute(x), size_w = absolute(w), size_dy = absolute(dy);
  const std::int64_t taps = spec.kernel * spec.kernel, channels = spec.filter_channels(),
                     filters = spec.num_filters / spec.groups, pixels = spec.y().pixels();
  Bounds bounds{rounding_bound(reference::convolution(spec, size_x, size_w), taps * channels),
                rounding_bound(reference::convolution_input(spec, size_dy, size_w), taps * filters),
                rounding_bound(reference::convolution_weight(spec, size_x, size_dy), pixels)};
  namespace winograd = reference::winograd;
  if (!winograd::applies(spec)) return bounds;
  bounds.y = larger(bounds.y, rounding_bound(winograd::scale_of_result(spec, x, w), channels + 11));
  bounds.dx = larger(bounds.dx, rounding_bound(winograd::scale_of_dx(spec, dy, w), filters + 11));
  bounds.dw = larger(bounds.dw, rounding_bound(winograd::scale_of_dw(spec, x, dy), pixels + 17));
  return bounds;
}

TEST_P(ConvolutionTest, EqualsDoubleLoops) {
  for (const DataType type : types()) {
    for (const ConvolutionCase& test : kConvolutionCases) {
      SCOPED_TRACE(fmt::format("{} in {}", test.name, to_string(type)));
      ConvolutionSpec spec = test.spec;
      spec.type = type;
      const Array x = rounded(type, random_array(spec.x.count(), 1)),
                  w = rounded(type, random_array(spec.weight_count(), 2)),
                  dy = rounded(type, random_array(spec.y().count(), 3));
      const DeviceArray device_x(*backend_, x, type), device_w(*backend_, w, type), device_dy(*backend_, dy, type);
      const DeviceArray y(*backend_, spec.y().count(), type), dx(*backend_, spec.x.count(), type),
          dw(*backend_, spec.weight_count());
      const auto op = backend_->create<ops::ConvolutionOp>(spec);
      op->load_weights(device_w);
      op->forward(device_x, y);
      op->backward_input(device_dy, dx);
      op->backward_weight(device_x, device_dy, dw);

      const Bounds bounds = bounds_of(spec, x, w, dy);
      expect_close("y", y, reference::convolution(spec, x, w), bounds.y);
      expect_close("dx", dx, reference::convolution_input(spec, dy, w), bounds.dx);
      const Array want = reference::convolution_weight(spec, x, dy);
      Array bound = bounds.dw;
      if (GetParam().rounds_dw && type != DataType::kFloat32)
        for (std::size_t i = 0; i < bound.size(); ++i)
          bound[i] += reference::rounding_error(type, std::abs(want[i]) + bound[i]);
      expect_close("dw", dw, want, bound);
    }
  }
}

TEST_P(ConvolutionTest, FirstLayerWithoutInputGradientEqualsTheSameWithIt) {
  ConvolutionSpec spec{Shape::images(2, 28, 28, 1), 16, 3, 1, 1};
  const DeviceArray x(*backend_, random_array(spec.x.count(), 1)), w(*backend_, random_array(spec.weight_count(), 2)),
      dy(*backend_, random_array(spec.y().count(), 3));
  std::vector<std::vector<std::uint32_t>> results;
  for (const bool needs_dx : {true, false}) {
    spec.needs_dx = needs_dx;
    const DeviceArray y(*backend_, spec.y().count()), dw(*backend_, spec.weight_count());
    const auto op = backend_->create<ops::ConvolutionOp>(spec);
    op->load_weights(w);
    op->forward(x, y);
    op->backward_weight(x, dy, dw);
    results.push_back(bits(y));
    results.push_back(bits(dw));
  }
  EXPECT_EQ(results[0], results[2]);
  EXPECT_EQ(results[1], results[3]);
}

TEST_P(ConvolutionTest, ForwardAloneHasTheBitsOfForwardBesideBackward) {
  for (const DataType type : types()) {
    for (ConvolutionSpec spec : {ConvolutionSpec{Shape::images(2, 28, 28, 1), 16, 3, 1, 1},
                                 {Shape::images(2, 14, 14, 64), 64, 3, 1, 1},
                                 {Shape::images(2, 9, 9, 32), 48, 1, 2, 0},
                                 {Shape::images(2, 2, 2, 32), 32, 3, 1, 1}}) {
      SCOPED_TRACE(to_string(spec.x) + " in " + to_string(type));
      spec.type = type;
      const DeviceArray x(*backend_, random_array(spec.x.count(), 1), type),
          w(*backend_, random_array(spec.weight_count(), 2), type);
      std::vector<std::vector<std::uint32_t>> results;
      for (const bool has_backward : {true, false}) {
        spec.has_backward = has_backward;
        const DeviceArray y(*backend_, spec.y().count(), type);
        const auto op = backend_->create<ops::ConvolutionOp>(spec);
        op->load_weights(w);
        op->forward(x, y);
        results.push_back(bits(y));
      }
      EXPECT_EQ(results[0], results[1]);
    }
  }
}

TEST_P(ConvolutionTest, SeesNewWeightsAfterLoading) {
  for (const DataType type : types()) {
    SCOPED_TRACE(to_string(type));
    ConvolutionSpec spec{Shape::images(1, 5, 5, 16), 16, 3, 1, 1};
    spec.type = type;
    const DeviceArray x(*backend_, random_array(spec.x.count(), 1), type);
    const DeviceArray w(*backend_, random_array(spec.weight_count(), 2), type);
    const DeviceArray y(*backend_, spec.y().count(), type), again(*backend_, spec.y().count(), type);
    const auto op = backend_->create<ops::ConvolutionOp>(spec);
    op->load_weights(w);
    op->forward(x, y);
    EXPECT_NE(y.values(), std::vector<float>(index(spec.y().count()), 0.0f));
    const std::vector<std::byte> zeros(index(spec.weight_count() * size_of(type)));
    backend_->device().copy_to_device(w.data(), zeros.data(), std::ssize(zeros));
    op->load_weights(w);
    op->forward(x, again);
    EXPECT_EQ(again.values(), std::vector<float>(index(spec.y().count()), 0.0f));
  }
}

/// The bits of y, dx and dw, computed in fresh memory.
std::vector<std::vector<std::uint32_t>> results_of(ops::Backend& backend, ops::ConvolutionOp& op,
                                                   const ConvolutionSpec& spec) {
  const DeviceArray x(backend, random_array(spec.x.count(), 1), spec.type),
      w(backend, random_array(spec.weight_count(), 2), spec.type),
      dy(backend, random_array(spec.y().count(), 3), spec.type);
  const DeviceArray y(backend, spec.y().count(), spec.type), dx(backend, spec.x.count(), spec.type),
      dw(backend, spec.weight_count());
  op.load_weights(w);
  op.forward(x, y);
  op.backward_input(dy, dx);
  op.backward_weight(x, dy, dw);
  return {bits(y), bits(dx), bits(dw)};
}

// Another backend creates the operation again, with the engines of the first. An operation must also follow the scratch
// memory when a larger one, created later, has moved it.
TEST_P(ConvolutionTest, GivesTheSameBitsInEveryRun) {
  for (const DataType type : types()) {
    for (ConvolutionSpec spec : kSpecsWithSplitSums) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(spec.x), to_string(type)));
      spec.type = type;
      ConvolutionSpec larger_spec{Shape::images(8, 28, 28, 64), 64, 3, 1, 1};
      larger_spec.type = type;
      const auto first = results_of(*backend_, *backend_->create<ops::ConvolutionOp>(spec), spec);
      backend_->create<ops::ConvolutionOp>(larger_spec);
      for (int repeat = 0; repeat < 2; ++repeat) {
        const auto backend = another_backend();
        const auto op = backend->create<ops::ConvolutionOp>(spec);
        EXPECT_EQ(first, results_of(*backend, *op, spec));
        const auto larger = backend->create<ops::ConvolutionOp>(larger_spec);
        EXPECT_EQ(first, results_of(*backend, *op, spec));
        if (backend->engine_cache() == nullptr) continue;
        EXPECT_EQ(*backend->engine_cache(), *backend_->engine_cache()) << "engines were measured again";
      }
    }
  }
}

TEST(ConvolutionOnTheCpu, GivesTheSameBitsForEveryNumberOfThreads) {
  std::vector<ConvolutionSpec> specs = kSpecsWithSplitSums;
  // Long sums for few pixels: oneDNN divides the sums of matrix products among its threads, and chooses blocks for
  // their number.
  specs.push_back({Shape::images(1, 4, 4, 517), 37, 3, 1, 1});
  specs.push_back({Shape::images(1, 10, 10, 768), 16, 5, 2, 2});
  // Small images, for which oneDNN 3 chooses by the number of samples.
  specs.push_back({Shape::images(16, 2, 2, 128), 128, 3, 1, 1});
  specs.push_back({Shape::images(16, 3, 4, 64), 128, 1, 2, 0});
  specs.push_back({.x = Shape::images(1, 3, 3, 1034), .num_filters = 74, .kernel = 3, .padding = 1, .groups = 2});
  for (const ConvolutionCase& test : kConvolutionCases) specs.push_back(test.spec);
  for (const DataType type : {DataType::kFloat32, DataType::kBfloat16}) {
    for (ConvolutionSpec& spec : specs) {
      SCOPED_TRACE(fmt::format("{}, {} filters of {}x{}, {}", to_string(spec.x), spec.num_filters, spec.kernel,
                               spec.kernel, to_string(type)));
      spec.type = type;
      std::vector<std::vector<std::uint32_t>> first;
      for (const int threads : {1, 2, 3, 7, 8, 16}) {
        const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
        const auto results = results_of(*backend, *backend->create<ops::ConvolutionOp>(spec), spec);
        if (first.empty()) first = results;
        EXPECT_EQ(first, results) << threads << " threads";
      }
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(ConvolutionTest);

}  // namespace
}  // namespace convoy
