/// The loader takes any kind of input: a path of number sequences goes through its threads, order, ranks and restarts
/// as images do.
#include "convoy/data/sample_path.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/random.h"
#include "convoy/data/loader.h"
#include "convoy/device/device.h"

#include "emulation/emulated_backend.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;

constexpr const char* kSequence = "sequence";  // (N,T,1,1): numbers, then zeros
constexpr const char* kLength = "length";      // (N) std::int32_t; 0 past the data's end
constexpr std::int64_t kNumSamples = 29, kMicro = 4, kBatch = 8, kStepsPerEpoch = 4, kSteps = 10, kTime = 7;
constexpr std::int64_t kNumMicroBatches = kBatch / kMicro;  // 4 steps of 8: 3 places after the last sample

// --- What samples are ------------------------------------------------------------------------------------------------

std::int32_t length_of(std::int64_t sample) {
  return sample == kNoSample ? 0 : static_cast<std::int32_t>(1 + sample * 5 % kTime);
}

std::int32_t label_of(std::int64_t sample) {
  return sample == kNoSample ? -1 : static_cast<std::int32_t>(sample % 3);
}

// Returns numbers that count up from one that is drawn anew in each epoch.
std::vector<float> sequence_of(std::int64_t epoch, std::int64_t sample) {
  std::vector<float> values(kTime);
  const RandomKey key{
      .seed = 5, .epoch = static_cast<std::uint64_t>(epoch), .item = static_cast<std::uint64_t>(sample)};
  for (std::int32_t t = 0; t < length_of(sample); ++t)
    values[static_cast<std::size_t>(t)] = static_cast<float>(random_below(key, 0, 1000)) + static_cast<float>(t);
  return values;
}

// --- Their path ------------------------------------------------------------------------------------------------------

class SequenceWriter final : public BufferWriter {
 public:
  explicit SequenceWriter(std::int64_t bad_sample) : bad_sample_(bad_sample) {}

  void write(const BatchSamples& batch, std::int64_t i, std::byte* buffer) override {
    const std::int64_t sample = batch.samples[static_cast<std::size_t>(i)];
    if (sample == bad_sample_) fail("it is bad");
    const std::vector<float> values = sequence_of(batch.epoch, sample);
    std::copy(values.begin(), values.end(), reinterpret_cast<float*>(buffer) + i * kTime);
  }
  void write_padding(std::int64_t i, std::byte* buffer) override {
    std::fill_n(reinterpret_cast<float*>(buffer) + i * kTime, kTime, 0.0f);
  }
  void finish(const BatchSamples&, std::byte*) override {}

 private:
  std::int64_t bad_sample_;
};

/// Copies a buffer straight to the feature's memory.
class SequenceReader final : public FeatureReader {
 public:
  SequenceReader(Device& device, std::int64_t bad_sample) : bad_sample_(bad_sample), lane_(device.make_copy_lane()) {}

  std::int64_t buffer_bytes() const override { return kMicro * kTime * kFloatBytes; }
  std::unique_ptr<BufferWriter> make_writer() const override { return std::make_unique<SequenceWriter>(bad_sample_); }
  bool ready() const override { return true; }
  void start(const std::byte* buffer) override { buffer_ = buffer; }
  void finish(void* to) override {
    while (!lane_->done()) std::this_thread::yield();
    lane_->mark();
    lane_->start_to_device(to, buffer_, buffer_bytes());
    lane_->join();
  }
  bool has_left() const override { return lane_->done(); }

 private:
  std::int64_t bad_sample_;
  std::unique_ptr<CopyLane> lane_;
  const std::byte* buffer_ = nullptr;
};

class SequencePath final : public SamplePath {
 public:
  explicit SequencePath(std::int64_t bad_sample = kNoSample) : bad_sample_(bad_sample) {}

  const std::vector<FeatureSpec>& features() const override { return features_; }
  std::unique_ptr<FeatureReader> open(std::string_view, ops::Backend& backend) const override {
    return std::make_unique<SequenceReader>(backend.device(), bad_sample_);
  }
  void look_up(std::string_view feature, const BatchSamples& batch, void* to) const override {
    for (std::size_t i = 0; i < batch.samples.size(); ++i)
      static_cast<std::int32_t*>(to)[i] = feature == kLength ? length_of(batch.samples[i]) : label_of(batch.samples[i]);
  }
  std::string describe(std::int64_t sample) const override { return fmt::format("sequence {}", sample); }

