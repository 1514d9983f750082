/// Random changes of arrays: by plain steps, drawn from the sample and the epoch alone, for every number of threads.
#include "data/arrays/array_edits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/random.h"
#include "convoy/data/loader.h"
#include "convoy/data/make_sample_path.h"
#include "convoy/device/device.h"
#include "convoy/io/dataset.h"
#include "convoy/io/shard_writer.h"
#include "convoy/ops/softmax_cross_entropy.h"
#include "convoy/params/parameters.h"

#include "data/draw_mix.h"
#include "unit/io/array_samples.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;
using Values = std::vector<float>;

constexpr std::uint64_t kSeed = 7;

std::uint64_t drawn(Purpose purpose, std::int64_t epoch, std::int64_t sample, std::uint64_t index,
                    std::uint64_t bound) {
  return random_below({kSeed, purpose, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(sample)}, index,
                      bound);
}

/// An array of rows and columns of pixels.
struct Picture {
  Shape shape;
  Values values;

  float& at(std::int64_t y, std::int64_t x, std::int64_t c) {
    return values[static_cast<std::size_t>((y * shape.w + x) * shape.c + c)];
  }
};

template <typename Source>
Picture made(const Shape& shape, const Source& source) {
  Picture result{shape, Values(static_cast<std::size_t>(shape.count()))};
  for (std::int64_t y = 0; y < shape.h; ++y)
    for (std::int64_t x = 0; x < shape.w; ++x)
      for (std::int64_t c = 0; c < shape.c; ++c) result.at(y, x, c) = source(y, x, c);
  return result;
}

Picture numbered(const Shape& shape) {
  return made(shape, [&](auto y, auto x, auto c) { return static_cast<float>(100 * y + 10 * x + c + 1); });
}

// The definitions, step by step.
Picture cropped(Picture p, std::int64_t dy, std::int64_t dx, BorderKind border) {
  return made(p.shape, [&](std::int64_t y, std::int64_t x, std::int64_t c) {
    y += dy, x += dx;
    const std::int64_t h = p.shape.h, w = p.shape.w;
    const bool is_outside = y < 0 || y >= h || x < 0 || x >= w;
    if (is_outside && border == BorderKind::kBlack) return 0.0f;
    if (y < 0) y = -y;
    if (y >= h) y = 2 * h - 2 - y;
    if (x < 0) x = -x;
    if (x >= w) x = 2 * w - 2 - x;
    return p.at(y, x, c);
  });
}
Picture flipped(Picture p, bool columns, bool rows) {
  return made(p.shape, [&](auto y, auto x, auto c) {
    return p.at(rows ? p.shape.h - 1 - y : y, columns ? p.shape.w - 1 - x : x, c);
  });
}
// A quarter counterclockwise: what was the last column becomes the first row.
Picture turned(Picture p) {
  return made(p.shape, [&](auto y, auto x, auto c) { return p.at(x, p.shape.w - 1 - y, c); });
}

Values edited(const AugmentParams& params, const Picture& from, std::int64_t epoch, std::int64_t sample,
              std::uint64_t number = 0) {
  Values to(from.values.size());
  ArrayEditor(params, kSeed, from.shape, number, true).edit(epoch, sample, from.values, to);
  return to;
}

TEST(ArrayEditor, MovesPixelsByCropThenFlipsThenTurns) {
  for (const BorderKind border : {BorderKind::kBlack, BorderKind::kReflect}) {
    const AugmentParams params{.crop_padding = 3, .border = border, .flip = true, .flip_rows = true, .turn = true};
    const Picture picture = numbered(Shape::images(1, 5, 5, 2));
    std::set<Values> results;
    for (std::int64_t i = 0; i < 200; ++i) {
      const std::int64_t epoch = i / 100, sample = i % 100;
      const auto of = [&](Purpose purpose, std::uint64_t index, std::uint64_t bound) {
        return static_cast<std::int64_t>(drawn(purpose, epoch, sample, index, bound));
      };
      Picture expected = cropped(picture, of(Purpose::kCrop, 0, 7) - 3, of(Purpose::kCrop, 1, 7) - 3, border);
      expected = flipped(expected, of(Purpose::kFlip, 0, 2) == 1, of(Purpose::kFlipRows, 0, 2) == 1);
      for (std::int64_t turn = of(Purpose::kQuarterTurn, 0, 4); turn > 0; --turn) expected = turned(expected);
      const Values result = edited(params, picture, epoch, sample);
      ASSERT_EQ(result, expected.values) << "epoch " << epoch << ", sample " << sample;
      results.insert(result);
    }
    // Of 7 x 7 shifts, 2 x 2 flips and 4 turns, 392 give different results, or 128 with reflections: 200 draws meet 157
    // or 97 of them on average.
    EXPECT_GT(results.size(), border == BorderKind::kBlack ? 120u : 75u);
  }
}

