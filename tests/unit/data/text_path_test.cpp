/// What a network reads of texts, by the loader's threads and by look-up, on the host and on a device.
#include <tuple>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/data/loader.h"
#include "convoy/data/make_sample_path.h"
#include "convoy/device/device.h"
#include "convoy/ops/embedding.h"
#include "convoy/ops/softmax_cross_entropy.h"
#include "convoy/params/parameters.h"

#include "emulation/emulated_backend.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;
using Tokens = std::vector<std::int32_t>;

constexpr std::int64_t kMicro = 3, kLength = 4, kNumTexts = 5;

/// Text i has the tokens 10 i, 10 i + 1 ... i + 2 in all.
class Texts final : public io::SampleStore {
 public:
  Texts() {
    info_ = {.kind = input_kinds::kText, .num_samples = kNumTexts, .class_names = {"a", "b"}, .source = "here"};
  }

  const io::DatasetInfo& info() const override { return info_; }
  std::int64_t num_tokens(std::int64_t sample) const override { return sample + 2; }
  std::span<const std::int32_t> read_tokens(std::int64_t sample, Tokens& memory) const override {
    memory.clear();
    for (std::int64_t t = 0; t < num_tokens(sample); ++t) memory.push_back(static_cast<std::int32_t>(10 * sample + t));
    return memory;
  }
  std::int32_t label(std::int64_t sample) const override { return static_cast<std::int32_t>(sample % 2); }
  std::string name(std::int64_t sample) const override { return fmt::format("{}.txt", sample); }

 private:
  io::DatasetInfo info_;
};

class TextPathTest : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<SamplePath> path(SampleView view = SampleView::kTraining) const {
    return make_sample_path({.samples = texts_, .metadata = metadata_, .params = params_, .view = view});
  }

  Texts texts_;
  io::ModelMetadata metadata_{.input = io::TextInput{.length = kLength}};
  Parameters params_{.batch = {.global = kMicro, .micro = kMicro}};
  std::unique_ptr<ops::Backend> backend_ =
      GetParam() ? emulation::make_emulated_backend() : ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
};

TEST_P(TextPathTest, GivesTokensCutOrFilledTheirNumberAndLabels) {
  const auto texts = path();
  const Sampler in_order({.num_samples = kNumTexts, .shuffle = false});
  const LoaderSpec spec{.batch_global = kMicro,
                        .batch_micro = kMicro,
                        .num_micro_batches = 1,
                        .num_steps = 2,
                        .steps_per_epoch = 2,
                        .features = {{.name = features::kTokens, .spec = features::tokens_spec(kMicro, kLength)},
                                     {.name = features::kLength, .spec = features::length_spec(kMicro)},
                                     {.name = features::kLabel, .spec = features::label_spec(kMicro), .by_host = true}},
                        .threads = 2};
  Loader loader(*texts, in_order, *backend_, spec);
  const auto load = [&](const char* feature, std::int64_t count) {
    const Buffer memory(backend_->device(), count * 4);
    loader.load(feature, 0, memory.data());
    Tokens values(static_cast<std::size_t>(count));
    backend_->device().copy_to_host(values.data(), memory.data(), memory.size_bytes());
    return values;
  };
  const std::int32_t none = ops::kNoToken;
  for (const auto& [tokens, lengths, labels] :
       {std::tuple(Tokens{0, 1, none, none, 10, 11, 12, none, 20, 21, 22, 23}, Tokens{2, 3, 4}, Tokens{0, 1, 0}),
        std::tuple(Tokens{30, 31, 32, 33, 40, 41, 42, 43, none, none, none, none}, Tokens{4, 4, 1},
                   Tokens{1, 0, ops::kNoLabel})}) {
    loader.begin_step();
    EXPECT_EQ(load(features::kTokens, kMicro * kLength), tokens);
    EXPECT_EQ(load(features::kLength, kMicro), lengths);
    Tokens of_host(kMicro);
    loader.load(features::kLabel, 0, of_host.data());
    EXPECT_EQ(of_host, labels);
  }
  EXPECT_EQ(texts->describe(3), "sample 3 ('3.txt') of the texts from here");
}

TEST_P(TextPathTest, RefusesWhatIsDoneToImages) {
  params_.augment.flip = true;
  EXPECT_EQ(message_of<RequestError>([&] { path(); }),
            "augment.flip = true changes images, and here holds texts. Leave it out");
  params_.augment.flip = false;
  EXPECT_CONTAINS(message_of<RequestError>([&] { path(SampleView::kMirrored); }), "evaluate.mirror = true mirrors");
  EXPECT_NO_THROW(path(SampleView::kEvaluation));
}

INSTANTIATE_TEST_SUITE_P(, TextPathTest, testing::Values(false, true),
                         [](const auto& instance) { return instance.param ? "OnTheDevice" : "OnTheHost"; });

}  // namespace
}  // namespace convoy