 private:
  std::int64_t bad_sample_;
  std::vector<FeatureSpec> features_ = {
      {.name = kSequence, .spec = {Shape::sequences(kMicro, kTime, 1), DataType::kFloat32}, .read_ahead = true},
      {.name = kLength, .spec = {Shape::vectors(kMicro, 1), DataType::kInt32}},
      {.name = features::kLabel, .spec = features::label_spec(kMicro)}};
};

// --- What a rank reads of them ---------------------------------------------------------------------------------------

const WantedFeature kWantedSequence{.name = kSequence,
                                    .spec = {Shape::sequences(kMicro, kTime, 1), DataType::kFloat32}};
const WantedFeature kWantedLength{.name = kLength, .spec = {Shape::vectors(kMicro, 1), DataType::kInt32}};
const WantedFeature kWantedLabel{
    .name = features::kLabel, .spec = {Shape::vectors(kMicro, 1), DataType::kInt32}, .by_host = true};

struct MicroBatch {
  std::vector<float> sequences;
  std::vector<std::int32_t> lengths, labels;
  bool operator==(const MicroBatch&) const = default;
};
using Step = std::vector<MicroBatch>;

struct Way {
  std::string name;
  std::unique_ptr<ops::Backend> (*make_backend)();
};

std::unique_ptr<ops::Backend> make_cpu_backend() {
  return ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
}

void PrintTo(const Way& way, std::ostream* out) {  // NOLINT: GoogleTest looks for this name
  *out << way.name;
}

class SamplePathTest : public testing::TestWithParam<Way> {
 protected:
  static LoaderSpec whole_batch() {
    return {.batch_global = kBatch,
            .batch_micro = kMicro,
            .num_micro_batches = kNumMicroBatches,
            .num_steps = kSteps,
            .steps_per_epoch = kStepsPerEpoch,
            .features = {kWantedSequence, kWantedLength, kWantedLabel}};
  }

  MicroBatch direct(std::int64_t step, std::int64_t micro_batch) const {
    MicroBatch batch;
    for (std::int64_t i = 0; i < kMicro; ++i) {
      const std::int64_t epoch = step / kStepsPerEpoch;
      const std::int64_t position = step % kStepsPerEpoch * kBatch + micro_batch * kMicro + i;
      const std::int64_t sample = position < kNumSamples ? sampler_.sample(epoch, position) : kNoSample;
      const std::vector<float> values = sequence_of(epoch, sample);
      batch.sequences.insert(batch.sequences.end(), values.begin(), values.end());
      batch.lengths.push_back(length_of(sample));
      batch.labels.push_back(label_of(sample));
    }
    return batch;
  }

  template <typename T>
  std::vector<T> load(Loader& loader, const char* feature, std::int64_t m, std::int64_t count) const {
    const Buffer memory(backend_->device(), count * static_cast<std::int64_t>(sizeof(T)));
    loader.load(feature, m, memory.data());
    std::vector<T> values(static_cast<std::size_t>(count));
    backend_->device().copy_to_host(values.data(), memory.data(), memory.size_bytes());
    return values;
  }

  /// Loads all features that the rank reads of a step.
  Step load_step(Loader& loader, const LoaderSpec& spec) const {
    const auto reads = [&](const char* name) {
      return std::ranges::find(spec.features, name, &WantedFeature::name) != spec.features.end();
    };
    Step step(static_cast<std::size_t>(spec.num_micro_batches));
    loader.begin_step();
    for (std::int64_t m = 0; m < spec.num_micro_batches; ++m) {
      MicroBatch& batch = step[static_cast<std::size_t>(m)];
      if (reads(kSequence)) batch.sequences = load<float>(loader, kSequence, m, kMicro * kTime);
      if (reads(kLength)) batch.lengths = load<std::int32_t>(loader, kLength, m, kMicro);
      if (!reads(features::kLabel)) continue;
      batch.labels.resize(kMicro);
      loader.load(features::kLabel, m, batch.labels.data());
    }
    return step;
  }

  Step direct_step(std::int64_t step) const {
    Step batches;
    for (std::int64_t m = 0; m < kNumMicroBatches; ++m) batches.push_back(direct(step, m));
    return batches;
  }