TEST(ArrayEditor, FlipsARectangleAndLeavesOtherArraysWhereTheyAre) {
  const Picture picture = numbered(Shape::images(1, 3, 4, 2));
  const AugmentParams params{.flip = true, .flip_rows = true};
  std::set<Values> results;
  for (std::int64_t sample = 0; sample < 64; ++sample) results.insert(edited(params, picture, 0, sample));
  EXPECT_EQ(results, (std::set<Values>{picture.values, flipped(picture, true, false).values,
                                       flipped(picture, false, true).values, flipped(picture, true, true).values}));
  const ArrayEditor still(params, kSeed, picture.shape, 0, /*moves=*/false);
  EXPECT_FALSE(still.edits());
  EXPECT_FALSE(ArrayEditor({}, kSeed, picture.shape, 0, true).edits());
}

TEST(ArrayEditor, MultipliesAndAddsNoiseWithOneRoundingPerOperation) {
  const AugmentParams params{.factor = 0.25, .noise = 0.5};
  const Picture picture = numbered(Shape::vectors(1, 7));
  for (const std::uint64_t number : {0, 1, 63})
    for (std::int64_t sample = 0; sample < 20; ++sample) {
      const auto key = [&](Purpose purpose) {
        return RandomKey{kSeed, purpose, 3, static_cast<std::uint64_t>(sample)};
      };
      const double u = random_uniform(key(Purpose::kValueFactor), 0);
      const auto factor = static_cast<float>(0.75 + 0.5 * u);
      EXPECT_TRUE(factor >= 0.75f && factor <= 1.25f);
      const Values result = edited(params, picture, 3, sample, number);
      for (std::size_t i = 0; i < result.size(); ++i) {
        const double normal = random_normals(key(Purpose::kNoise), (number << 32) + i / 4)[i % 4];
        const float product = picture.values[i] * factor;
        const auto noise = static_cast<float>(0.5 * normal);
        // The factor itself may be rounded from a value that differs in the last bit of a double.
        EXPECT_NEAR(result[i], product + noise, 2 * std::abs(product) * 0x1p-24) << i;
      }
    }
}

