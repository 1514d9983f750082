/// Descriptions and full checks of our files.
#include "convoy/io/inspect.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string_view>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/safetensors.h"

#include "io/atomic_file.h"
#include "io/shard.h"

namespace convoy::io {

namespace {

constexpr std::string_view kCheckpointMagic = "CONVOYCK";
constexpr std::size_t kCheckpointTrailerBytes = 32;
constexpr std::size_t kShownClasses = 10;

bool is_checkpoint(const std::string& path) {
  const FileDescriptor file = open_for_reading(path);
  const std::uint64_t size = file_size(file, path);
  if (size < kCheckpointTrailerBytes) return false;
  std::array<std::byte, kCheckpointMagic.size()> magic;
  read_at(file, size - kCheckpointTrailerBytes, magic, path);
  return std::memcmp(magic.data(), kCheckpointMagic.data(), magic.size()) == 0;
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

std::string describe_images(const ShardHead& head) {
  const std::string turned = head.info.oriented ? "; turned as Exif says" : "";
  if (!head.info.encoded) return fmt::format("{} (rows x columns x channels){}", to_string(head.info.image), turned);
  return fmt::format("files as they were, {} on average; {}{}",
                     human_bytes(head.payload_bytes() / head.info.num_samples),
                     head.info.image.c == 1 ? "grey" : "in colour", turned);
}

std::string hexadecimal(const Hash& hash) {
  std::string text;
  for (const std::byte byte : hash) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

std::string describe_shard(const std::string& path) {
  const OpenShard shard = open_shard_or_fail(path);
  const DatasetInfo& info = shard.head.info;
  const auto bytes = static_cast<std::int64_t>(shard.trailer.body_offset + shard.trailer.body_bytes);
  return fmt::format("{}: data set, shard {} of {}\n", path, shard.head.index + 1, shard.head.num_shards) +
         line("samples", fmt::format("{}", info.num_samples)) +  //
         line("images", describe_images(shard.head)) +           //
         line("classes", list_of_classes(info.class_names)) +
         line("in the split",
              fmt::format("{} samples, {}",
                          std::accumulate(info.class_counts.begin(), info.class_counts.end(), std::int64_t{0}),
                          samples_a_class(info.class_counts))) +
         line("names", shard.head.name_bytes > 0 ? "of the files" : "none") +
         line("mean", fmt::format("{:.4f}", fmt::join(info.channel_mean, ", "))) +
         line("deviation", fmt::format("{:.4f}", fmt::join(info.channel_deviation, ", "))) +
         line("source", info.source) +  //
         line("hash", hexadecimal(shard.trailer.body_hash) + " (XXH3-128 of images and names)") +
         line("size", human_bytes(bytes + static_cast<std::int64_t>(kShardTrailerBytes)));
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
      line("model", fmt::format("{}, of {} images", checkpoint.card.name, to_string(checkpoint.card.image))) +
      line("classes", list_of_classes(checkpoint.card.class_names)) + line("step", fmt::format("{}", state.step)) +
      line("samples", fmt::format("{} seen, {} a step", state.samples, state.batch_global)) +
      line("best top-1",
           state.best_step == 0 ? "-" : fmt::format("{:.2f} % at step {}", 100 * state.best_metric, state.best_step)) +
      line("seed", fmt::format("{}", state.seed));
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

}  // namespace

std::string describe_file(const std::string& path) {
  if (is_checkpoint(path)) return describe_checkpoint(path);
  return is_safetensors_file(path) ? describe_safetensors(path) : describe_shard(path);
}

std::optional<std::string> verify_file(const std::string& path) {
  try {
    if (is_checkpoint(path)) {
      decode_checkpoint(read_or_fail(path), path);
    } else if (is_safetensors_file(path)) {
      decode_safetensors(read_safetensors_file(path), path);
    } else {
      return find_damage_in_body(open_shard(path), path);
    }
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace convoy::io