  SequencePath path_;
  Sampler sampler_{{.num_samples = kNumSamples, .seed = 9}};
  std::unique_ptr<ops::Backend> backend_ = GetParam().make_backend();
};

// --- Tests -----------------------------------------------------------------------------------------------------------

TEST_P(SamplePathTest, GivesTheSamplesInKeyedOrderForAnyThreadsAndReadAhead) {
  for (const std::int64_t threads : {1, 3}) {
    for (const std::int64_t read_ahead : {1, 5}) {
      LoaderSpec spec = whole_batch();
      spec.threads = threads;
      spec.read_ahead = read_ahead;
      Loader loader(path_, sampler_, *backend_, spec);
      for (std::int64_t step = 0; step < kSteps; ++step)
        ASSERT_EQ(load_step(loader, spec), direct_step(step))
            << threads << " threads, read_ahead " << read_ahead << ", step " << step;
    }
  }
}

TEST_P(SamplePathTest, TwoReplicasTogetherReadWhatOneRankReads) {
  LoaderSpec first = whole_batch(), second = whole_batch();
  first.num_micro_batches = second.num_micro_batches = second.first_micro_batch = 1;
  Loader a(path_, sampler_, *backend_, first), b(path_, sampler_, *backend_, second);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    Step joined = load_step(a, first);
    for (MicroBatch& batch : load_step(b, second)) joined.push_back(std::move(batch));
    EXPECT_EQ(joined, direct_step(step)) << step;
  }
}

TEST_P(SamplePathTest, TwoStagesReadTheirFeaturesOfTheSameSamples) {
  LoaderSpec first = whole_batch(), last = whole_batch();
  first.features = {kWantedSequence, kWantedLength};
  last.features = {kWantedLength, kWantedLabel};
  Loader a(path_, sampler_, *backend_, first), b(path_, sampler_, *backend_, last);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const Step of_first = load_step(a, first), of_last = load_step(b, last);
    for (std::size_t m = 0; m < kNumMicroBatches; ++m) {
      const MicroBatch want = direct(step, static_cast<std::int64_t>(m));
      EXPECT_EQ(of_first[m], (MicroBatch{want.sequences, want.lengths, {}})) << step;
      EXPECT_EQ(of_last[m], (MicroBatch{{}, want.lengths, want.labels})) << step;
    }
  }
}

TEST_P(SamplePathTest, ResumedInMidEpochGoesOnAsIfNeverStopped) {
  for (const std::int64_t first : {1, 3, 4, 6}) {
    LoaderSpec spec = whole_batch();
    spec.first_step = first;
    spec.num_steps -= first;
    Loader resumed(path_, sampler_, *backend_, spec);
    for (std::int64_t step = first; step < kSteps; ++step)
      ASSERT_EQ(load_step(resumed, spec), direct_step(step)) << step;
  }
}

// Twelve layers of one chunk read the lengths of a micro-batch, and those of another chunk read them later.
TEST_P(SamplePathTest, WhatIsLookedUpMayBeReadInAnyOrderOfAStepAndAgain) {
  LoaderSpec spec = whole_batch();
  spec.features = {kWantedLength, kWantedLength};
  Loader loader(path_, sampler_, *backend_, spec);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    loader.begin_step();
    for (const std::int64_t m : {1, 0, 0, 1, 1})
      ASSERT_EQ(load<std::int32_t>(loader, kLength, m, kMicro), direct(step, m).lengths) << step;
  }
}

TEST_P(SamplePathTest, LookUpsReachTheDeviceInOrderWithItsWork) {
  LoaderSpec spec = whole_batch();
  spec.features = {kWantedLength};
  Loader loader(path_, sampler_, *backend_, spec);
  const Buffer lengths(backend_->device(), kMicro * 4);
  HostBuffer seen(backend_->device(), kSteps * kNumMicroBatches * kMicro * 4);
  const auto lane = backend_->device().make_copy_lane();
  for (std::int64_t s = 0; s < kSteps * kNumMicroBatches; ++s) {
    if (s % kNumMicroBatches == 0) loader.begin_step();
    loader.load(kLength, s % kNumMicroBatches, lengths.data());
    while (!lane->done()) std::this_thread::yield();
    lane->mark();
    lane->start_to_host(seen.data() + s * kMicro * 4, lengths.data(), kMicro * 4);
    lane->join();
  }
  backend_->device().synchronize();
  const auto* values = reinterpret_cast<const std::int32_t*>(seen.data());
  for (std::int64_t s = 0; s < kSteps * kNumMicroBatches; ++s, values += kMicro)
    EXPECT_EQ(std::vector<std::int32_t>(values, values + kMicro),
              direct(s / kNumMicroBatches, s % kNumMicroBatches).lengths)
        << s;
}