TEST(ArrayEditor, DrawsNoiseOfItsOwnForEachArraySampleAndEpoch) {
  const Picture zeros{Shape::vectors(1, 50'000), Values(50'000)};
  const AugmentParams params{.noise = 2};
  const Values noise = edited(params, zeros, 0, 0);
  for (const Values& other :
       {edited(params, zeros, 0, 1), edited(params, zeros, 1, 0), edited(params, zeros, 0, 0, 1)}) {
    double sum = 0, squares = 0, products = 0;
    for (std::size_t i = 0; i < noise.size(); ++i) {
      const double a = static_cast<double>(noise[i]) / 2, b = static_cast<double>(other[i]) / 2;
      sum += b, squares += b * b, products += a * b;
    }
    // Five standard errors: Var b = 1, Var b^2 = 2, Var a b = 1.
    const double error = 5 / std::sqrt(50'000.0);
    EXPECT_NEAR(sum / 50'000, 0, error);
    EXPECT_NEAR(squares / 50'000, 1, error * std::sqrt(2.0));
    EXPECT_NEAR(products / 50'000, 0, error);
  }
  EXPECT_EQ(noise, edited(params, zeros, 0, 0));
}

// --- In the path -----------------------------------------------------------------------------------------------------

constexpr std::int64_t kMicro = 4, kNumSteps = 6;  // 2 steps per epoch, the second with 2 padding samples

/// Six samples of a uint8 (8), b int16 (3, 2) and c uint8 (2, 2, 3).
class EditedArrays : public testing::Test {
 protected:
  void open(TargetKind kind) {
    io::DatasetInfo info = test::arrays_info(kind);
    info.arrays[0] = test::make_array("a", ElementType::kUint8, {8});
    info.arrays[2] = test::make_array("c", ElementType::kUint8, {2, 2, 3});
    test::write_arrays(directory_.path(), info, 2);
    dataset_ = std::make_unique<io::Dataset>(directory_.path(), "data.train");
    metadata_ = {.name = "",
                 .input = io::ArraysInput{.inputs = info.arrays},
                 .class_names = info.class_names,
                 .target = info.target};
  }
  std::unique_ptr<SamplePath> path(SampleView view = SampleView::kTraining) const {
    return make_sample_path({.samples = *dataset_, .metadata = metadata_, .params = params_, .view = view});
  }
  /// Returns the 32-bit values of a feature in all steps.
  template <typename T>
  std::vector<T> load(const SamplePath& path, const std::string& name, std::int64_t threads = 1) const {
    const auto feature = std::ranges::find(path.features(), name, &FeatureSpec::name);
    const Sampler sampler({.num_samples = test::kNumArraySamples, .seed = 3});
    Loader loader(path, sampler, *backend_,
                  {.batch_global = kMicro,
                   .batch_micro = kMicro,
                   .num_micro_batches = 1,
                   .num_steps = kNumSteps,
                   .steps_per_epoch = 2,
                   .features = {{.name = name, .spec = feature->spec}},
                   .threads = threads});
    std::vector<T> values;
    for (int step = 0; step < kNumSteps; ++step) {
      loader.begin_step();
      const auto count = static_cast<std::size_t>(feature->spec.bytes()) / sizeof(T);
      values.resize(values.size() + count);
      loader.load(name, 0, values.data() + values.size() - count);
    }
    return values;
  }
  /// The samples of each step, as the loader takes them.
  std::vector<BatchSamples> batches() const {
    const Sampler sampler({.num_samples = test::kNumArraySamples, .seed = 3});
    std::vector<BatchSamples> all;
    for (std::int64_t step = 0; step < kNumSteps; ++step) {
      BatchSamples batch{.epoch = step / 2, .micro_batch = step % 2, .samples = {}};
      for (std::int64_t i = step % 2 * kMicro; i < (step % 2 + 1) * kMicro; ++i)
        batch.samples.push_back(i < test::kNumArraySamples ? sampler.sample(batch.epoch, i) : kNoSample);
      all.push_back(batch);
    }
    return all;
  }

  const test::TemporaryDirectory directory_;
  std::unique_ptr<io::Dataset> dataset_;
  io::ModelMetadata metadata_;
  Parameters params_{.batch = {.global = kMicro, .micro = kMicro}};
  std::unique_ptr<ops::Backend> backend_ = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
};

TEST_F(EditedArrays, AreEditedByTheirSampleAndEpochForEveryNumberOfThreads) {
  open(TargetKind::kClass);
  const auto plain = path();
  params_.train.seed = kSeed;
  params_.augment = {.crop_padding = 1, .flip = true, .flip_rows = true, .turn = true, .factor = 0.5, .noise = 0.1};
  const auto arrays = path();
  for (std::size_t number = 0; number < 3; ++number) {
    const std::string& name = dataset_->info().arrays[number].name;
    const Values before = load<float>(*plain, name), after = load<float>(*arrays, name, 1);
    for (const std::int64_t threads : {2, 5}) EXPECT_EQ(load<float>(*arrays, name, threads), after);
    EXPECT_EQ(load<float>(*path(SampleView::kEvaluation), name), before);
    const Shape shape = array_shape(dataset_->info().arrays[number].dims);
    const ArrayEditor editor(params_.augment, kSeed, shape, number, name == "c");
    const auto count = static_cast<std::size_t>(shape.count());
    std::size_t first = 0;
    for (const BatchSamples& batch : batches())
      for (const std::int64_t sample : batch.samples) {
        Values expected(before.begin() + static_cast<std::ptrdiff_t>(first),
                        before.begin() + static_cast<std::ptrdiff_t>(first + count));
        if (sample != kNoSample) editor.edit(batch.epoch, sample, Values(expected), expected);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), after.begin() + static_cast<std::ptrdiff_t>(first)));
        first += count;
      }
  }
}

/// Samples of an image (6, 6, 2) and of a field with the same values.
class EditedFields : public EditedArrays {
 protected:
  static constexpr std::int64_t kSide = 6, kCount = kSide * kSide * 2;

  EditedFields() {
    const Target target{.kind = TargetKind::kNumbers,
                        .shape = Shape::images(1, kSide, kSide, 2),
                        .dims = {kSide, kSide, 2},
                        .mean = {1000, -1000},
                        .stddev = {10, 0.1}};
    const io::DatasetInfo info{.kind = input_kinds::kArrays,
                               .num_samples = test::kNumArraySamples,
                               .class_names = {"u", "v"},
                               .arrays = {test::make_array("picture", ElementType::kFloat32, {kSide, kSide, 2})},
                               .target = target};
    io::ShardWriter writer({directory_ / "train.h5"}, info);
    for (int i = 0; i < test::kNumArraySamples; ++i) {
      Values values;
      for (int k = 0; k < kCount; ++k) values.push_back(static_cast<float>(1 + i * kCount + k));
      values.insert(values.end(), values.begin(), values.end());
      writer.append(std::as_bytes(std::span(values)), {}, "");
    }
    writer.end_samples();
    writer.finish(info);
    writer.commit();
    dataset_ = std::make_unique<io::Dataset>(directory_.path(), "data.train");
    metadata_ = {.name = "",
                 .input = io::ArraysInput{.inputs = info.arrays, .normalizes = false},
                 .class_names = info.class_names,
                 .target = target};
    params_.train.seed = kSeed;
  }

  /// Expects that a value of the field is that of the image, and not known where the image shows a border or padding.
  /// Returns how many are not known.
  static std::int64_t expect_alike(const Values& images, const Values& fields) {
    EXPECT_EQ(images.size(), fields.size());
    std::int64_t num_unknown = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
      num_unknown += std::isnan(fields[i]) ? 1 : 0;
      EXPECT_TRUE(fields[i] == images[i] || (images[i] == 0 && std::isnan(fields[i]))) << i << ": " << fields[i];
    }
    return num_unknown;
  }
};

