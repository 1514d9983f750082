/// Imports arrays and tables of numbers: records of their samples, and the statistics of the split train.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/comm/gather.h"
#include "convoy/io/sample_store.h"
#include "convoy/params/data_parameters.h"

#include "data/arrays/array_listing.h"
#include "data/arrays/array_statistics.h"
#include "data/arrays/bad_values.h"
#include "data/import_input.h"

namespace convoy {

namespace {

// What a shard takes for a sample in addition to its record: name, hashes, label or numbers. So shards of small samples
// have about a million of them, and the head of a shard stays small.
constexpr std::int64_t kBytesPerSample = 100;

// Number of sums that a rank may keep until the end, one for each channel, fold and shard: 80 MiB.
constexpr std::int64_t kMaxSums = std::int64_t{1} << 21;

// Largest number of means that the folds may have: their sums are kept for each shard that a rank writes.
constexpr std::int64_t kMaxFoldValues = std::int64_t{1} << 20;

/// The sums of one shard of train, by fold: those of each input, then those of numbers that are answered.
struct ShardSums {
  std::int64_t shard = 0;
  std::vector<ChannelSums> channels;
};

class ArrayImport final : public ImportInput {
 public:
  ArrayImport(const ImportParams& params, const mpi::Communicator& world)
      : params_(params), world_(world), arrays_(params, world), bad_(described_inputs()) {
    for (std::size_t i = 0; i < arrays_.num_sources(); ++i)
      readers_.emplace_back(*arrays_.source_at(i).target(), arrays_.target());
    record_.resize(static_cast<std::size_t>(arrays_.source_at(0).record_bytes()));
  }

  const char* kind() const override { return input_kinds::kArrays; }
  SourceListing& listing() override { return arrays_.listing(); }
  void check_request() const override;
  std::string divide(const ImportParams&, std::uint64_t seed) override {
    arrays_.divide(seed);
    return "";
  }
  void prepare(const ShowImport&) override {}
  std::int64_t mean_sample_bytes(std::size_t) override { return std::ssize(record_) + kBytesPerSample; }
  std::int64_t max_usual_shards() const override;
  void describe(io::DatasetInfo& info) const override;
  std::string name_of(std::size_t split, std::int64_t sample) override {
    return arrays_.source(split).name(arrays_.row(split, sample));
  }
  void begin_shard(std::size_t split, std::int64_t shard) override;
  std::span<const std::byte> read(std::size_t split, std::int64_t sample) override;
  io::SampleAnswer answer(std::size_t, std::int64_t) override { return answer_; }
  void sum_up(std::size_t split, io::DatasetInfo& info) override;
  void check_samples() const override;
  std::vector<std::string> warnings() const override;
  std::vector<std::string> notes() const override;

 private:
  const std::vector<io::ArrayInfo>& inputs() const { return arrays_.inputs(); }
  std::vector<io::ArrayInfo> described_inputs() const;
  void check_channel(std::size_t channel, const std::string& name) const;
  std::string name_constant_channels() const;
  bool are_numbers() const { return arrays_.target().kind == TargetKind::kNumbers; }
  io::SampleAnswer read_answer(std::size_t split, std::int64_t sample);
  std::string find_fault(const io::SampleAnswer& answer);
  void add_to_sums(std::int64_t fold);
  void end_shard();
  std::int64_t num_channels() const;
  std::int64_t num_folds() const { return std::max<std::int64_t>(1, params_.folds); }
  void sum_shards();
  static std::string describe_loss(const std::string& what, bool is_table, const LossOfPrecision& loss);

  const ImportParams& params_;
  mpi::Communicator world_;
  ArrayListing arrays_;
  std::vector<TargetReader> readers_;  ///< one for each source
  BadValues bad_;
  std::vector<std::byte> record_;
  std::vector<float> target_;
  io::SampleAnswer answer_;
  std::int64_t num_missing_ = 0;  ///< number of labels or numbers that are missing in samples that have others

