/// The pairs of spans and the masked words that BERT is trained on: what must hold for each, and how often each case is
/// drawn.
#include "data/text/masked_pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "convoy/base/features.h"
#include "convoy/base/special_tokens.h"
#include "convoy/data/loader.h"
#include "convoy/data/make_sample_path.h"
#include "convoy/device/device.h"
#include "convoy/ops/embedding.h"
#include "convoy/ops/gather.h"
#include "convoy/ops/softmax_cross_entropy.h"
#include "convoy/params/parameters.h"

#include "emulation/emulated_backend.h"

namespace convoy {
namespace {

using Tokens = std::vector<std::int32_t>;
using special_tokens::kBegin, special_tokens::kMask, special_tokens::kSeparator;

constexpr std::int64_t kLength = 32, kVocabulary = 100'000;

/// Text i has the tokens 1000 i + 10, 1000 i + 11, ...: a token tells its position.
class Texts final : public io::SampleStore {
 public:
  explicit Texts(std::vector<std::int64_t> lengths) : lengths_(std::move(lengths)) {
    info_ = {.kind = input_kinds::kText,
             .num_samples = std::ssize(lengths_),
             .class_names = {"a", "b"},
             .text = {.tokenization = {.vocabulary = kVocabulary}},
             .source = "here"};
  }

  static std::int32_t token(std::int64_t sample, std::int64_t at) {
    return static_cast<std::int32_t>(1000 * sample + 10 + at);
  }
  const io::DatasetInfo& info() const override { return info_; }
  std::int64_t num_tokens(std::int64_t sample) const override { return lengths_[static_cast<std::size_t>(sample)]; }
  std::span<const std::int32_t> read_tokens(std::int64_t sample, Tokens& memory) const override {
    memory.clear();
    for (std::int64_t t = 0; t < num_tokens(sample); ++t) memory.push_back(token(sample, t));
    return memory;
  }
  std::int32_t label(std::int64_t) const override { return 0; }
  std::string name(std::int64_t sample) const override { return fmt::format("{}.txt", sample); }

 private:
  std::vector<std::int64_t> lengths_;
  io::DatasetInfo info_;
};

class MaskedPairsTest : public testing::Test {
 protected:
  MaskedPairs pairs(const Texts& texts, std::uint64_t seed = 7) const {
    return {texts, {.length = kLength, .vocabulary = kVocabulary, .seed = seed}};
  }
  Tokens positions(const MaskedPairs& pairs, std::int64_t epoch, const SpanPair& pair) const {
    Tokens all(static_cast<std::size_t>(features::max_masked_words(kLength)));
    all.resize(static_cast<std::size_t>(pairs.masked_positions(epoch, pair, all)));
    return all;
  }

