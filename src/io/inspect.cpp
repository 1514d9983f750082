/// Describes and fully checks our files.
#include "convoy/io/inspect.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/fingerprint.h"
#include "convoy/base/metrics.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/dataset.h"
#include "convoy/io/predictions.h"
#include "convoy/io/safetensors.h"
#include "convoy/io/shard_files.h"

#include "io/hdf5.h"
#include "io/shard.h"

namespace convoy::io {

namespace {

constexpr std::size_t kShownClasses = 10, kShownChannels = 4, kShownFolds = 10;
constexpr std::size_t kBeginBytes = std::size_t{64} << 10;  // HDF5 keeps the names of a file's members there

std::string begin_of(const std::string& path) {
  const FileDescriptor file = open_for_reading(path);
  std::string begin(std::min<std::uint64_t>(file_size(file, path), kBeginBytes), '\0');
  read_at(file, 0, std::as_writable_bytes(std::span(begin)), path);
  return begin;
}

// Whether the file was a checkpoint: one that lost its end looks like any HDF5 file. Names near its beginning tell:
// those of its members or, since HDF5 moves their list when it grows, of an attribute of /card, which is written first.
// If these are gone too, the file's name tells.
bool was_checkpoint(const std::string& path) {
  const std::string begin = begin_of(path);
  const auto names = [&](const char* member) { return begin.find(member) != std::string::npos; };
  if (names("class_counts")) return false;  // a shard has it
  const std::string name = std::filesystem::path(path).filename().string();
  return names("optimizer") || names("parameters") || names("normalizes") || name == "best.h5" ||
         (name.starts_with("step-") && name.ends_with(".h5"));
}

void check_not_truncated_checkpoint(const std::string& path) {
  if (was_checkpoint(path))
    fail(
        "checkpoint '{}': it is truncated, or its end is damaged: its last 32 bytes are not those of a checkpoint. Use "
        "another checkpoint",
        path);
}

OpenShard open_shard_or_fail(const std::string& path) {
  try {
    return open_shard(path);
  } catch (const Error& error) {
    fail("'{}': {}", path, error.what());
  }
}

std::string line(std::string_view what, std::string_view value) {
  return fmt::format("  {:<14}{}\n", what, value);
}

std::string list_of_classes(const std::vector<std::string>& names) {
  return fmt::format("{}: {}", names.size(), first_few(names, kShownClasses));
}

// The line about what a network answers.
std::string describe_outputs(const Target& target, const std::vector<std::string>& names) {
  return line(outputs_of(target.kind),
              fmt::format("{}{}: {}", names.size(), describe_place(target), first_few(names, kShownClasses)));
}

// Means and deviations of the first channels or numbers, each with its name if they have names.
std::string describe_channels(const std::vector<double>& mean, const std::vector<double>& stddev,
                              const std::vector<std::string>& names) {
  std::vector<std::string> means, deviations, named;
  for (std::size_t c = 0; c < std::min(mean.size(), kShownChannels); ++c) {
    means.push_back(fmt::format("{:.4g}", mean[c]));
    deviations.push_back(fmt::format("{:.4g}", stddev[c]));
    if (!names.empty())
      named.push_back(fmt::format("{}: mean {}, standard deviation {}", names[c], means[c], deviations[c]));
  }
  const bool has_more = mean.size() > kShownChannels;
  if (!names.empty()) return fmt::format("{}{}", fmt::join(named, "; "), has_more ? "; ..." : "");
  const char* const more = has_more ? ", ..." : "";
  return fmt::format("mean of each channel {}{}; standard deviation {}{}", fmt::join(means, ", "), more,
                     fmt::join(deviations, ", "), more);
}

// The mean and deviation of each number that is to be answered.
std::string describe_numbers(const Target& target, const std::vector<std::string>& names) {
  return target.mean.empty() ? "" : line("targets", describe_channels(target.mean, target.stddev, names));
}

// The smallest and largest number of samples per class: "5000 each", or "980 to 1135 each".
std::string samples_per_class(const std::vector<std::int64_t>& counts) {
  const auto [min, max] = std::minmax_element(counts.begin(), counts.end());
  if (counts.empty()) return "none";
  return *min == *max ? fmt::format("{} each", *min) : fmt::format("{} to {} each", *min, *max);
}

std::string describe_images(const DatasetInfo& info, std::int64_t payload_bytes) {
  const std::string turned = info.oriented ? "; turned as Exif says" : "";
  if (!info.encoded) return fmt::format("{} (rows x columns x channels){}", to_string(info.image), turned);
  return fmt::format("the original files (encoded), {} on average; {}{}", human_bytes(payload_bytes / info.num_samples),
                     info.image.c == 1 ? "grey" : "in colour", turned);
}

std::string describe_tokenization(const Tokenization& tokenization) {
  return fmt::format("{}; a vocabulary of {}", tokenization.kind, tokenization.vocabulary);
}

// The lines about a data set's samples that depend on their kind.
std::string describe_kind(const DatasetInfo& info, std::int64_t payload_bytes) {
  if (info.kind == input_kinds::kArrays) return line("arrays", describe_forms(info.record()));
  if (info.kind == input_kinds::kImages) return line("images", describe_images(info, payload_bytes));
  const std::int64_t in_split = std::accumulate(info.class_counts.begin(), info.class_counts.end(), std::int64_t{0});
  return line("texts", fmt::format("{} tokens in the split, {:.0f} per text on average", info.text.num_tokens,
                                   static_cast<double>(info.text.num_tokens) /
                                       static_cast<double>(std::max<std::int64_t>(1, in_split)))) +
         line("tokenizer", describe_tokenization(info.text.tokenization));
}

std::string describe_mean_and_deviation(const std::vector<double>& mean, const std::vector<double>& stddev) {
  return line("mean", fmt::format("{:.4f}", fmt::join(mean, ", "))) +
         line("deviation", fmt::format("{:.4f}", fmt::join(stddev, ", ")));
}

// The first channels of each array.
std::string describe_statistics(std::span<const ArrayInfo> arrays) {
  std::string lines;
  for (const ArrayInfo& array : arrays)
    if (!array.mean.empty())
      lines += line(array.name, describe_channels(array.mean, array.stddev, array.channel_names));
  return lines;
}

std::string describe_statistics(const DatasetInfo& info) {
  if (info.kind == input_kinds::kImages) return describe_mean_and_deviation(info.channel_mean, info.channel_stddev);
  return describe_statistics(info.arrays) + describe_numbers(info.target, info.class_names);
}

// How many samples the classes or labels have, the largest first; nothing if all have the same number.
std::string describe_each_count(const std::vector<std::int64_t>& counts, const std::vector<std::string>& names) {
  if (counts.size() != names.size() || std::ranges::adjacent_find(counts, std::not_equal_to<>()) == counts.end())
    return "";
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return counts[i]; });
  std::vector<std::string> shown;
  for (const std::size_t i : std::span(order).first(std::min(order.size(), kShownClasses)))
    shown.push_back(fmt::format("{}: {}", excerpt(names[i]), counts[i]));
  return line("of each",
              fmt::format("{}{}", fmt::join(shown, ", "),
                          order.size() > shown.size() ? fmt::format(" and {} more", order.size() - shown.size()) : ""));
}