  std::vector<ChannelMoments> moments_;  ///< of the shard of train that is being written; else empty
  std::int64_t shard_ = 0;               ///< its number
  std::vector<ShardSums> shards_;        ///< the shards of train that this rank has written
  std::vector<ChannelSums> sums_;        ///< of all shards, known after sum_up()
  std::vector<ChannelSums> outside_;     ///< (folds, channels) those outside each fold; empty without folds
};

void ArrayImport::check_request() const {
  if (params_.folds * num_channels() > kMaxFoldValues)
    refuse("import.folds = {}: a sample has {} channels and numbers, each with a mean for each fold. Allowed: up to {}",
           params_.folds, num_channels(), kMaxFoldValues / num_channels());
}

std::int64_t ArrayImport::max_usual_shards() const {
  return std::clamp<std::int64_t>(kMaxSums / (num_folds() * num_channels()), 1, ImportInput::max_usual_shards());
}

std::int64_t ArrayImport::num_channels() const {
  std::int64_t count = are_numbers() ? std::ssize(arrays_.target().names) : 0;
  for (const io::ArrayInfo& input : inputs()) count += input.channels();
  return count;
}

std::vector<io::ArrayInfo> ArrayImport::described_inputs() const {
  std::vector<io::ArrayInfo> described = inputs();
  for (io::ArrayInfo& input : described) input.fills_missing = params_.bad_values == BadValuesKind::kMean;
  return described;
}

void ArrayImport::describe(io::DatasetInfo& info) const {
  const TargetForm& target = arrays_.target();
  info.arrays = described_inputs();
  info.target = arrays_.form_of_target();
  info.target.kind = target.kind;
  info.target.source = arrays_.source_of_target();
  if (!info.target.is_in_record())
    info.target.shape = Shape::vectors(1, target.kind == TargetKind::kClass ? 1 : std::ssize(target.names));
}

// --- Samples ---------------------------------------------------------------------------------------------------------

// Reads the target of the sample in record_. The answer stays valid until the next call.
io::SampleAnswer ArrayImport::read_answer(std::size_t split, std::int64_t sample) {
  if (arrays_.target().kind == TargetKind::kClass) return {.label = arrays_.listing().splits[split].label(sample)};
  if (arrays_.form_of_target().is_in_record()) {
    target_.resize(static_cast<std::size_t>(arrays_.form_of_target().shape.count()));
    const auto bytes = std::as_writable_bytes(std::span(target_));
    std::ranges::copy(std::span(record_).last(bytes.size()), bytes.begin());
    return {};
  }
  const io::SampleAnswer answer = readers_[arrays_.source_index(split)].read(arrays_.row(split, sample));
  target_.assign(answer.target.begin(), answer.target.end());
  return {.target = target_};
}

// Returns what makes the sample useless; empty if nothing does.
std::string ArrayImport::find_fault(const io::SampleAnswer& answer) {
  std::string fault = bad_.look(record_);
  if (!fault.empty()) return fault;
  if (arrays_.target().kind == TargetKind::kClass) return answer.label < 0 ? "it has no class" : "";
  if (std::ranges::any_of(target_, [](float value) { return std::isinf(value); })) return "its target is infinite";
  const auto num_missing = std::ranges::count_if(target_, [](float value) { return std::isnan(value); });
  if (num_missing == std::ssize(target_)) return "its target is missing";
  num_missing_ += num_missing;
  return "";
}

// With import.bad_values = refuse, a bad sample counts, and the import ends after the last sample.
std::span<const std::byte> ArrayImport::read(std::size_t split, std::int64_t sample) {
  const std::int64_t row = arrays_.row(split, sample);
  ArraySource& source = arrays_.source(split);
  try {
    source.read_record(row, record_);
    answer_ = read_answer(split, sample);
  } catch (const Error& error) {
    refuse("{}", error.what());
  }
  const std::string fault = find_fault(answer_);
  if (fault.empty()) {
    if (!moments_.empty()) add_to_sums(std::max<std::int64_t>(0, arrays_.listing().splits[split].fold(sample) - 1));
    return record_;
  }
  if (params_.bad_values == BadValuesKind::kSkip || params_.strict) fail("{}", fault);
  std::int64_t number = sample;
  for (std::size_t i = 0; i < split; ++i) number += arrays_.listing().splits[i].size();
  bad_.add_sample(number, source.place(row), fault);
  std::ranges::fill(target_, 0.0f);
  return record_;
}

// --- Statistics ------------------------------------------------------------------------------------------------------

void ArrayImport::begin_shard(std::size_t split, std::int64_t shard) {
  end_shard();
  if (split != 0) return;
  shard_ = shard;
  for (const io::ArrayInfo& input : inputs()) moments_.emplace_back(input.type, input.channels(), num_folds());
  if (are_numbers()) moments_.emplace_back(ElementType::kFloat32, std::ssize(arrays_.target().names), num_folds());
}

void ArrayImport::add_to_sums(std::int64_t fold) {
  std::span<const std::byte> rest = record_;
  for (std::size_t i = 0; i < inputs().size(); ++i) {
    const auto size = static_cast<std::size_t>(inputs()[i].bytes());
    moments_[i].add(rest.first(size), fold);
    rest = rest.subspan(size);
  }
  if (are_numbers()) moments_.back().add(std::as_bytes(std::span(target_)), fold);
}

void ArrayImport::end_shard() {
  if (moments_.empty()) return;
  ShardSums& sums = shards_.emplace_back();
  sums.shard = shard_;
  for (std::int64_t fold = 0; fold < num_folds(); ++fold)
    for (const ChannelMoments& moments : moments_) {
      const std::vector<ChannelSums> channels = moments.sums(fold);
      sums.channels.insert(sums.channels.end(), channels.begin(), channels.end());
    }
  moments_.clear();
}

// Adds up the sums of all shards in their order, and those of all folds in theirs, on all ranks.
void ArrayImport::sum_shards() {
  end_shard();
  const std::int64_t num_shards = world_.max(shards_.empty() ? 0 : shards_.back().shard + 1);
  std::vector<ChannelSums> sums(static_cast<std::size_t>(num_folds() * num_channels())), of_folds(sums.size());
  auto mine = shards_.begin();
  for (std::int64_t shard = 0; shard < num_shards; ++shard) {
    const bool is_mine = mine != shards_.end() && mine->shard == shard;
    const auto owner = static_cast<int>(world_.max(is_mine ? world_.rank() : -1));
    if (is_mine) sums = std::move((mine++)->channels);
    world_.broadcast(sums.data(), std::ssize(std::as_bytes(std::span(sums))), owner);
    for (std::size_t i = 0; i < sums.size(); ++i) of_folds[i].add(sums[i]);
  }
  shards_.clear();
  sums_.resize(static_cast<std::size_t>(num_channels()));
  for (std::size_t i = 0; i < of_folds.size(); ++i) sums_[i % sums_.size()].add(of_folds[i]);
  if (params_.folds > 0) outside_ = sums_outside_folds(of_folds, static_cast<std::size_t>(params_.folds));
}

void ArrayImport::sum_up(std::size_t split, io::DatasetInfo& info) {
  if (split == 0) {
    sum_shards();
    bad_.gather(world_);
    num_missing_ = world_.sum(num_missing_);
  }
  std::span<const ChannelSums> next = sums_;
  const auto take = [&](std::int64_t channels, std::vector<double>& mean, std::vector<double>& stddev) {
    mean.clear();
    stddev.clear();
    for (const ChannelSums& sums : next.first(static_cast<std::size_t>(channels))) {
      mean.push_back(sums.mean());
      stddev.push_back(sums.stddev());
    }
    next = next.subspan(static_cast<std::size_t>(channels));
  };
  for (io::ArrayInfo& array : info.arrays) take(array.channels(), array.mean, array.stddev);
  if (are_numbers()) take(std::ssize(arrays_.target().names), info.target.mean, info.target.stddev);
  next = outside_;
  if (info.num_folds > 0) take(std::ssize(next), info.fold_mean, info.fold_stddev);
}

void ArrayImport::check_samples() const {
  if (bad_.num_samples() > 0)
    refuse(
        "import.source = {}: {} cannot be used. {}. Correct them, or leave these samples out: import.bad_values = skip",
        params_.source, counted(bad_.num_samples(), "sample"), bad_.describe());
  std::size_t next = 0;
  for (const io::ArrayInfo& input : inputs())
    for (std::int64_t c = 0; c < input.channels(); ++c, ++next)
      if (params_.bad_values == BadValuesKind::kMean) check_channel(next, describe_channel(input, c));
  for (std::size_t k = 0; next < sums_.size(); ++k)
    check_channel(next++, fmt::format("'{}'", excerpt(arrays_.target().names[k])));
}

// A channel needs a mean.
void ArrayImport::check_channel(std::size_t channel, const std::string& name) const {
  if (sums_[channel].count == 0) refuse("no sample of split train has a value of {}. Leave it out", name);
  for (std::size_t fold = 0; fold * sums_.size() < outside_.size(); ++fold)
    if (outside_[fold * sums_.size() + channel].count == 0)
      refuse("import.folds = {}: no sample outside fold {} has a value of {}. Leave it out", params_.folds, fold + 1,
             name);
}

// --- What the user is told -------------------------------------------------------------------------------------------

// Channels of inputs whose values in train are all equal; empty if there are none.
std::string ArrayImport::name_constant_channels() const {
  constexpr std::size_t kMaxNamed = 5;
  std::vector<std::string> channels;
  std::size_t next = 0;
  for (const io::ArrayInfo& input : inputs())
    for (std::int64_t c = 0; c < input.channels(); ++c, ++next)
      if (sums_[next].count > 1 && sums_[next].stddev() == 0) channels.push_back(describe_channel(input, c));
  return channels.empty() ? "" : first_few(channels, kMaxNamed);
}

std::vector<std::string> ArrayImport::warnings() const {
  std::vector<std::string> texts;
  if (world_.rank() != 0) return texts;
  if (const std::string channels = bad_.describe_channels(); !channels.empty())
    texts.push_back(fmt::format("NaN or infinite values: {}. {}", channels,
                                params_.bad_values == BadValuesKind::kMean
                                    ? "They are read as the mean of their channel over train"
                                    : "The samples with them are left out"));
  if (const std::string channels = name_constant_channels(); !channels.empty())
    texts.push_back(
        fmt::format("all samples of train have the same value of {}: it tells the network nothing", channels));
  if (num_missing_ > 0)
    texts.push_back(fmt::format("import.target = {}: {} of labels or numbers {} missing, and do not count in the loss",
                                params_.target, counted(num_missing_, "value"), num_missing_ == 1 ? "is" : "are"));
  return texts;
}

std::string ArrayImport::describe_loss(const std::string& what, bool is_table, const LossOfPrecision& loss) {
  if (loss.num_whole_changed > 0)
    return fmt::format(
        "{}: {} of its values are whole numbers that float32 does not hold, as those above 16,777,216; "
        "they were rounded",
        what, loss.num_whole_changed);
  if (loss.num_values == 0 || is_table) return "";
  return fmt::format("{}: float64 is stored as float32; {} of {} values changed{}", what, loss.num_changed,
                     loss.num_values,
                     loss.num_changed == 0 ? "" : fmt::format(", by at most {:.1e} of their size", loss.largest));
}

std::vector<std::string> ArrayImport::notes() const {
  std::vector<LossOfPrecision> losses(inputs().size() + 1);  // the last is that of the target
  for (std::size_t source = 0; source < arrays_.num_sources(); ++source) {
    const std::vector<LossOfPrecision> of_inputs = arrays_.source_at(source).losses();
    for (std::size_t i = 0; i < of_inputs.size(); ++i) losses[i].add(of_inputs[i]);
    losses.back().add(readers_[source].loss());
  }
  const std::vector<LossOfPrecision> of_ranks = mpi::gather_values(world_, losses);
  std::ranges::fill(losses, LossOfPrecision{});
  for (std::size_t i = 0; i < of_ranks.size(); ++i) losses[i % losses.size()].add(of_ranks[i]);
  std::vector<std::string> texts = arrays_.notes();
  const auto note = [&](std::string text) {
    if (!text.empty()) texts.push_back(std::move(text));
  };
  for (std::size_t i = 0; i < inputs().size(); ++i)
    note(describe_loss(fmt::format("input '{}'", inputs()[i].name), !inputs()[i].channel_names.empty(), losses[i]));
  note(describe_loss("the target", true, losses.back()));
  return texts;
}

}  // namespace

std::unique_ptr<ImportInput> make_array_import(const ImportParams& params, const mpi::Communicator& world) {
  return std::make_unique<ArrayImport>(params, world);
}

}  // namespace convoy
