/// Descriptions and full checks of our files.
#include "convoy/io/inspect.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <system_error>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/dataset.h"
#include "convoy/io/safetensors.h"
#include "convoy/io/shard_writer.h"

#include "io/atomic_file.h"
#include "io/shard.h"
#include "io/shard_files.h"

namespace convoy::io {

namespace {

constexpr std::string_view kCheckpointMagic = "CONVOYCK";
constexpr std::size_t kCheckpointTrailerBytes = 32;
constexpr std::size_t kShownClasses = 10;
constexpr std::size_t kBeginBytes = std::size_t{64} << 10;  // HDF5 keeps the names of a file's members there

bool is_checkpoint(const std::string& path) {
  const FileDescriptor file = open_for_reading(path);
  const std::uint64_t size = file_size(file, path);
  if (size < kCheckpointTrailerBytes) return false;
  std::array<std::byte, kCheckpointMagic.size()> magic;
  read_at(file, size - kCheckpointTrailerBytes, magic, path);
  return std::memcmp(magic.data(), kCheckpointMagic.data(), magic.size()) == 0;
}

// A checkpoint that lost its end is HDF5 like any other. Names near its beginning tell it: of its members, or, as HDF5
// moves their list where it grows, of an attribute of /card, which is written first. Where these are gone too, the
// file's name tells it.
bool was_checkpoint(const std::string& path) {
  const FileDescriptor file = open_for_reading(path);
  std::string begin(std::min<std::uint64_t>(file_size(file, path), kBeginBytes), '\0');
  read_at(file, 0, std::as_writable_bytes(std::span(begin)), path);
  const auto names = [&](const char* member) { return begin.find(member) != std::string::npos; };
  if (names("class_counts")) return false;  // a shard's
  const std::string name = std::filesystem::path(path).filename().string();
  return names("optimizer") || names("parameters") || names("normalizes") || name == "best.h5" ||
         (name.starts_with("step-") && name.ends_with(".h5"));
}

void check_not_truncated_checkpoint(const std::string& path) {
  if (was_checkpoint(path))
    fail(
        "checkpoint '{}': it is truncated, or its end is damaged: its last {} bytes are not a checkpoint's. Use "
        "another",
        path, kCheckpointTrailerBytes);
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
  const std::vector<std::string> shown(names.begin(), names.begin() + std::min(names.size(), kShownClasses));
  return fmt::format("{}: {}{}", names.size(), fmt::join(shown, ", "), shown.size() < names.size() ? ", ..." : "");
}

// "5000 each", or "980 to 1135 each".
std::string samples_a_class(const std::vector<std::int64_t>& counts) {
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  if (counts.empty()) return "none";
  return *least == *most ? fmt::format("{} each", *least) : fmt::format("{} to {} each", *least, *most);
}

std::string describe_images(const DatasetInfo& info, std::int64_t payload_bytes) {
  const std::string turned = info.oriented ? "; turned as Exif says" : "";
  if (!info.encoded) return fmt::format("{} (rows x columns x channels){}", to_string(info.image), turned);
  return fmt::format("files as they were, {} on average; {}{}", human_bytes(payload_bytes / info.num_samples),
                     info.image.c == 1 ? "grey" : "in colour", turned);
}

// As a checkpoint has it of what it was trained on.
std::string content_text(std::int64_t hash) {
  return hash == 0 ? "not known"
                   : fmt::format("{:016x} (hash of images, labels and classes)", static_cast<std::uint64_t>(hash));
}

std::string hexadecimal(const Hash& hash) {
  std::string text;
  for (const std::byte byte : hash) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

// Of a shard, or of all shards of a split.
std::string describe_samples(const DatasetInfo& info, std::int64_t payload_bytes, bool has_names) {
  return line("samples", fmt::format("{}", info.num_samples)) +  //
         line("images", describe_images(info, payload_bytes)) +  //
         line("classes", list_of_classes(info.class_names)) +
         line("in the split",
              fmt::format("{} samples, {}",
                          std::accumulate(info.class_counts.begin(), info.class_counts.end(), std::int64_t{0}),
                          samples_a_class(info.class_counts))) +
         line("names", has_names ? "of the files" : "none") +
         line("mean", fmt::format("{:.4f}", fmt::join(info.channel_mean, ", "))) +
         line("deviation", fmt::format("{:.4f}", fmt::join(info.channel_deviation, ", "))) +
         line("source", info.source);
}

std::int64_t size_of(const OpenShard& shard) {
  return static_cast<std::int64_t>(shard.trailer.body_offset + shard.trailer.body_bytes + kShardTrailerBytes);
}

std::string describe_shard(const std::string& path) {
  const OpenShard shard = open_shard_or_fail(path);
  const ShardHead& head = shard.head;
  return fmt::format("{}: data set, shard {} of {}\n", path, head.index + 1, head.num_shards) +
         describe_samples(head.info, head.payload_bytes(), head.name_bytes > 0) +
         line("hash", hexadecimal(shard.trailer.body_hash) + " (XXH3-128 of images and names)") +
         line("size", human_bytes(size_of(shard)));
}

/// A data set's, as they are named and opened.
struct Split {
  std::string path, name;  ///< as Dataset takes them
  std::string prefix;      ///< what a person reads
  std::vector<std::string> shards;

  Dataset open() const { return {path, "data set", name}; }
};

std::string describe_split(const Split& split) {
  const Dataset dataset = split.open();
  std::int64_t payload_bytes = 0, bytes = 0;
  bool has_names = true;
  for (const std::string& path : split.shards) {
    const OpenShard shard = open_shard_or_fail(path);
    payload_bytes += shard.head.payload_bytes();
    bytes += size_of(shard);
    has_names = has_names && shard.head.name_bytes > 0;
  }
  return fmt::format("{}: data set, {} shard{}\n", split.prefix, split.shards.size(),
                     split.shards.size() == 1 ? "" : "s") +
         describe_samples(dataset.info(), payload_bytes, has_names) +
         line("content", content_text(dataset.content_hash())) + line("size", human_bytes(bytes));
}

struct TensorTotals {
  std::int64_t num_tensors = 0;
  std::int64_t num_values = 0;
};

template <typename Accept>
TensorTotals total(const std::vector<NamedTensor>& tensors, const Accept& accept) {
  TensorTotals totals;
  for (const NamedTensor& tensor : tensors) {
    if (!accept(tensor)) continue;
    ++totals.num_tensors;
    totals.num_values += static_cast<std::int64_t>(tensor.values.size());
  }
  return totals;
}

// torchvision's names of what training does not learn but keeps.
bool is_running_statistic(const NamedTensor& tensor) {
  return tensor.name.ends_with("running_mean") || tensor.name.ends_with("running_var");
}

std::string to_text(const TensorTotals& totals) {
  return fmt::format("{} in {} tensors", human_count(totals.num_values), totals.num_tensors);
}

std::vector<std::byte> read_or_fail(const std::string& path) {
  try {
    return read_checkpoint_file(path);
  } catch (const Error& error) {
    fail("checkpoint '{}': {}", path, error.what());
  }
}

std::string describe_checkpoint(const std::string& path) {
  const std::vector<std::byte> bytes = read_or_fail(path);
  const Checkpoint checkpoint = decode_checkpoint(bytes, path);
  const TrainingState& state = checkpoint.state;
  std::string text =
      fmt::format("{}: checkpoint\n", path) +
      line("model", fmt::format("{}, of {} images{}", checkpoint.card.name, to_string(checkpoint.card.image),
                                checkpoint.card.orients ? "; turned as Exif says" : "")) +
      line("classes", list_of_classes(checkpoint.card.class_names)) + line("step", fmt::format("{}", state.step)) +
      line("samples", fmt::format("{} seen, {} a step", state.samples, state.batch_global)) +
      line("best top-1",
           state.best_step == 0 ? "-" : fmt::format("{:.2f} % at step {}", 100 * state.best_metric, state.best_step)) +
      line("seed", fmt::format("{}", state.seed)) + line("trained on", content_text(state.train_hash));
  text += line("parameters", to_text(total(checkpoint.model, [](const auto& t) { return !is_running_statistic(t); })));
  text += line("statistics", to_text(total(checkpoint.model, is_running_statistic)));
  for (const auto& [slot, tensors] : checkpoint.optimizer) {
    text += line(slot, to_text(total(tensors, [](const auto&) { return true; })));
  }
  if (!checkpoint.ema.empty()) text += line("ema", to_text(total(checkpoint.ema, [](const auto&) { return true; })));
  return text + line("size", human_bytes(static_cast<std::int64_t>(bytes.size())));
}

std::string describe_safetensors(const std::string& path) {
  const std::vector<std::byte> bytes = read_safetensors_file(path);
  const StateDict dict = decode_safetensors(bytes, path);
  return fmt::format("{}: weights (safetensors)\n", path) +
         line("parameters", to_text(total(dict.tensors, [](const auto& t) { return !is_running_statistic(t); }))) +
         line("statistics", to_text(total(dict.tensors, is_running_statistic))) +
         line("size", human_bytes(static_cast<std::int64_t>(bytes.size())));
}

bool is_folder(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_directory(path, unknown);
}

// Also one that is not there, but can be nothing else.
bool is_file(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown) || (path.ends_with(".h5") && !is_folder(path)) ||
         path.ends_with(".safetensors");
}

std::vector<Split> splits_of(const std::string& path) {
  if (!is_folder(path)) return {{path, "", path, find_shards(path, path, "")}};
  std::vector<Split> splits;
  for (const char* const name : kSplitNames)
    if (!find_any_shard(path, name).empty())
      splits.push_back({path, name, (std::filesystem::path(path) / name).string(), find_shards(path, path, name)});
  if (splits.empty())
    fail("{}: this folder holds no data set: no shards of {}. Name other files one by one, as in {}/*.h5", path,
         fmt::join(kSplitNames, ", "), path);
  return splits;
}

// That its shards, each of them whole, are all of one import.
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
  std::string text;
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
  if (is_checkpoint(path)) return describe_checkpoint(path);
  if (is_safetensors_file(path)) return describe_safetensors(path);
  check_not_truncated_checkpoint(path);
  return describe_shard(path);
}

std::optional<std::string> verify_file(const std::string& path) {
  try {
    if (is_checkpoint(path)) {
      decode_checkpoint(read_or_fail(path), path);
    } else if (is_safetensors_file(path)) {
      decode_safetensors(read_safetensors_file(path), path);
    } else {
      check_not_truncated_checkpoint(path);
      return find_damage_in_body(open_shard(path), path);
    }
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace convoy::io