// The number of samples in the whole split, and how many each class or label has; numbers have no counts.
std::string describe_counts(const DatasetInfo& info) {
  if (info.target.kind != TargetKind::kClass)
    return info.class_counts.empty() ? ""
                                     : line("with a label", samples_per_class(info.class_counts)) +
                                           describe_each_count(info.class_counts, info.class_names);
  const std::int64_t in_split = std::accumulate(info.class_counts.begin(), info.class_counts.end(), std::int64_t{0});
  return line("in the split",
              fmt::format("{}, {}", counted(in_split, "sample"), samples_per_class(info.class_counts))) +
         describe_each_count(info.class_counts, info.class_names);
}

// The hash of a data set's content, as shown for checkpoints and data sets.
std::string content_text(std::int64_t hash, std::string_view kind) {
  return hash == 0 ? "not known"
                   : fmt::format("{:016x} (hash of {}s, labels and classes)", static_cast<std::uint64_t>(hash),
                                 input_kinds::one_of(kind));
}

/// Number of samples of each fold.
class FoldCounts {
 public:
  void add(const ShardHead& head) {
    counts_.resize(static_cast<std::size_t>(head.info.num_folds));
    for (const std::uint16_t fold : head.folds) ++counts_[static_cast<std::size_t>(fold - 1)];
  }
  std::string describe() const {
    if (counts_.empty()) return "";
    const std::span shown = std::span(counts_).first(std::min(counts_.size(), kShownFolds));
    return line("folds", fmt::format("{}, of {}{} samples", counts_.size(), fmt::join(shown, ", "),
                                     counts_.size() > kShownFolds ? ", ..." : ""));
  }