TEST_F(EditedFields, MoveAsTheImagesOfTheirSamplesForEveryNumberOfThreads) {
  constexpr std::int64_t kPadding = 6 * kCount;  // 2 samples in every second of 6 steps
  EXPECT_EQ(expect_alike(load<float>(*path(), "picture"), load<float>(*path(), features::kTarget)), kPadding);
  const Values still = load<float>(*path(), features::kTarget);
  for (const BorderKind border : {BorderKind::kBlack, BorderKind::kReflect}) {
    params_.augment = {.crop_padding = 2, .border = border, .flip = true, .flip_rows = true, .turn = true};
    const Values fields = load<float>(*path(), features::kTarget);
    EXPECT_NE(fields, still);
    const std::int64_t num_unknown = expect_alike(load<float>(*path(), "image"), fields);
    if (border == BorderKind::kReflect)
      EXPECT_EQ(num_unknown, kPadding) << "mirrored pixels are known";
    else
      EXPECT_GT(num_unknown, kPadding);
    for (const std::int64_t threads : {2, 5})
      expect_alike(load<float>(*path(), "image", threads), load<float>(*path(), features::kTarget, threads));
    expect_alike(load<float>(*path(SampleView::kEvaluation), "image"),
                 load<float>(*path(SampleView::kEvaluation), features::kTarget));
  }
}

TEST_F(EditedFields, GetNoNoiseAndNoFactorAndAreMixedAsTheirImages) {
  const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  const Values still = load<float>(*path(), features::kTarget);
  params_.augment = {.factor = 0.5, .noise = 0.1};
  EXPECT_TRUE(std::ranges::equal(load<float>(*path(), features::kTarget), still, same));
  params_.augment = {.flip = true, .mixup = 0.4};
  const Values images = load<float>(*path(), "image"), fields = load<float>(*path(), features::kTarget);
  EXPECT_FALSE(std::ranges::equal(fields, still, same));
  std::int64_t num_known = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (std::isnan(fields[i])) continue;  // a padding sample, or mixed with one
    EXPECT_EQ(fields[i], images[i]);
    ++num_known;
  }
  EXPECT_GE(num_known, 12 * kCount);
}

TEST_F(EditedFields, OfAnotherSizeThanTheImageAreNotMoved) {
  metadata_.target.dims = {3, 3, 2};
  metadata_.target.shape = Shape::images(1, 3, 3, 2);
  params_.augment = {.flip = true};
  EXPECT_EQ(
      message_of<RequestError>([&] { path(); }),
      "augment.flip = true moves the pixels of 'picture', 6 x 6, but the field that is answered has 3 x 3 pixels. "
      "Leave it out");
}