  Texts texts_{{100, 20, 1, 2, 29, 30, 500, 7}};
};

TEST_F(MaskedPairsTest, ASpanFollowsTheOtherOrIsOfAnotherText) {
  const MaskedPairs all = pairs(texts_);
  for (std::int64_t epoch = 0; epoch < 200; ++epoch) {
    for (std::int64_t sample = 0; sample < texts_.info().num_samples; ++sample) {
      SCOPED_TRACE(fmt::format("sample {} in epoch {}", sample, epoch));
      const SpanPair pair = all.pair(epoch, sample);
      const std::int64_t num = texts_.num_tokens(sample);
      EXPECT_LE(pair.length(), kLength);
      EXPECT_EQ(pair.a.sample, sample);
      EXPECT_GE(pair.a.count, 1);
      EXPECT_LE(pair.a.begin + pair.a.count, num);
      EXPECT_GE(pair.b.count, 1);
      EXPECT_LE(pair.b.begin + pair.b.count, texts_.num_tokens(pair.b.sample));
      EXPECT_EQ(pair.follows, pair.b.sample == sample);
      if (pair.follows) {
        EXPECT_EQ(pair.b.begin, pair.a.begin + pair.a.count);
        EXPECT_EQ(pair.num_words(), std::min(num, kLength - 3)) << "as much as fits";
      }
      if (num >= 8) {
        EXPECT_GE(pair.a.count, std::min(num, kLength - 3) / 4);
        EXPECT_LE(pair.a.count, 3 * std::min(num, kLength - 3) / 4);
      }
    }
  }
}

// The count of n draws with probability p deviates by more than 5 sqrt(p (1 - p) / n) in one of two million tests.
TEST_F(MaskedPairsTest, DrawsAsOftenAsDevlinEtAlSay) {
  const MaskedPairs all = pairs(texts_);
  const auto expect_share = [](double got, double want, double n, const char* what) {
    EXPECT_NEAR(got / n, want, 5 * std::sqrt(want * (1 - want) / n)) << what;
  };
  double num_follow = 0, num_masked = 0, num_mask = 0, num_same = 0, num_draws = 0;
  std::map<std::int32_t, double> masked_at;
  MaskedPairs::Memory memory;
  for (std::int64_t epoch = 0; epoch < 4000; ++epoch) {
    const SpanPair pair = all.pair(epoch, 0);
    num_follow += pair.follows ? 1 : 0;
    Tokens row(kLength), words(static_cast<std::size_t>(features::max_masked_words(kLength)));
    all.write_tokens(epoch, pair, row, memory);
    all.write_masked_words(epoch, pair, words, memory);
    const Tokens at = positions(all, epoch, pair);
    for (std::size_t k = 0; k < at.size(); ++k) {
      const std::int32_t seen = row[static_cast<std::size_t>(at[k])];
      num_mask += seen == kMask ? 1 : 0;
      num_same += seen == words[k] ? 1 : 0;
    }
    num_masked += static_cast<double>(at.size());
    if (!pair.follows || pair.a.count != 10) continue;  // all of one form
    ++num_draws;
    for (const std::int32_t position : at) ++masked_at[position];
  }
  expect_share(num_follow, 0.5, 4000, "pairs that follow");
  expect_share(num_mask, 0.8, num_masked, "[MASK]");
  expect_share(num_same, 0.1, num_masked, "the word itself (one of 100,000 words by chance)");
  EXPECT_EQ(masked_at.size(), 29u);
  for (const auto& [position, num] : masked_at) expect_share(num, 5.0 / 29, num_draws, "each word alike");
}

TEST_F(MaskedPairsTest, MasksFifteenPercentOfThePairsWordsAndNoMark) {
  const MaskedPairs all = pairs(texts_);
  MaskedPairs::Memory memory;
  for (std::int64_t sample = 0; sample < texts_.info().num_samples; ++sample) {
    for (std::int64_t epoch = 0; epoch < 50; ++epoch) {
      SCOPED_TRACE(fmt::format("sample {} in epoch {}", sample, epoch));
      const SpanPair pair = all.pair(epoch, sample);
      const Tokens at = positions(all, epoch, pair);
      EXPECT_EQ(std::ssize(at), std::min(pair.num_words(), features::max_masked_words(pair.length())));
      EXPECT_TRUE(std::ranges::is_sorted(at));
      EXPECT_EQ(std::ranges::adjacent_find(at), at.end());

      Tokens plain = {kBegin};
      for (const TextSpan& span : {pair.a, pair.b}) {
        for (std::int64_t i = 0; i < span.count; ++i) plain.push_back(Texts::token(span.sample, span.begin + i));
        plain.push_back(kSeparator);
      }
      Tokens row(kLength, -7), words(at.size());
      all.write_tokens(epoch, pair, row, memory);
      all.write_masked_words(epoch, pair, words, memory);
      for (std::int64_t t = 0; t < kLength; ++t) {
        const auto i = static_cast<std::size_t>(t);
        const auto masked = std::ranges::find(at, static_cast<std::int32_t>(t));
        if (t >= pair.length()) {
          EXPECT_EQ(row[i], -7) << "left alone past the end";
        } else if (masked == at.end()) {
          EXPECT_EQ(row[i], plain[i]);
        } else {
          EXPECT_EQ(words[static_cast<std::size_t>(masked - at.begin())], plain[i]);
          EXPECT_TRUE(row[i] == kMask || row[i] >= special_tokens::kCount) << row[i];
        }
      }
    }
  }
}

TEST_F(MaskedPairsTest, ASampleIsDrawnAnewInEachEpochAndForEachSeedAndElseTheSame) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> drawn;
  for (const std::uint64_t seed : {1, 2})
    for (std::int64_t epoch = 0; epoch < 8; ++epoch) {
      const SpanPair pair = pairs(texts_, seed).pair(epoch, 6);
      EXPECT_EQ(pairs(texts_, seed).pair(epoch, 6), pair);
      drawn.insert({pair.a.begin, pair.a.count, pair.b.begin});
    }
  EXPECT_EQ(drawn.size(), 16u);
}

TEST_F(MaskedPairsTest, TheOnlyTextIsPairedWithItself) {
  const Texts one({40}), word({1});
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    EXPECT_TRUE(pairs(one).pair(epoch, 0).follows);
    const SpanPair pair = pairs(word).pair(epoch, 0);
    EXPECT_EQ(pair.length(), 4) << "[CLS] word [SEP] [SEP]";
    EXPECT_EQ(positions(pairs(word), epoch, pair), Tokens{1});
  }
}