 private:
  std::vector<std::int64_t> counts_;
};

// The lines about the samples of a shard, or of all shards of a split.
std::string describe_samples(const DatasetInfo& info, std::int64_t payload_bytes, bool has_names,
                             const FoldCounts& folds) {
  return line("input", info.kind) + line("samples", fmt::format("{}", info.num_samples)) +  //
         describe_kind(info, payload_bytes) +                                               //
         describe_outputs(info.target, info.class_names) + describe_counts(info) + folds.describe() +
         line("names", !has_names                          ? "none"
                       : info.kind == input_kinds::kArrays ? "of the samples"
                                                           : "of the files") +
         describe_statistics(info) + line("source", info.source);
}

std::int64_t size_of(const OpenShard& shard) {
  return static_cast<std::int64_t>(shard.trailer.body_offset + shard.trailer.body_bytes + kShardTrailerBytes);
}

std::string describe_shard(const std::string& path) {
  const OpenShard shard = open_shard_or_fail(path);
  const ShardHead& head = shard.head;
  FoldCounts folds;
  folds.add(head);
  return fmt::format("{}: data set, shard {} of {}\n", path, head.index + 1, head.num_shards) +
         describe_samples(head.info, head.payload_bytes(), head.name_bytes > 0, folds) +
         line("hash", fmt::format("{:02x} (XXH3-128 of {}s and names)", fmt::join(shard.trailer.body_hash, ""),
                                  input_kinds::one_of(head.info.kind))) +
         line("size", human_bytes(size_of(shard)));
}

/// A split of a data set: how it is named and opened.
struct Split {
  std::string path, name;  ///< arguments of Dataset
  std::string prefix;      ///< the name in messages
  std::vector<std::string> shards;

  Dataset open() const { return {path, "data set", VerifyKind::kEpoch, name}; }
};

std::string describe_split(const Split& split) {
  const Dataset dataset = split.open();
  std::int64_t payload_bytes = 0, bytes = 0;
  bool has_names = true;
  FoldCounts folds;
  for (const std::string& path : split.shards) {
    const OpenShard shard = open_shard_or_fail(path);
    payload_bytes += shard.head.payload_bytes();
    bytes += size_of(shard);
    has_names = has_names && shard.head.name_bytes > 0;
    folds.add(shard.head);
  }
  return fmt::format("{}: data set, {}\n", split.prefix, counted(std::ssize(split.shards), "shard")) +
         describe_samples(dataset.info(), payload_bytes, has_names, folds) +
         line("content", content_text(dataset.content_hash(), dataset.info().kind)) + line("size", human_bytes(bytes));
}

// Whether torchvision's name of a tensor is that of a running statistic.
bool is_running_statistic(const NamedTensor& tensor) {
  return tensor.name.ends_with("running_mean") || tensor.name.ends_with("running_var");
}

// The number of values in the tensors that `accept` accepts: "25.6 M in 161 tensors".
template <typename Accept>
std::string total(const std::vector<NamedTensor>& tensors, const Accept& accept) {
  std::int64_t num_tensors = 0, num_values = 0;
  for (const NamedTensor& tensor : tensors) {
    if (!accept(tensor)) continue;
    ++num_tensors;
    num_values += tensor.count();
  }
  return fmt::format("{} in {}", human_count(num_values), counted(num_tensors, "tensor"));
}

// The lines that checkpoints and safetensors files share.
std::string describe_model(const std::vector<NamedTensor>& tensors) {
  return line("parameters", total(tensors, std::not_fn(is_running_statistic))) +
         line("statistics", total(tensors, is_running_statistic));
}

std::vector<std::byte> read_or_fail(const std::string& path) {
  try {
    return read_checkpoint_file(path);
  } catch (const Error& error) {
    fail("checkpoint '{}': {}", path, error.what());
  }
}

std::string best_text(const TrainingState& state) {
  if (state.best_step == 0) return "-";
  return fmt::format("{} at step {}", named_value(state.metric, state.best_value), state.best_step);
}