TEST_F(EditedArrays, AreMixedWithTheirLabelsOrTargets) {
  const auto expect_mixed = [&](const Values& before, const Values& after, bool may_be_nan) {
    const std::size_t count = before.size() / (kMicro * kNumSteps);
    std::size_t step = 0, num_mixed = 0;
    for (const BatchSamples& batch : batches()) {
      for (std::int64_t i = 0; i < kMicro; ++i) {
        const SampleMix mix = draw_mix(params_.augment, kSeed, {}, batch, i);
        num_mixed += mix.label_share > 0 ? 1 : 0;
        for (std::size_t k = 0; k < count; ++k) {
          const auto at = [&](std::int64_t place) {
            return (step * kMicro + static_cast<std::size_t>(place)) * count + k;
          };
          const float own = before[at(i)], partner = before[at(mix.image.partner)];
          const float a = (1 - mix.label_share) * own, b = mix.label_share * partner;
          const float expected = mix.label_share == 0 ? own : a + b, found = after[at(i)];
          if (may_be_nan && std::isnan(expected))
            EXPECT_TRUE(std::isnan(found));
          else
            EXPECT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(expected)) << at(i);
        }
      }
      ++step;
    }
    EXPECT_GE(num_mixed, 3u * 4) << "all but some whose partner is a padding sample";
  };
  for (const TargetKind kind : {TargetKind::kClass, TargetKind::kLabels, TargetKind::kNumbers}) {
    params_ = {.batch = {.global = kMicro, .micro = kMicro}};
    open(kind);
    const auto plain = path();
    params_.train.seed = kSeed;
    params_.augment.mixup = 0.4;
    const auto arrays = path();
    for (const char* const name : {"a", "c"})
      expect_mixed(load<float>(*plain, name), load<float>(*arrays, name, 2), false);
    if (kind != TargetKind::kClass) {
      expect_mixed(load<float>(*plain, features::kTarget), load<float>(*arrays, features::kTarget), true);
      continue;
    }
    const std::vector<std::int32_t> labels = load<std::int32_t>(*plain, features::kLabel);
    EXPECT_EQ(load<std::int32_t>(*arrays, features::kLabel), labels);
    const auto mixed = load<std::uint64_t>(*arrays, features::kMixedLabel);
    std::size_t place = 0;
    for (const BatchSamples& batch : batches())
      for (std::int64_t i = 0; i < kMicro; ++i, ++place) {
        const SampleMix mix = draw_mix(params_.augment, kSeed, {}, batch, i);
        const auto second = std::bit_cast<ops::MixedLabel>(mixed[place]);
        EXPECT_EQ(second.label,
                  labels[place - static_cast<std::size_t>(i) + static_cast<std::size_t>(mix.image.partner)]);
        EXPECT_EQ(second.share, mix.label_share);
      }
  }
}

TEST_F(EditedArrays, AreRefusedWhatTheirShapesDoNotAllow) {
  open(TargetKind::kClass);
  const auto refusal = [&](const AugmentParams& augment) {
    params_.augment = augment;
    return message_of<RequestError>([&] { path(); });
  };
  auto& inputs = std::get<io::ArraysInput>(metadata_.input).inputs;
  const std::vector<io::ArrayInfo> all = inputs;
  EXPECT_EQ(refusal({.crop_padding = 2, .border = BorderKind::kReflect}),
            "augment.crop_padding = 2 with augment.border = reflect: 'c' of 2 x 2 pixels allows at most 1.");
  EXPECT_EQ(refusal({.cutmix = 1}),
            "augment.cutmix = 1 changes images, and made for a test holds arrays. Leave it out");
  EXPECT_EQ(refusal({.crop = CropKind::kRandomResized}),
            "augment.crop = random_resized changes images, and made for a test holds arrays. Leave it out");
  inputs = {all[0], all[1]};
  EXPECT_EQ(
      refusal({.flip = true}),
      "augment.flip = true moves the pixels of one array with rows and columns, but data.train holds a uint8 (8), "
      "b int16 (3, 2). Leave it out");
  EXPECT_CONTAINS(refusal({.turn = true}), "augment.turn = true moves the pixels");
  EXPECT_CONTAINS(refusal({.crop_padding = 2}), "augment.crop_padding = 2 moves the pixels");
  EXPECT_EQ(refusal({.noise = 1}), test::kNothingThrown);
}

TEST_F(EditedArrays, AreTurnedOnlyIfTheyAreSquare) {
  params_.augment.turn = true;
  const auto refusal = [&](const std::vector<std::int64_t>& dims) {
    io::DatasetInfo info = test::arrays_info();
    info.arrays.back().dims = dims;
    const std::string directory = fmt::format("{}/{}", directory_.path(), fmt::join(dims, "x"));
    io::make_directory(directory);
    test::write_arrays(directory, info, 2);
    dataset_ = std::make_unique<io::Dataset>(directory, "data.train");
    metadata_ = {.name = "", .input = io::ArraysInput{.inputs = info.arrays}, .class_names = info.class_names};
    return message_of<RequestError>([&] { path(); });
  };
  EXPECT_EQ(refusal({1, 2, 3}),
            "augment.turn = true needs as many rows as columns, but 'c' of data.train has 1 x 2. Leave it out");
  EXPECT_EQ(refusal({1, 3, 2, 3}),
            "augment.turn = true needs as many rows as columns, but 'c' of data.train has 3 x 2. Leave it out");
  EXPECT_EQ(refusal({1, 2, 2, 3}), test::kNothingThrown);  // one slice
}

}  // namespace
}  // namespace convoy
