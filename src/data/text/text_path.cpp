/// Makes a row of whole numbers for each sample and feature: by threads ahead of the step, or when it is looked up.
#include "data/text/text_path.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/special_tokens.h"
#include "convoy/base/text.h"
#include "convoy/io/sample_store.h"
#include "convoy/ops/embedding.h"
#include "convoy/ops/gather.h"
#include "convoy/ops/softmax_cross_entropy.h"
#include "convoy/params/parameters.h"

#include "data/refuse_keys.h"
#include "data/row_reader.h"
#include "data/text/masked_pairs.h"

namespace convoy {

namespace {

/// How a feature's values for one sample are made: the function writes them to the front of `row`, which has been
/// filled with `padding`.
struct Row {
  std::int32_t padding = 0;
  std::function<void(std::int64_t epoch, std::int64_t sample, std::span<std::int32_t> row, MaskedPairs::Memory& memory)>
      write;
};

// --- How words travel ------------------------------------------------------------------------------------------------

/// Writes buffers of a row of whole numbers for each sample.
class RowWriter final : public BufferWriter {
 public:
  RowWriter(const Row& row, std::int64_t width) : row_(row), width_(static_cast<std::size_t>(width)) {}

  void write(const BatchSamples& batch, std::int64_t i, std::byte* buffer) override {
    write_padding(i, buffer);
    row_.write(batch.epoch, batch.samples[static_cast<std::size_t>(i)], row_of(i, buffer), memory_);
  }
  void write_padding(std::int64_t i, std::byte* buffer) override { std::ranges::fill(row_of(i, buffer), row_.padding); }
  void finish(const BatchSamples&, std::byte*) override {}

 private:
  std::span<std::int32_t> row_of(std::int64_t i, std::byte* buffer) const {
    return {reinterpret_cast<std::int32_t*>(buffer) + i * static_cast<std::int64_t>(width_), width_};
  }

  const Row& row_;
  std::size_t width_;
  MaskedPairs::Memory memory_;
};

// --- The path --------------------------------------------------------------------------------------------------------

class TextPath final : public SamplePath {
 public:
  /// `batch_micro` is the number of texts per micro-batch.
  TextPath(const io::SampleStore& samples, const MaskedPairSpec& spec, std::int64_t batch_micro)
      : samples_(samples), length_(spec.length), pairs_(samples, spec) {
    add_plain(batch_micro);
    add_marked(batch_micro);
    add_pairs(batch_micro);
  }

  const std::vector<FeatureSpec>& features() const override { return features_; }

  std::unique_ptr<FeatureReader> open(std::string_view feature, ops::Backend& backend) const override {
    const std::size_t number = number_of(feature, /*read_ahead=*/true);
    const TensorSpec& spec = features_[number].spec;
    return make_row_reader(spec, backend, [&row = rows_[number], width = spec.shape.length()] {
      return std::make_unique<RowWriter>(row, width);
    });
  }

  void look_up(std::string_view feature, const BatchSamples& batch, void* to) const override {
    const std::size_t number = number_of(feature, /*read_ahead=*/false);
    const auto width = static_cast<std::size_t>(features_[number].spec.shape.length());
    auto* out = static_cast<std::int32_t*>(to);
    MaskedPairs::Memory none;
    for (const std::int64_t sample : batch.samples) {
      const std::span row(out, width);
      std::ranges::fill(row, rows_[number].padding);
      if (sample != kNoSample) rows_[number].write(batch.epoch, sample, row, none);
      out += width;
    }
  }

  std::string describe(std::int64_t sample) const override {
    return fmt::format("sample {} ('{}') of the texts from {}", sample, excerpt(samples_.name(sample)),
                       excerpt(samples_.info().source));
  }

 private:
  void add(const FeatureSpec& feature, Row row) {
    features_.push_back(feature);
    rows_.push_back(std::move(row));
  }

  // Adds the feature of a text's first tokens.
  void add_plain(std::int64_t n) {
    add({.name = features::kTokens, .spec = features::tokens_spec(n, length_), .read_ahead = true},
        {.padding = ops::kNoToken, .write = [this](std::int64_t, std::int64_t sample, auto row, auto& memory) {
           const auto tokens = samples_.read_tokens(sample, memory.read);
           std::copy_n(tokens.begin(), std::min(tokens.size(), row.size()), row.begin());
         }});
    add({.name = features::kLength, .spec = features::length_spec(n)},
        {.padding = 1, .write = [this](std::int64_t, std::int64_t sample, auto row, auto&) {
           row.front() = static_cast<std::int32_t>(std::min(samples_.num_tokens(sample), length_));
         }});
    add({.name = features::kLabel, .spec = features::label_spec(n)},
        {.padding = ops::kNoLabel, .write = [this](std::int64_t, std::int64_t sample, auto row, auto&) {
           row.front() = samples_.label(sample);
         }});
  }