std::string describe_input(const ModelMetadata& metadata) {
  if (const TextInput* const text = metadata.text())
    return fmt::format("texts of up to {} tokens; {}", text->length, describe_tokenization(text->tokenization));
  if (const ArraysInput* const arrays = metadata.arrays()) return describe_forms(arrays->inputs);
  const ImageInput& image = metadata.image();
  return fmt::format("{} images{}", to_string(image.shape), image.orients ? "; turned as Exif says" : "");
}

std::string describe_normalisation_of(const ModelMetadata& metadata) {
  if (const ArraysInput* const arrays = metadata.arrays())
    return arrays->normalizes ? describe_statistics(arrays->inputs) : line("mean", "none: values are not normalised");
  if (metadata.text() != nullptr) return "";
  const ImageInput& image = metadata.image();
  if (!image.normalizes) return line("mean", "none: values between 0 and 1 are not normalised");
  return describe_mean_and_deviation(image.channel_mean, image.channel_stddev);
}

std::string describe_checkpoint(const std::string& path) {
  const std::vector<std::byte> bytes = read_or_fail(path);
  Checkpoint checkpoint = decode_checkpoint(bytes, path);
  load_values(checkpoint, path, groups::kModel);
  const TrainingState& state = checkpoint.state;
  std::string text =
      fmt::format("{}: checkpoint\n", path) +
      line("model", fmt::format("{}, of {}", checkpoint.metadata.name, describe_input(checkpoint.metadata))) +
      line("input", checkpoint.metadata.kind()) + describe_normalisation_of(checkpoint.metadata) +
      describe_outputs(checkpoint.metadata.target, checkpoint.metadata.class_names) +
      describe_numbers(checkpoint.metadata.target, checkpoint.metadata.class_names) +
      line("step", fmt::format("{}", state.step)) +
      line("samples", fmt::format("{} seen, {} per step", state.samples, state.batch_global)) +
      line("best", best_text(state)) + line("seed", fmt::format("{}", state.seed)) +
      line("trained on", content_text(state.train_hash, checkpoint.metadata.kind())) +
      line("written by", checkpoint.written_by.empty() ? "not known" : checkpoint.written_by) +
      describe_model(checkpoint.model) + line("fingerprint", fingerprint_text(fingerprint(checkpoint.model)));
  const auto all = [](const NamedTensor&) { return true; };
  for (const auto& [name, tensors] : checkpoint.optimizer) text += line(name, total(tensors, all));
  if (!checkpoint.ema.empty()) text += line("ema", total(checkpoint.ema, all));
  if (checkpoint.parts)
    text += line("parts", fmt::format("{} in {} next to it, {}", counted(std::ssize(checkpoint.parts->files), "file"),
                                      checkpoint.parts->folder, human_bytes(checkpoint.parts->size_bytes())));
  return text + line("size", human_bytes(static_cast<std::int64_t>(bytes.size())));
}

std::string describe_safetensors(const std::string& path) {
  const std::vector<std::byte> bytes = read_safetensors_file(path);
  const StateDict dict = decode_safetensors(bytes, path);
  return fmt::format("{}: weights (safetensors)\n", path) + describe_model(dict.tensors) +
         line("size", human_bytes(static_cast<std::int64_t>(bytes.size())));
}

std::string describe_predictions(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  const hdf5::File file = hdf5::open_in_memory(bytes, bytes.size());
  return fmt::format("{}: predictions, from 'convoy predict'\n", path) +
         line("samples", fmt::format("{}", hdf5::open_texts(file, "names", bytes.size()).count())) +
         line("classes", list_of_classes(hdf5::read_texts(file, "class_names", bytes.size()))) +
         line("size", human_bytes(std::ssize(bytes)));
}

bool is_folder(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_directory(path, unknown);
}

// Also true for a path that does not exist but can only name a file.
bool is_file(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown) || (path.ends_with(".h5") && !is_folder(path)) ||
         path.ends_with(".safetensors");
}