TEST_P(SamplePathTest, ABadSampleIsNamedByThePathOrPaddedAndListed) {
  const SequencePath path(3);
  const Sampler in_order({.num_samples = kNumSamples, .seed = 1, .shuffle = false});
  LoaderSpec spec = whole_batch();
  Loader strict(path, in_order, *backend_, spec);
  strict.begin_step();
  EXPECT_EQ(message_of<Error>([&] { load<float>(strict, kSequence, 0, kMicro * kTime); }),
            "sequence 3 cannot be used: it is bad");
  spec.skips_bad = true;
  Loader loader(path, in_order, *backend_, spec);
  const Step step = load_step(loader, spec);
  EXPECT_EQ(std::vector<float>(step[0].sequences.end() - kTime, step[0].sequences.end()), std::vector<float>(kTime));
  const auto places = loader.bad_flags();
  EXPECT_EQ(std::vector<std::uint8_t>(places.begin(), places.end()),
            (std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0, 0, 0}));
  const std::vector<BadSample> bad = loader.take_bad();
  ASSERT_EQ(bad.size(), 1u);
  EXPECT_EQ(bad[0].sample, 3);
  load_step(loader, spec);
  EXPECT_EQ(loader.bad_flags()[3], 0) << "the next step's places are its own";
}

TEST_P(SamplePathTest, FeaturesThatThePathDoesNotGiveSoAreRefused) {
  const auto refusal = [&](std::vector<WantedFeature> wanted) {
    LoaderSpec spec = whole_batch();
    spec.features = std::move(wanted);
    return message_of<Error>([&] { Loader(path_, sampler_, *backend_, spec); });
  };
  WantedFeature image = kWantedSequence, shorter = kWantedSequence, floats = kWantedLength, of_host = kWantedLength;
  image.name = features::kImage;
  shorter.spec.shape.h = 6;
  floats.spec.type = DataType::kFloat32;
  of_host.by_host = true;
  EXPECT_EQ(refusal({image}), "loader: these samples have no image");
  EXPECT_EQ(refusal({shorter}), "loader: sequence is read as 4x6x1x1 f32, but these samples provide 4x7x1x1 f32");
  EXPECT_EQ(refusal({floats}), "loader: length is read as 4x1x1x1 f32, but these samples provide 4x1x1x1 i32");
  EXPECT_EQ(refusal({kWantedSequence, kWantedSequence}), "loader: sequence can be read by one cell only");
  EXPECT_EQ(refusal({kWantedLength, of_host}),
            "loader: length is read by the host and by the device, but only one of them can read it");
}

TEST_P(SamplePathTest, WhatTheRankDoesNotReadOrNoStepHasIsRefused) {
  LoaderSpec spec = whole_batch();
  spec.features = {kWantedLength};
  Loader loader(path_, sampler_, *backend_, spec);
  const Buffer memory(backend_->device(), kMicro * 4);
  const auto refusal = [&](const char* feature, std::int64_t m) {
    return message_of<Error>([&] { loader.load(feature, m, memory.data()); });
  };
  EXPECT_CONTAINS(refusal(kLength, 0), "was requested, but no step has begun, or it has only 2 micro-batches");
  loader.begin_step();
  EXPECT_CONTAINS(refusal(kLength, kNumMicroBatches), "length of micro-batch 2 was requested");
  EXPECT_EQ(refusal(features::kLabel, 0), "loader: this rank does not read label");
  EXPECT_EQ(refusal(kLength, 0), "(nothing was thrown)");
}

INSTANTIATE_TEST_SUITE_P(, SamplePathTest,
                         testing::Values(Way{"OnTheHost", make_cpu_backend},
                                         Way{"OnTheDevice", emulation::make_emulated_backend}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace convoy
