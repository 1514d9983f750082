/// ConvolutionOp against double loops.
#include "reference/convolution.h"

#include "unit/ops/convolution_sums.h"
#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::ConvolutionSpec;

struct Case {
  const char* name;
  ConvolutionSpec spec;
};

// Strides, kernels, paddings, odd sizes, rows and columns that no window reaches, one pixel, one channel, 37 channels.
const std::vector<Case> kCases = {
    {"OnePixelOneChannel", {{1, 1, 1, 1}, 1, 1, 1, 0}},
    {"OnePixelKernel3", {{1, 1, 1, 3}, 2, 3, 1, 1}},
    {"OnePixelKernel7Padding3Stride2", {{2, 1, 1, 3}, 5, 7, 2, 3}},
    {"GreyFirstLayer", {{2, 28, 28, 1}, 16, 3, 1, 1}},
    {"ColourFirstLayer", {{2, 13, 11, 3}, 16, 3, 1, 1}},
    {"ImagenetFirstLayer", {{1, 33, 29, 3}, 64, 7, 2, 3}},
    {"Kernel3", {{3, 9, 7, 16}, 16, 3, 1, 1}},
    {"Kernel3Stride2EvenSize", {{2, 16, 16, 16}, 32, 3, 2, 1}},
    {"Kernel3Stride2OddSize", {{2, 15, 13, 16}, 32, 3, 2, 1}},
    {"Kernel3Stride3NoPadding", {{2, 11, 12, 8}, 24, 3, 3, 0}},
    {"Kernel3Padding2", {{1, 5, 6, 16}, 16, 3, 1, 2}},
    {"Kernel5Padding3Stride3", {{2, 9, 8, 16}, 16, 5, 3, 3}},
    {"Kernel5", {{2, 8, 9, 32}, 16, 5, 1, 2}},
    {"Kernel7Stride1", {{1, 8, 8, 16}, 16, 7, 1, 3}},
    {"Pointwise", {{2, 7, 7, 64}, 128, 1, 1, 0}},
    {"PointwiseStride2EvenSize", {{2, 8, 8, 32}, 64, 1, 2, 0}},
    {"PointwiseStride2OddSize", {{2, 7, 9, 32}, 64, 1, 2, 0}},
    {"PointwiseStride3Padding1", {{1, 7, 8, 16}, 16, 1, 3, 1}},
    {"Channels37", {{2, 7, 5, 37}, 37, 3, 1, 1}},
    {"Channels37To1", {{1, 6, 6, 37}, 1, 3, 2, 1}},
    {"Channels1To37Pointwise", {{3, 5, 5, 1}, 37, 1, 1, 0}},
    {"WideChannels", {{1, 7, 7, 256}, 256, 3, 1, 1}},
    // 5 samples have 2^20 values, and 3 is the next number that divides 6: slices where bf16 is computed in float32.
    {"LargeImages", {{6, 80, 80, 16}, 16, 1, 1, 0}},
};

class ConvolutionTest : public OpTest {};

TEST_P(ConvolutionTest, EqualsDoubleLoops) {
  for (const DataType type : types()) {
    for (const Case& test : kCases) {
      SCOPED_TRACE(fmt::format("{} in {}", test.name, to_string(type)));
      ConvolutionSpec spec = test.spec;
      spec.type = type;
      const Array x = rounded(type, random_array(spec.x.count(), 1)),
                  w = rounded(type, random_array(spec.weight_count(), 2)),
                  dy = rounded(type, random_array(spec.y().count(), 3));
      const DeviceArray device_x(*library_, x, type), device_w(*library_, w, type), device_dy(*library_, dy, type);
      const DeviceArray y(*library_, spec.y().count(), type), dx(*library_, spec.x.count(), type),
          dw(*library_, spec.weight_count());
      const auto op = library_->convolution(spec);
      op->load_weights(device_w);
      op->forward(device_x, y);
      op->backward_input(device_dy, dx);
      op->backward_weight(device_x, device_dy, dw);

      // A product is rounded once, and once for every addition it takes part in: as many as the longest sum has terms.
      const std::int64_t taps = spec.kernel * spec.kernel;
      expect_close("y", y, reference::convolution(spec, x, w),
                   rounding_bound(reference::convolution(spec, absolute(x), absolute(w)), taps * spec.x.c));
      expect_close(
          "dx", dx, reference::convolution_input(spec, dy, w),
          rounding_bound(reference::convolution_input(spec, absolute(dy), absolute(w)), taps * spec.num_filters));
      expect_close("dw", dw, reference::convolution_weight(spec, x, dy),
                   rounding_bound(reference::convolution_weight(spec, absolute(x), absolute(dy)), spec.y().pixels()));
    }
  }
}