void check_is_no_run(const std::string& path) {
  std::error_code unknown;
  const std::string checkpoints = path + "/checkpoints", best = best_checkpoint_path(checkpoints);
  if (!std::filesystem::exists(path + "/steps.csv", unknown) && !is_folder(checkpoints)) return;
  const auto newest = find_newest_checkpoint(checkpoints, [](const auto&, const auto&) {});
  const std::string file = std::filesystem::exists(best, unknown) ? best : newest ? newest->path : "";
  refuse("{}: this is a run directory. {}; convoy watch {} draws the run.", path,
         file.empty() ? "It holds no checkpoint yet"
                      : fmt::format("Name a checkpoint of it, as in convoy info {}, or all of them: convoy info {}",
                                    file, checkpoints),
         path);
}

// A line for each checkpoint in a folder, by name; empty if it holds none.
std::string describe_checkpoints(const std::string& folder) {
  std::map<std::string, std::string> lines;
  std::error_code unknown;
  std::filesystem::directory_iterator entries(folder, unknown);
  if (unknown) fail("cannot list '{}': {}", folder, unknown.message());
  for (const auto& entry : entries) {
    const std::string path = entry.path(), name = entry.path().filename();
    if (!entry.is_regular_file(unknown) || !name.ends_with(".h5") ||
        !(is_checkpoint_file(path) || was_checkpoint(path)))
      continue;
    try {
      const TrainingState state = decode_state(read_checkpoint_file(path), path);
      lines[name] = fmt::format("step {}, best {}", state.step, best_text(state));
    } catch (const Error& error) {
      lines[name] = error.what();
    }
  }
  std::string text = lines.empty() ? "" : fmt::format("{}: checkpoints\n", folder);
  for (const auto& [name, what] : lines) text += fmt::format("  {:<16}  {}\n", name, what);
  return text;
}

std::vector<Split> splits_of(const std::string& path) {
  if (!is_folder(path)) return {{path, "", path, find_shards(path, path, "")}};
  std::vector<Split> splits;
  for (const char* const name : kSplitNames)
    if (!find_any_shard(path, name).empty())
      splits.push_back({path, name, (std::filesystem::path(path) / name).string(), find_shards(path, path, name)});
  if (splits.empty()) check_is_no_run(path);
  if (splits.empty())
    refuse("{}: this folder holds no data set: no shards of {}. Name other files one by one, as in {}/*.h5", path,
           fmt::join(kSplitNames, ", "), path);
  return splits;
}

// Checks that the shards of a split, each of them whole, are all from one import; returns the reason if not.
std::optional<std::string> find_misfit(const Split& split) {
  try {
    split.open();
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

std::string describe(const std::string& path) {
  if (is_file(path)) return describe_file(path);
  std::string text = is_folder(path) ? describe_checkpoints(path) : "";
  if (!text.empty()) return text;
  for (const Split& split : splits_of(path)) text += describe_split(split);
  return text;
}

std::vector<Verdict> verify(const std::string& path) {
  if (is_file(path)) return {{path, verify_file(path)}};
  std::vector<Verdict> verdicts;
  for (const Split& split : splits_of(path)) {
    bool whole = true;
    for (const std::string& shard : split.shards) {
      verdicts.push_back({shard, verify_file(shard)});
      whole = whole && !verdicts.back().damage;
    }
    if (!whole) continue;
    if (const auto misfit = find_misfit(split)) verdicts.push_back({split.prefix, misfit});
  }
  return verdicts;
}

std::string describe_file(const std::string& path) {
  if (is_checkpoint_file(path)) return describe_checkpoint(path);
  if (is_safetensors_file(path)) return describe_safetensors(path);
  if (is_predictions_file(path)) return describe_predictions(path);
  check_not_truncated_checkpoint(path);
  return describe_shard(path);
}

std::optional<std::string> verify_file(const std::string& path) {
  try {
    if (is_checkpoint_file(path)) {
      Checkpoint checkpoint = decode_checkpoint(read_or_fail(path), path);
      load_values(checkpoint, path);
    } else if (is_safetensors_file(path)) {
      decode_safetensors(read_safetensors_file(path), path);
    } else if (is_predictions_file(path)) {
      refuse("these are predictions, from 'convoy predict', which hold no hash of their bytes: they cannot be checked");
    } else {
      check_not_truncated_checkpoint(path);
      return find_damage_in_body(open_shard(path), path);
    }
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, patch = 0;
  CONVOY_CHECK_HDF5(H5get_libversion(&major, &minor, &patch));
  return fmt::format("HDF5 {}.{}.{}", major, minor, patch);
}

}  // namespace convoy::io
