/// Threads read tokens ahead of the step; lengths and labels lie in memory.
#include "data/text/text_path.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/ops/embedding.h"
#include "convoy/ops/softmax_cross_entropy.h"
#include "convoy/params/parse.h"

namespace convoy {

namespace {

// --- How tokens travel -----------------------------------------------------------------------------------------------

/// A slot holds (N,T) tokens.
class TokenWriter final : public SlotWriter {
 public:
  TokenWriter(const io::SampleStore& samples, std::int64_t length) : samples_(samples), length_(length) {}

  void write(const BatchSamples& batch, std::int64_t i, std::byte* slot) override {
    const auto tokens = samples_.read_tokens(batch.samples[static_cast<std::size_t>(i)], memory_);
    const std::int64_t count = std::min(std::ssize(tokens), length_);
    std::int32_t* const to = row(i, slot);
    std::copy_n(tokens.begin(), count, to);
    std::fill(to + count, to + length_, ops::kNoToken);
  }
  void write_padding(std::int64_t i, std::byte* slot) override { std::fill_n(row(i, slot), length_, ops::kNoToken); }
  void finish(const BatchSamples&, std::byte*) override {}

 private:
  std::int32_t* row(std::int64_t i, std::byte* slot) const {
    return reinterpret_cast<std::int32_t*>(slot) + i * length_;
  }

  const io::SampleStore& samples_;
  std::int64_t length_;
  std::vector<std::int32_t> memory_;
};

/// Straight from the slot to where they are read.
class TokenReader final : public FeatureReader {
 public:
  TokenReader(const io::SampleStore& samples, const TensorSpec& tokens, Device& device)
      : samples_(samples), tokens_(tokens), lane_(device.make_copy_lane()) {}

  std::int64_t slot_bytes() const override { return tokens_.bytes(); }
  std::unique_ptr<SlotWriter> make_writer() const override {
    return std::make_unique<TokenWriter>(samples_, tokens_.shape.h);
  }
  bool ready() const override { return true; }
  void start(const std::byte* slot) override { slot_ = slot; }
  void finish(void* to) override {
    while (!lane_->done()) std::this_thread::yield();
    lane_->mark();  // work that still reads what was there
    lane_->start_to_device(to, slot_, slot_bytes());
    lane_->join();
  }
  bool has_left() const override { return lane_->done(); }

 private:
  const io::SampleStore& samples_;
  TensorSpec tokens_;
  std::unique_ptr<CopyLane> lane_;
  const std::byte* slot_ = nullptr;
};

}  // namespace

// --- The path --------------------------------------------------------------------------------------------------------

TextPath::TextPath(const io::SampleStore& samples, std::int64_t length, std::int64_t batch_micro)
    : samples_(samples),
      length_(length),
      batch_micro_(batch_micro),
      features_{{.name = features::kTokens, .spec = features::tokens_spec(batch_micro, length), .read_ahead = true},
                {.name = features::kLength, .spec = features::length_spec(batch_micro)},
                {.name = features::kLabel, .spec = features::label_spec(batch_micro)}} {}

std::unique_ptr<FeatureReader> TextPath::open(std::string_view feature, ops::Backend& backend) const {
  if (feature != features::kTokens) fail("texts: {} is not read ahead", feature);
  return std::make_unique<TokenReader>(samples_, features::tokens_spec(batch_micro_, length_), backend.device());
}

void TextPath::look_up(std::string_view feature, const BatchSamples& batch, void* to) const {
  const bool is_length = feature == features::kLength;
  if (!is_length && feature != features::kLabel) fail("texts: {} is not looked up", feature);
  auto* out = static_cast<std::int32_t*>(to);
  for (const std::int64_t sample : batch.samples) {
    if (is_length)
      *out++ = sample == kNoSample ? 1 : static_cast<std::int32_t>(std::min(samples_.num_tokens(sample), length_));
    else
      *out++ = sample == kNoSample ? ops::kNoLabel : samples_.label(sample);
  }
}

std::string TextPath::describe(std::int64_t sample) const {
  return fmt::format("sample {} ('{}') of the texts from {}", sample, samples_.name(sample), samples_.info().source);
}

std::unique_ptr<SamplePath> make_text_path(const SamplePathSpec& spec) {
  Parameters plain;
  Parameters given;
  given.augment = spec.params.augment;
  for (const KeyChange& change : changed_keys(plain, given))
    refuse("{} = {} changes images, and {} holds texts. Leave it out", change.key, change.after,
           spec.samples.info().source);
  if (spec.view == SampleView::kMirrored)
    refuse("evaluate.mirror = true mirrors images, and {} holds texts. Leave it out", spec.samples.info().source);
  const io::TextInput* const input = spec.metadata.text();
  if (input == nullptr) fail("a network of images cannot read the texts from {}", spec.samples.info().source);
  return std::make_unique<TextPath>(spec.samples, input->length, spec.params.batch.micro);
}

}  // namespace convoy