TEST_P(ConvolutionTest, FirstLayerWithoutInputGradientEqualsTheSameWithIt) {
  ConvolutionSpec spec{{2, 28, 28, 1}, 16, 3, 1, 1};
  const DeviceArray x(*library_, random_array(spec.x.count(), 1)), w(*library_, random_array(spec.weight_count(), 2)),
      dy(*library_, random_array(spec.y().count(), 3));
  std::vector<std::vector<std::uint32_t>> results;
  for (const bool needs_dx : {true, false}) {
    spec.needs_dx = needs_dx;
    const DeviceArray y(*library_, spec.y().count()), dw(*library_, spec.weight_count());
    const auto op = library_->convolution(spec);
    op->load_weights(w);
    op->forward(x, y);
    op->backward_weight(x, dy, dw);
    results.push_back(bits(y));
    results.push_back(bits(dw));
  }
  EXPECT_EQ(results[0], results[2]);
  EXPECT_EQ(results[1], results[3]);
}

TEST_P(ConvolutionTest, GivesTheSumsOfWhatItStored) {
  bool any = false;
  for (const DataType type : types()) {
    ConvolutionSpec spec{{2, 9, 7, 16}, 32, 3, 1, 1};
    spec.type = type;
    const auto op = library_->convolution(spec);
    if (!op->gives_sums()) continue;
    any = true;
    const auto run = [&](const void* w, const void* x, void* y, const ops::ChannelSums& sums) {
      op->load_weights(w);
      op->forward_with_sums(x, y, sums);
    };
    expect_sums_of_output(*library_, spec, run);
  }
  if (!any) GTEST_SKIP() << "no engine of this library gives sums";
}

TEST_P(ConvolutionTest, SumsTheGradientsOfTheBatchNormBefore) {
  bool any = false;
  for (const DataType type : types()) {
    for (ConvolutionSpec spec :
         {ConvolutionSpec{{2, 9, 7, 16}, 32, 3, 1, 1}, ConvolutionSpec{{2, 8, 8, 24}, 16, 3, 2, 1},
          ConvolutionSpec{{3, 7, 7, 64}, 128, 1, 1, 0}}) {
      SCOPED_TRACE(fmt::format("{} in {}", to_string(spec.x), to_string(type)));
      spec.type = type;
      EXPECT_FALSE(library_->convolution(spec)->sums_gradients()) << "x is any x";
      spec.x_is_normalised = true;
      const auto op = library_->convolution(spec);
      if (!op->sums_gradients()) continue;
      any = true;
      expect_sums_of_gradients(*library_, spec, [&](const void* w, const void* dy, const auto& in, const auto& out) {
        op->load_weights(w);
        op->backward_input_with_sums(dy, in, out);
      });
    }
  }
  if (!any) GTEST_SKIP() << "no engine of this library sums gradients, or none is the faster for it";
}