// --- As features -----------------------------------------------------------------------------------------------------

class BertFeaturesTest : public testing::TestWithParam<bool> {
 protected:
  static constexpr std::int64_t kMicro = 3, kWords = features::max_masked_words(kLength);

  // Opens a loader of 3 texts in order, in epoch 0; then of the other two, and one past the end.
  void open(SampleView view) {
    loader_.reset();  // the loader reads the path
    path_ = make_sample_path({.samples = texts_, .metadata = metadata_, .params = params_, .view = view});
    const auto tokens = features::tokens_spec(kMicro, kLength), words = features::masked_words_spec(kMicro, kLength),
               one = features::length_spec(kMicro);
    loader_ = std::make_unique<Loader>(*path_, in_order_, *backend_,
                                       LoaderSpec{.batch_global = kMicro,
                                                  .batch_micro = kMicro,
                                                  .num_micro_batches = 1,
                                                  .num_steps = 2,
                                                  .steps_per_epoch = 2,
                                                  .features = {{.name = features::kPairTokens, .spec = tokens},
                                                               {.name = features::kPairSegments, .spec = tokens},
                                                               {.name = features::kPairLength, .spec = one},
                                                               {.name = features::kMaskedPositions, .spec = words},
                                                               {.name = features::kMaskedWords, .spec = words},
                                                               {.name = features::kNextSentence, .spec = one},
                                                               {.name = features::kMarkedTokens, .spec = tokens},
                                                               {.name = features::kMarkedSegments, .spec = tokens},
                                                               {.name = features::kMarkedLength, .spec = one}},
                                                  .threads = 2});
  }
  Tokens load(const char* feature, std::int64_t width) {
    const Buffer memory(backend_->device(), kMicro * width * 4);
    loader_->load(feature, 0, memory.data());
    Tokens values(static_cast<std::size_t>(kMicro * width));
    backend_->device().copy_to_host(values.data(), memory.data(), memory.size_bytes());
    return values;
  }

  Texts texts_{{100, 20, 1, 2, 40}};
  Sampler in_order_{{.num_samples = 5, .shuffle = false}};
  io::ModelMetadata metadata_{.input = io::TextInput{.length = kLength, .tokenization = {.vocabulary = kVocabulary}}};
  Parameters params_{.batch = {.global = kMicro, .micro = kMicro}};
  std::unique_ptr<ops::Backend> backend_ =
      GetParam() ? emulation::make_emulated_backend() : ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  std::unique_ptr<SamplePath> path_;
  std::unique_ptr<Loader> loader_;
};