  // Adds the feature of a text's first tokens between [CLS] and [SEP].
  void add_marked(std::int64_t n) {
    const auto num_words = [this](std::int64_t sample) {
      return static_cast<std::size_t>(std::clamp<std::int64_t>(length_ - 2, 0, samples_.num_tokens(sample)));
    };
    add({.name = features::kMarkedTokens, .spec = features::tokens_spec(n, length_), .read_ahead = true},
        {.padding = ops::kNoToken, .write = [=, this](std::int64_t, std::int64_t sample, auto row, auto& memory) {
           const auto words = samples_.read_tokens(sample, memory.read).first(num_words(sample));
           row.front() = special_tokens::kBegin;
           *std::ranges::copy(words, row.begin() + 1).out = special_tokens::kSeparator;
         }});
    add({.name = features::kMarkedSegments, .spec = features::tokens_spec(n, length_)},
        {.padding = ops::kNoToken, .write = [=](std::int64_t, std::int64_t sample, auto row, auto&) {
           std::ranges::fill(row.first(num_words(sample) + 2), 0);
         }});
    add({.name = features::kMarkedLength, .spec = features::length_spec(n)},
        {.padding = 1, .write = [=](std::int64_t, std::int64_t sample, auto row, auto&) {
           row.front() = static_cast<std::int32_t>(num_words(sample) + 2);
         }});
  }

  void add_pairs(std::int64_t n) {
    /// write(epoch, pair, row, memory)
    const auto of_pair = [this](auto write) {
      return [this, write](std::int64_t epoch, std::int64_t sample, auto row, auto& memory) {
        write(epoch, pairs_.pair(epoch, sample), row, memory);
      };
    };
    add({.name = features::kPairTokens, .spec = features::tokens_spec(n, length_), .read_ahead = true},
        {.padding = ops::kNoToken, .write = of_pair([this](auto epoch, const SpanPair& pair, auto row, auto& memory) {
                                     pairs_.write_tokens(epoch, pair, row, memory);
                                   })});
    add({.name = features::kPairSegments, .spec = features::tokens_spec(n, length_)},
        {.padding = ops::kNoToken, .write = of_pair([](auto, const SpanPair& pair, auto row, auto&) {
                                     const auto whole = row.first(static_cast<std::size_t>(pair.length()));
                                     std::ranges::fill(whole, 1);
                                     std::ranges::fill(whole.first(static_cast<std::size_t>(pair.a.count + 2)), 0);
                                   })});
    add({.name = features::kPairLength, .spec = features::length_spec(n)},
        {.padding = 1, .write = of_pair([](auto, const SpanPair& pair, auto row, auto&) {
                         row.front() = static_cast<std::int32_t>(pair.length());
                       })});
    add({.name = features::kMaskedPositions, .spec = features::masked_words_spec(n, length_)},
        {.padding = ops::kNoPosition, .write = of_pair([this](auto epoch, const SpanPair& pair, auto row, auto&) {
                                        pairs_.masked_positions(epoch, pair, row);
                                      })});
    add({.name = features::kMaskedWords, .spec = features::masked_words_spec(n, length_), .read_ahead = true},
        {.padding = ops::kNoLabel, .write = of_pair([this](auto epoch, const SpanPair& pair, auto row, auto& memory) {
                                     pairs_.write_masked_words(epoch, pair, row, memory);
                                   })});
    add({.name = features::kNextSentence, .spec = features::label_spec(n)},
        {.padding = ops::kNoLabel,
         .write = of_pair([](auto, const SpanPair& pair, auto row, auto&) { row.front() = pair.follows ? 1 : 0; })});
  }

  std::size_t number_of(std::string_view feature, bool read_ahead) const {
    const auto found = std::ranges::find(features_, feature, &FeatureSpec::name);
    if (found == features_.end() || found->read_ahead != read_ahead)
      fail("texts: {} is not {}", feature, read_ahead ? "read ahead" : "looked up");
    return static_cast<std::size_t>(found - features_.begin());
  }

  const io::SampleStore& samples_;
  std::int64_t length_;  ///< T, number of tokens per text that the network reads
  MaskedPairs pairs_;
  std::vector<FeatureSpec> features_;
  std::vector<Row> rows_;  ///< one for each of features_
};

}  // namespace

std::unique_ptr<SamplePath> make_text_path(const SamplePathSpec& spec) {
  refuse_augmentation(spec.params.augment, spec.samples.info());
  refuse_mirrors(spec.view, spec.samples.info());
  const io::TextInput* const input = spec.metadata.text();
  if (input == nullptr) fail("a network of images cannot read the texts from {}", spec.samples.info().source);
  // An evaluation, which has one epoch, draws the same in every run.
  const std::uint64_t seed = spec.view == SampleView::kTraining ? spec.params.train.seed : 0;
  const MaskedPairSpec pairs{.length = input->length, .vocabulary = input->tokenization.vocabulary, .seed = seed};
  return std::make_unique<TextPath>(spec.samples, pairs, spec.params.batch.micro);
}

}  // namespace convoy