TEST_P(ConvolutionTest, NormalisesWhatItReads) {
  bool any = false;
  for (const DataType type : types()) {
    for (ConvolutionSpec spec :
         {ConvolutionSpec{{2, 9, 7, 16}, 32, 3, 1, 1}, ConvolutionSpec{{2, 8, 8, 24}, 16, 3, 2, 1},
          ConvolutionSpec{{3, 7, 7, 320}, 64, 1, 1, 0}}) {
      SCOPED_TRACE(fmt::format("{} in {}", to_string(spec.x), to_string(type)));
      spec.type = type;
      EXPECT_FALSE(library_->convolution(spec)->normalises()) << "x is any x";
      spec.x_is_normalised = true;
      const auto op = library_->convolution(spec);
      if (!op->normalises()) continue;
      any = true;
      expect_normalised_forward(*library_, spec, [&](const void* w, const auto& in, void* y, const auto& sums) {
        op->load_weights(w);
        op->normalise_and_forward(in, y, sums);
      });
      // The engine may round dw to 16 bits.
      expect_normalised_gradient(*library_, spec, DataType::kFloat32, [&](const auto& in, const void* dy, float* dw) {
        op->normalise_and_backward_weight(in, dy, dw);
      });
    }
  }
  if (!any) GTEST_SKIP() << "no engine of this library normalises, or none is the faster for it";
}

TEST_P(ConvolutionTest, SeesNewWeightsAfterLoading) {
  for (const DataType type : types()) {
    SCOPED_TRACE(to_string(type));
    ConvolutionSpec spec{{1, 5, 5, 16}, 16, 3, 1, 1};
    spec.type = type;
    const DeviceArray x(*library_, random_array(spec.x.count(), 1), type);
    const DeviceArray w(*library_, random_array(spec.weight_count(), 2), type);
    const DeviceArray y(*library_, spec.y().count(), type), again(*library_, spec.y().count(), type);
    const auto op = library_->convolution(spec);
    op->load_weights(w);
    op->forward(x, y);
    EXPECT_NE(y.values(), std::vector<float>(index(spec.y().count()), 0.0f));
    const std::vector<std::byte> zeros(index(spec.weight_count() * size_of(type)));
    library_->device().copy_to_device(w.data(), zeros.data(), std::ssize(zeros));
    op->load_weights(w);
    op->forward(x, again);
    EXPECT_EQ(again.values(), std::vector<float>(index(spec.y().count()), 0.0f));
  }
}

/// Bits of y, dx and dw, on fresh memory.
std::vector<std::vector<std::uint32_t>> results_of(ops::Library& library, ops::ConvolutionOp& op,
                                                   const ConvolutionSpec& spec) {
  const DeviceArray x(library, random_array(spec.x.count(), 1), spec.type),
      w(library, random_array(spec.weight_count(), 2), spec.type),
      dy(library, random_array(spec.y().count(), 3), spec.type);
  const DeviceArray y(library, spec.y().count(), spec.type), dx(library, spec.x.count(), spec.type),
      dw(library, spec.weight_count());
  op.load_weights(w);
  op.forward(x, y);
  op.backward_input(dy, dx);
  op.backward_weight(x, dy, dw);
  return {bits(y), bits(dx), bits(dw)};
}

// Shapes large enough for sums to be split among threads. A second library plans anew; and an operation must follow the
// scratch memory when a larger one, planned later, has moved it.
TEST_P(ConvolutionTest, GivesTheSameBitsInEveryRun) {
  const std::vector<ConvolutionSpec> specs = {{{8, 14, 14, 64}, 64, 3, 1, 1},
                                              {{8, 16, 16, 16}, 16, 3, 1, 1},
                                              {{4, 28, 28, 1}, 16, 3, 1, 1},
                                              {{8, 7, 7, 128}, 256, 1, 2, 0},
                                              {{4, 9, 9, 37}, 37, 3, 1, 1}};
  for (const DataType type : types()) {
    for (ConvolutionSpec spec : specs) {
      SCOPED_TRACE(fmt::format("{}, {}", to_string(spec.x), to_string(type)));
      spec.type = type;
      std::vector<std::vector<std::uint32_t>> first;
      for (int repeat = 0; repeat < 3; ++repeat) {
        const auto library = another_library();
        const auto op = library->convolution(spec);
        const auto before = results_of(*library, *op, spec);
        const auto larger = library->convolution({{8, 28, 28, 64}, 64, 3, 1, 1, true, type});
        const auto after = results_of(*library, *op, spec);
        if (first.empty()) first = before;
        EXPECT_EQ(first, before);
        EXPECT_EQ(first, after);
      }
    }
  }
}

CONVOY_RUN_ON_ALL_LIBRARIES(ConvolutionTest);

}  // namespace
}  // namespace convoy