Tokens filled(Tokens values, std::int64_t width, std::int32_t padding) {
  values.resize(static_cast<std::size_t>(width), padding);
  return values;
}

TEST_P(BertFeaturesTest, AllAreOfOnePairAndFilledPastItsEnd) {
  for (const SampleView view : {SampleView::kTraining, SampleView::kEvaluation}) {
    open(view);
    const std::uint64_t seed = view == SampleView::kTraining ? params_.train.seed : 0;
    const MaskedPairs pairs(texts_, {.length = kLength, .vocabulary = kVocabulary, .seed = seed});
    MaskedPairs::Memory memory;
    for (std::int64_t step = 0; step < 2; ++step) {
      Tokens tokens, segments, lengths, positions, words, next;
      for (std::int64_t sample = kMicro * step; sample < kMicro * (step + 1); ++sample) {
        Tokens row, parts, at, labels;
        const auto room = static_cast<std::size_t>(kWords);
        if (sample < 5) {
          const SpanPair pair = pairs.pair(0, sample);
          const auto length = static_cast<std::size_t>(pair.length());
          row.resize(length), parts.resize(length, 1), at.resize(room), labels.resize(room, ops::kNoLabel);
          std::fill_n(parts.begin(), pair.a.count + 2, 0);
          pairs.write_tokens(0, pair, row, memory);
          pairs.write_masked_words(0, pair, labels, memory);
          at.resize(static_cast<std::size_t>(pairs.masked_positions(0, pair, at)));
          lengths.push_back(static_cast<std::int32_t>(pair.length()));
          next.push_back(pair.follows ? 1 : 0);
        } else {
          lengths.push_back(1), next.push_back(ops::kNoLabel);
        }
        std::ranges::copy(filled(row, kLength, ops::kNoToken), std::back_inserter(tokens));
        std::ranges::copy(filled(parts, kLength, ops::kNoToken), std::back_inserter(segments));
        std::ranges::copy(filled(at, kWords, ops::kNoPosition), std::back_inserter(positions));
        std::ranges::copy(filled(labels, kWords, ops::kNoLabel), std::back_inserter(words));
      }
      loader_->begin_step();
      EXPECT_EQ(load(features::kPairTokens, kLength), tokens);
      EXPECT_EQ(load(features::kPairSegments, kLength), segments);
      EXPECT_EQ(load(features::kPairLength, 1), lengths);
      EXPECT_EQ(load(features::kMaskedPositions, kWords), positions);
      EXPECT_EQ(load(features::kMaskedWords, kWords), words);
      EXPECT_EQ(load(features::kNextSentence, 1), next);
      load(features::kMarkedTokens, kLength);
    }
  }
}

TEST_P(BertFeaturesTest, MarksStandAroundATextAlone) {
  open(SampleView::kTraining);
  loader_->begin_step();
  Tokens first = {kBegin};
  for (int t = 0; t < kLength - 2; ++t) first.push_back(Texts::token(0, t));
  first.push_back(kSeparator);
  const Tokens tokens = load(features::kMarkedTokens, kLength);
  EXPECT_EQ(Tokens(tokens.begin(), tokens.begin() + kLength), first) << "cut at its end";
  EXPECT_EQ(Tokens(tokens.begin() + 2 * kLength, tokens.end()),
            filled({kBegin, Texts::token(2, 0), kSeparator}, kLength, ops::kNoToken));
  EXPECT_EQ(load(features::kMarkedLength, 1), (Tokens{kLength, 22, 3}));
  const Tokens segments = load(features::kMarkedSegments, kLength);
  EXPECT_EQ(Tokens(segments.begin() + 2 * kLength, segments.end()), filled({0, 0, 0}, kLength, ops::kNoToken));
}

INSTANTIATE_TEST_SUITE_P(, BertFeaturesTest, testing::Values(false, true),
                         [](const auto& instance) { return instance.param ? "OnTheDevice" : "OnTheHost"; });

}  // namespace
}  // namespace convoy
