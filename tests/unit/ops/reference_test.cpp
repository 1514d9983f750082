/// The oracle's gradients against central differences of the oracle itself, all in double.
///   (f(x + h) - f(x - h)) / 2h = f'(x) + h^2 f'''/6 + rounding of about 2^-53 |f| / h
#include <cmath>

#include <gtest/gtest.h>

#include "reference/activation.h"
#include "reference/attention.h"
#include "reference/batch_norm.h"
#include "reference/channel_copy.h"
#include "reference/convolution.h"
#include "reference/embedding.h"
#include "reference/gather.h"
#include "reference/layer_norm.h"
#include "reference/linear.h"
#include "reference/pooling.h"
#include "reference/sample_cross_entropy.h"
#include "reference/sequence_mean.h"
#include "reference/softmax.h"
#include "reference/softmax_cross_entropy.h"
#include "reference/storage.h"
#include "reference/target_loss.h"

namespace convoy {
namespace {

using reference::Array;
using reference::dot;
using reference::numeric_gradient;
using reference::random_array;

void expect_near(const Array& got, const Array& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << i;
}

// A linear function has no third derivative: |f| < 1e3, h = 2^-10 leave 1e3 * 2^-53 * 2^10 = 1e-10.
constexpr double kLinearStep = 0x1p-10, kLinearTolerance = 1e-9;

// Others: these small cases have third derivatives below 1e2, h = 2^-13: 1e2 h^2 / 6 = 2.5e-7.
constexpr double kStep = 0x1p-13, kTolerance = 3e-7;

TEST(ReferenceConvolution, GradientsAreNumericOnes) {
  for (const ops::ConvolutionSpec& spec :
       {ops::ConvolutionSpec{Shape::images(2, 5, 4, 3), 2, 3, 1, 1},
        ops::ConvolutionSpec{Shape::images(1, 7, 6, 2), 3, 5, 3, 3},
        ops::ConvolutionSpec{Shape::images(2, 4, 5, 3), 2, 1, 2, 0},
        ops::ConvolutionSpec{.x = Shape::images(2, 4, 5, 6), .num_filters = 9, .kernel = 3, .padding = 1, .groups = 3},
        ops::ConvolutionSpec{
            .x = Shape::images(2, 6, 7, 3), .num_filters = 2, .kernel = 3, .stride = 2, .padding = 2, .dilation = 3}}) {
    const Array x = random_array(spec.x.count(), 1), w = random_array(spec.weight_count(), 2),
                dy = random_array(spec.y().count(), 3);
    const auto of_x = [&](const Array& at) { return dot(dy, reference::convolution(spec, at, w)); };
    const auto of_w = [&](const Array& at) { return dot(dy, reference::convolution(spec, x, at)); };
    expect_near(reference::convolution_input(spec, dy, w), numeric_gradient(of_x, x, kLinearStep), kLinearTolerance);
    expect_near(reference::convolution_weight(spec, x, dy), numeric_gradient(of_w, w, kLinearStep), kLinearTolerance);
  }
}

TEST(ReferenceAttention, GradientIsTheNumericOne) {
  const ops::AttentionSpec spec{.n = 2, .length = 5, .num_heads = 2, .head_width = 3, .dropout = 0.3f};
  const reference::Lengths lengths = {5, 2};
  const Array qkv = random_array(spec.n * spec.length * 3 * spec.width(), 61),
              dy = random_array(spec.n * spec.length * spec.width(), 62);
  const ops::DrawKey some{.seed = 1};
  for (const ops::DrawKey* key : {static_cast<const ops::DrawKey*>(nullptr), &some}) {
    const auto loss = [&](const Array& at) {
      return dot(dy, reference::attention(spec, reference::attention_weights(spec, at, lengths, key), at, lengths));
    };
    const auto weights = reference::attention_weights(spec, qkv, lengths, key);
    expect_near(reference::attention_gradient(spec, weights, qkv, lengths, dy), numeric_gradient(loss, qkv, kStep),
                kTolerance);
  }
}

TEST(ReferenceBatchNorm, GradientsAreNumericOnes) {
  for (const bool relu : {false, true}) {
    for (const bool residual : {false, true}) {
      const ops::BatchNormSpec spec{Shape::images(2, 3, 3, 3), relu, residual};
      const Array x = random_array(54, 11), r = random_array(54, 12), gamma = random_array(3, 13, 1, 0.5),
                  beta = random_array(3, 14), dy = random_array(54, 15);
      const auto forward = reference::batch_norm(spec, x, r, gamma, beta);
      for (const double argument : forward.argument) ASSERT_GT(std::abs(argument), 8 * kStep) << "too near the kink";
      const auto got = reference::batch_norm_gradient(spec, x, gamma, forward, dy);
      const auto loss = [&](const Array& a, const Array& b, const Array& c, const Array& d) {
        return dot(dy, reference::batch_norm(spec, a, b, c, d).y);
      };
      expect_near(got.dx, numeric_gradient([&](const Array& at) { return loss(at, r, gamma, beta); }, x, kStep),
                  kTolerance);
      expect_near(got.dgamma, numeric_gradient([&](const Array& at) { return loss(x, r, at, beta); }, gamma, kStep),
                  kTolerance);
      expect_near(got.dbeta, numeric_gradient([&](const Array& at) { return loss(x, r, gamma, at); }, beta, kStep),
                  kTolerance);
      if (!residual) continue;
      expect_near(got.dresidual, numeric_gradient([&](const Array& at) { return loss(x, at, gamma, beta); }, r, kStep),
                  kTolerance);
    }
  }
}

TEST(ReferencePooling, GradientsAreNumericOnes) {
  for (const ops::PoolingSpec& spec :
       {ops::PoolingSpec{Shape::images(2, 5, 6, 2), 3, 2, 1}, ops::PoolingSpec{Shape::images(1, 6, 6, 3), 2, 2, 0},
        ops::PoolingSpec{Shape::images(1, 5, 7, 1), 3, 1, 1},
        ops::PoolingSpec{.x = Shape::images(2, 5, 6, 2), .kernel = 3, .padding = 1, .counts_padding = true},
        ops::PoolingSpec{.x = Shape::images(2, 5, 6, 2), .adaptive_h = 3, .adaptive_w = 4}}) {
    const Array dy = random_array(spec.y().count(), 2);
    Array x = random_array(spec.x.count(), 1);
    const auto average = [&](const Array& at) { return dot(dy, reference::average_pool(spec, at)); };
    expect_near(reference::average_pool_gradient(spec, dy), numeric_gradient(average, x, kLinearStep),
                kLinearTolerance);
    if (spec.counts_padding || spec.is_adaptive()) continue;
    // All values at least 8 steps apart: no step changes a winner.
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 37 % x.size()) * 8 * kLinearStep;
    const auto maximum = [&](const Array& at) { return dot(dy, reference::max_pool(spec, at).y); };
    expect_near(reference::max_pool_gradient(spec, reference::max_pool(spec, x).winner, dy),
                numeric_gradient(maximum, x, kLinearStep), kLinearTolerance);
  }
  const Shape shape = Shape::images(2, 3, 5, 4);
  const Array x = random_array(shape.count(), 1), dy = random_array(shape.n * shape.c, 2);
  const auto global = [&](const Array& at) { return dot(dy, reference::global_average_pool(shape, at)); };
  expect_near(reference::global_average_pool_gradient(shape, dy), numeric_gradient(global, x, kLinearStep),
              kLinearTolerance);
}

TEST(ReferenceLinear, GradientsAreNumericOnes) {
  const ops::LinearSpec spec{3, 7, 5};
  const Array x = random_array(21, 1), w = random_array(35, 2), b = random_array(5, 3), dy = random_array(15, 4);
  const auto got = reference::linear_gradient(spec, x, w, dy);
  const auto loss = [&](const Array& a, const Array& v, const Array& c) {
    return dot(dy, reference::linear(spec, a, v, c));
  };
  expect_near(got.dx, numeric_gradient([&](const Array& at) { return loss(at, w, b); }, x, kLinearStep),
              kLinearTolerance);
  expect_near(got.dw, numeric_gradient([&](const Array& at) { return loss(x, at, b); }, w, kLinearStep),
              kLinearTolerance);
  expect_near(got.db, numeric_gradient([&](const Array& at) { return loss(x, w, at); }, b, kLinearStep),
              kLinearTolerance);
}

TEST(ReferenceLayerNorm, GradientsAreNumericOnes) {
  for (const ops::LayerNormSpec& spec : {ops::LayerNormSpec{.num_rows = 4, .width = 6},
                                         {.num_rows = 4, .width = 6, .is_centred = false},
                                         {.num_rows = 2, .width = 6, .num_pixels = 2, .num_groups = 3}}) {
    const Array x = random_array(24, 1), gamma = random_array(6, 2, 1, 0.5), beta = random_array(6, 3),
                dy = random_array(24, 4);
    const auto got = reference::layer_norm_gradient(spec, x, gamma, reference::layer_norm(spec, x, gamma, beta), dy);
    const auto loss = [&](const Array& a, const Array& b, const Array& c) {
      return dot(dy, reference::layer_norm(spec, a, b, c).y);
    };
    expect_near(got.dx, numeric_gradient([&](const Array& at) { return loss(at, gamma, beta); }, x, kStep), kTolerance);
    expect_near(got.dgamma, numeric_gradient([&](const Array& at) { return loss(x, at, beta); }, gamma, kStep),
                kTolerance);
    if (spec.is_centred)
      expect_near(got.dbeta, numeric_gradient([&](const Array& at) { return loss(x, gamma, at); }, beta, kStep),
                  kTolerance);
  }
}

TEST(ReferenceSoftmax, GradientIsNumericOne) {
  const ops::SoftmaxSpec spec{.num_rows = 3, .width = 5};
  const Array x = random_array(15, 1, 0, 3), dy = random_array(15, 2);
  const auto loss = [&](const Array& at) { return dot(dy, reference::softmax(spec, at)); };
  expect_near(reference::softmax_gradient(spec, reference::softmax(spec, x), dy).dx, numeric_gradient(loss, x, kStep),
              kTolerance);
}

TEST(ReferenceEmbedding, GradientIsNumericOne) {
  const ops::EmbeddingSpec spec{.n = 2, .length = 4, .num_rows = 5, .width = 3, .scale = 2, .sinusoids = true};
  const Array table = random_array(15, 1), dy = random_array(24, 2);
  const std::vector<std::int32_t> some = {4, 0, 0, ops::kNoToken, 2, 4, 4, ops::kNoToken}, positions;
  for (const auto& tokens : {some, positions}) {
    const auto loss = [&](const Array& at) { return dot(dy, reference::embedding(spec, tokens, at)); };
    expect_near(reference::embedding_gradient(spec, tokens, dy), numeric_gradient(loss, table, kLinearStep),
                kLinearTolerance);
  }
}

// Section 3.5 of the paper: the position k later is a rotation that depends on k alone, in each pair of values.
TEST(ReferenceEmbedding, SinusoidsOfLaterPositionsAreRotations) {
  const ops::EmbeddingSpec spec{.n = 1, .length = 50, .num_rows = 1, .width = 6, .sinusoids = true};
  EXPECT_EQ(reference::sinusoid(spec, 0, 0), 0);
  EXPECT_EQ(reference::sinusoid(spec, 0, 1), 1);
  EXPECT_NEAR(reference::sinusoid(spec, 3, 2), std::sin(3 / std::pow(10000, 1.0 / 3)), 1e-15);
  for (std::int64_t c = 0; c < 6; c += 2) {
    const auto sine = [&](std::int64_t t) { return reference::sinusoid(spec, t, c); };
    const auto cosine = [&](std::int64_t t) { return reference::sinusoid(spec, t, c + 1); };
    for (std::int64_t t = 0; t < 40; ++t)
      EXPECT_NEAR(sine(t + 7), sine(t) * cosine(7) + cosine(t) * sine(7), 1e-13) << t << ", " << c;
  }
}

TEST(ReferenceSequenceMean, GradientIsNumericOne) {
  const ops::SequenceMeanSpec spec{.n = 4, .length = 5, .width = 3};
  const std::vector<std::int32_t> lengths = {5, 1, 3, 0};
  const Array x = random_array(60, 1), dy = random_array(12, 2);
  const auto loss = [&](const Array& at) { return dot(dy, reference::sequence_mean(spec, lengths, at)); };
  expect_near(reference::sequence_mean_gradient(spec, lengths, dy), numeric_gradient(loss, x, kLinearStep),
              kLinearTolerance);
}

TEST(ReferenceGather, GradientIsNumericOne) {
  const ops::GatherSpec spec{.n = 2, .length = 5, .num_taken = 4, .width = 3};
  const std::vector<std::int32_t> positions = {4, 0, 4, 1, ops::kNoPosition, 2, 3, ops::kNoPosition};
  const Array x = random_array(30, 1), dy = random_array(24, 2);
  const auto loss = [&](const Array& at) { return dot(dy, reference::gather(spec, positions, at)); };
  expect_near(reference::gather_gradient(spec, positions, dy), numeric_gradient(loss, x, kLinearStep),
              kLinearTolerance);
}

TEST(ReferenceSampleCrossEntropy, GradientIsNumericOne) {
  const ops::SampleCrossEntropySpec spec{.n = 3, .num_rows = 3, .num_classes = 4};
  const std::vector<std::int32_t> labels = {0, 3, ops::kNoLabel, 1, 1, 2, ops::kNoLabel, ops::kNoLabel, ops::kNoLabel};
  const Array logits = random_array(36, 1, 0, 3), dloss = random_array(3, 2);
  const auto loss = [&](const Array& at) { return dot(dloss, reference::sample_scores(spec, labels, at).loss); };
  expect_near(reference::sample_gradient(spec, labels, logits, dloss), numeric_gradient(loss, logits, kStep),
              kTolerance);
}

TEST(ReferenceTargetLoss, GradientIsNumericOne) {
  for (const auto kind : {ops::TargetLossKind::kBinaryCrossEntropy, ops::TargetLossKind::kSquaredError,
                          ops::TargetLossKind::kAbsoluteError, ops::TargetLossKind::kHuberError}) {
    const ops::TargetLossSpec spec{.n = 3,
                                   .num_pixels = 5,
                                   .num_outputs = 2,
                                   .kind = kind,
                                   .huber_delta = 0.75f,
                                   .mean = {0.25, -0.5},
                                   .stddev = {2, 0},
                                   .weights = {3, 0.5f}};
    const Array outputs = random_array(30, 1, 0, 3), dloss = random_array(3, 2);
    Array targets = random_array(30, 3);
    targets[4] = targets[20] = std::nan("");
    for (std::int64_t i = 0; i < 30; ++i) {
      const double d =
          outputs[reference::index(i)] - static_cast<double>(reference::target_of(spec, targets, i).target);
      ASSERT_FALSE(std::abs(d) < 8 * kStep || std::abs(std::abs(d) - 0.75) < 8 * kStep) << "too near a kink";
    }
    const auto loss = [&](const Array& at) { return dot(dloss, reference::target_scores(spec, targets, at).loss); };
    expect_near(reference::target_gradient(spec, targets, outputs, dloss), numeric_gradient(loss, outputs, kStep),
                kTolerance);
  }
}

TEST(ReferenceActivation, GradientIsNumericOne) {
  for (int kind = 0; kind <= static_cast<int>(ops::Activation::kAffine); ++kind) {
    const ops::ActivationSpec spec{
        .activation = static_cast<ops::Activation>(kind), .factor = 0.25f, .constant = -1.5f};
    const Array x = random_array(50, 1, 0, 5), dy = random_array(50, 2);
    for (const double value : x) {
      ASSERT_GT(std::abs(value), 8 * kStep) << "too near ReLU's kink";
      ASSERT_GT(std::abs(std::abs(value) - 3), 8 * kStep) << "too near a kink of the hard sigmoid";
    }
    const auto loss = [&](const Array& at) { return dot(dy, reference::activation(spec, at)); };
    expect_near(reference::activation_gradient(spec, x, dy), numeric_gradient(loss, x, kStep), kTolerance);
  }
}

TEST(ReferenceChannelCopy, GradientIsNumericOne) {
  const ops::ChannelCopySpec spec{
      .x = Shape::images(2, 5, 4, 5), .num_channels = 6, .count = 3, .x_first = 1, .y_first = 2, .stride = 2};
  const Array x = random_array(spec.x.count(), 1), dy = random_array(spec.y().count(), 2);
  const auto loss = [&](const Array& at) { return dot(dy, reference::channel_copy(spec, at, Array(dy.size()))); };
  expect_near(reference::channel_copy_gradient(spec, dy, Array(x.size())), numeric_gradient(loss, x, kLinearStep),
              kLinearTolerance);
}

TEST(ReferenceSoftmaxCrossEntropy, GradientIsNumericOne) {
  for (const float smoothing : {0.0f, 0.1f}) {
    const ops::SoftmaxCrossEntropySpec spec{4, 5, smoothing, 1};
    const std::vector<std::int32_t> labels = {0, 4, ops::kNoLabel, 2};
    const Array logits = random_array(20, 1, 0, 3);
    const auto loss = [&](const Array& at) { return reference::softmax_cross_entropy(spec, at, labels).sums.loss; };
    expect_near(reference::softmax_cross_entropy(spec, logits, labels).dlogits, numeric_gradient(loss, logits, kStep),
                kTolerance);
  }
}

TEST(ReferenceStorage, BitsAndValuesOfSixteenBitTypesAreOneToOneAndInOrder) {
  for (const DataType type : {DataType::kBfloat16, DataType::kFloat16}) {
    const std::uint32_t infinity = reference::encoded(type, HUGE_VAL);
    EXPECT_EQ(infinity, type == DataType::kBfloat16 ? 0x7f80u : 0x7c00u);
    for (std::uint32_t bits = 0; bits <= infinity; ++bits) {
      const double value = reference::decoded(type, bits);
      ASSERT_EQ(reference::encoded(type, value), bits);
      ASSERT_EQ(reference::encoded(type, -value), bits | 0x8000u);
      ASSERT_EQ(reference::rounded(type, value), value);
      if (bits == 0) continue;
      ASSERT_LT(reference::decoded(type, bits - 1), value);
    }
    EXPECT_TRUE(std::isnan(reference::decoded(type, reference::encoded(type, std::nan("")))));
  }
}

TEST(ReferenceStorage, HoldsWhatTheFormatsAreKnownFor) {
  EXPECT_EQ(reference::encoded(DataType::kBfloat16, 1.0), 0x3f80u);
  EXPECT_EQ(reference::encoded(DataType::kFloat16, 1.0), 0x3c00u);
  EXPECT_EQ(reference::encoded(DataType::kFloat16, 65504.0), 0x7bffu);
  EXPECT_EQ(reference::encoded(DataType::kFloat16, 0x1p-24), 1u);
  EXPECT_EQ(reference::encoded(DataType::kFloat32, -1.5), 0xbfc00000u);
  EXPECT_EQ(reference::encoded(DataType::kFloat32, 0x1p-149), 1u);
}

TEST(ReferenceStorage, RoundsToNearestEvenAndToInfinity) {
  EXPECT_EQ(reference::rounded(DataType::kBfloat16, 1 + 0x1p-8), 1);           // a tie, 1 is even
  EXPECT_EQ(reference::rounded(DataType::kBfloat16, 1 + 0x3p-8), 1 + 0x1p-6);  // a tie, odd below
  EXPECT_EQ(reference::rounded(DataType::kBfloat16, 1 + 0x1.01p-8), 1 + 0x1p-7);
  EXPECT_EQ(reference::rounded(DataType::kFloat16, 65519.0), 65504);
  EXPECT_EQ(reference::rounded(DataType::kFloat16, -65520.0), -HUGE_VAL);
  EXPECT_EQ(reference::rounded(DataType::kFloat16, 0x1p-25), 0);
  EXPECT_EQ(reference::rounded(DataType::kFloat16, 0x1.8p-25), 0x1p-24);
  for (const float value : {0.1f, -3e38f, 1e-45f, 1.17549421e-38f}) {
    EXPECT_EQ(reference::rounded(DataType::kFloat32, value), value);
  }
}

}  // namespace
}  // namespace convoy
