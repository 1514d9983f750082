/// Opens the shards of a split, checks that they belong together, and reads samples from them.
#include "convoy/io/dataset.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <system_error>

#include <fcntl.h>

#include "convoy/base/error.h"
#include "convoy/base/host_name.h"
#include "convoy/base/release_memory.h"
#include "convoy/io/shard_files.h"

#include "io/little_endian.h"
#include "io/shard.h"

namespace convoy::io {

namespace {

constexpr const char* kRemedy =
    "The file was overwritten or cut short, or its disk is failing. Copy it back or import it again, then run the same "
    "command again; checkpoints are not affected.";

constexpr std::uint64_t kCopyBytes = std::uint64_t{8} << 20;  // at least what parallel file systems prefer

void require_same_import(const std::string& key, const std::string& path, const ShardHead& shard,
                         const std::string& first_path, const DatasetInfo& first) {
  if (shard.info.kind != first.kind) {
    refuse("{}: shard '{}' holds {}, but '{}' holds {}. Import them together", key, path, shard.info.kind, first_path,
           first.kind);
  }
  if (shard.info.text.tokenization != first.text.tokenization) {
    refuse("{}: shards '{}' and '{}' have different vocabularies. Import them together", key, path, first_path);
  }
  if (shard.info.encoded != first.encoded) {
    refuse("{}: one of the shards '{}' and '{}' holds files, the other pixels (import.storage). Import them together",
           key, path, first_path);
  }
  if (shard.info.oriented != first.oriented) {
    refuse(
        "{}: one of the shards '{}' and '{}' was imported with import.orient, the other without. Import them together",
        key, path, first_path);
  }
  if (shard.info.image != first.image) {
    refuse("{}: shard '{}' holds {} images, but '{}' holds {} images. Import them together", key, path,
           to_string(shard.info.image), first_path, to_string(first.image));
  }
  if (const std::string own = describe_forms(shard.info.record()), theirs = describe_forms(first.record());
      own != theirs)
    refuse("{}: shard '{}' holds the arrays {}, but '{}' holds {}. Import them together", key, path, own, first_path,
           theirs);
  const char* const outputs = outputs_of(first.target.kind);
  if (shard.info.target.kind != first.target.kind)
    refuse("{}: the targets of shard '{}' are {}, but those of '{}' are {}. Import them together", key, path,
           outputs_of(shard.info.target.kind), first_path, outputs);
  if (shard.info.class_names != first.class_names) {
    refuse("{0}: shards '{1}' ({2} {5}) and '{3}' ({4}) name different {5}. Import them together", key, path,
           shard.info.class_names.size(), first_path, first.class_names.size(), outputs);
  }
  if (shard.info.class_counts != first.class_counts || shard.info.channel_mean != first.channel_mean ||
      shard.info.channel_stddev != first.channel_stddev || shard.info.text != first.text ||
      shard.info.arrays != first.arrays || shard.info.target != first.target || shard.info.source != first.source ||
      shard.info.num_folds != first.num_folds || shard.info.fold_mean != first.fold_mean ||
      shard.info.fold_stddev != first.fold_stddev) {
    refuse("{}: shards '{}' (from {}) and '{}' (from {}) come from different imports. Import them together", key, path,
           shard.info.source, first_path, first.source);
  }
}

}  // namespace

/// The samples of a shard in memory, which the first thread that needs one of them reads.
struct ShardInMemory {
  std::once_flag read_once;
  std::vector<std::byte> bytes;
};

/// A shard that is read, not mapped into memory: if the file is cut short, a mapping reports it only by SIGBUS.
struct Dataset::Shard {
  void read_body(std::int64_t offset, std::span<std::byte> bytes) const;
  /// Reads the sample `index`, or one of its arrays, and verifies it.
  void read_sample(std::size_t index, std::int64_t offset, std::span<std::byte> bytes, std::size_t part = 0) const;
  /// Returns a verified part of a record, of the size of `bytes`. It lies in memory, or is read into `bytes`.
  std::span<const std::byte> read_part(std::size_t index, std::int64_t offset, std::span<std::byte> bytes,
                                       std::size_t part) const;
  /// Returns a part of the samples in memory. Only if there is `in_memory`.
  std::span<const std::byte> bytes_in_memory(std::int64_t offset, std::size_t size) const;
  /// Compares the bytes of the sample `index`, or of one of its arrays, with their hash, as often as `verify` says.
  void verify_sample(std::size_t index, std::span<const std::byte> bytes, std::size_t part) const;
  /// What to do if the bytes have changed.
  std::string remedy() const;

  std::string path;
  OpenShard open;
  std::shared_ptr<const FileDescriptor> copy;  ///< with the body of this shard and others; null: no copy
  std::uint64_t offset_in_copy = 0;
  std::int64_t first_sample = 0;                     ///< in the data set
  VerifyKind verify = VerifyKind::kEpoch;            ///< kOnce for samples in memory, which do not change
  std::unique_ptr<std::atomic<bool>[]> is_verified;  ///< for each hash; only for VerifyKind::kOnce
  std::unique_ptr<ShardInMemory> in_memory;          ///< null: each sample is read from the file
};

void Dataset::Shard::read_body(std::int64_t offset, std::span<std::byte> bytes) const {
  const std::uint64_t begin = copy ? offset_in_copy : open.trailer.body_offset;
  try {
    read_at(copy ? *copy : open.file, begin + static_cast<std::uint64_t>(offset), bytes, path);
  } catch (const Error& error) {
    throw StoreError(fmt::format("{}. {}", error.what(), remedy()));
  }
}

void Dataset::Shard::read_sample(std::size_t index, std::int64_t offset, std::span<std::byte> bytes,
                                 std::size_t part) const {
  read_body(offset, bytes);
  verify_sample(index, bytes, part);
}

std::span<const std::byte> Dataset::Shard::bytes_in_memory(std::int64_t offset, std::size_t size) const {
  std::call_once(in_memory->read_once, [&] {
    std::vector<std::byte> all(static_cast<std::size_t>(open.head.payload_bytes()));
    read_body(0, all);
    in_memory->bytes = std::move(all);
  });
  return std::span(in_memory->bytes).subspan(static_cast<std::size_t>(offset), size);
}

void Dataset::Shard::verify_sample(std::size_t index, std::span<const std::byte> bytes, std::size_t part) const {
  const std::size_t h = index * num_parts(open.head.info) + part;
  if (verify == VerifyKind::kNone || (is_verified && is_verified[h].load(std::memory_order_relaxed))) return;
  if (short_hash_of(bytes) != open.head.hashes[h])
    throw StoreError(fmt::format(
        "'{}' is damaged: the bytes of its {} {} are not those that were imported (their hash, XXH3-64, differs). {}",
        path, input_kinds::one_of(open.head.info.kind), index, remedy()));
  if (is_verified) is_verified[h].store(true, std::memory_order_relaxed);
}

std::span<const std::byte> Dataset::Shard::read_part(std::size_t index, std::int64_t offset, std::span<std::byte> bytes,
                                                     std::size_t part) const {
  if (!in_memory) {
    read_sample(index, offset, bytes, part);
    return bytes;
  }
  const std::span<const std::byte> present = bytes_in_memory(offset, bytes.size());
  verify_sample(index, present, part);
  return present;
}

std::string Dataset::Shard::remedy() const {
  if (!copy) return kRemedy;
  return fmt::format(
      "This is the copy that data.copy_to made on {}, whose memory or disk is failing; the shard itself is correct. "
      "Run the same command again; if this message comes again, leave out this node. Checkpoints are not affected.",
      host_name());
}

Dataset::Dataset(const std::string& path, const std::string& key, VerifyKind verify, const std::string& split) {
  if (path.empty()) refuse("{} is not given. It must be a data set made by 'convoy import'", key);
  const std::vector<std::string> paths =
      find_shards(path, fmt::format("{} = {}", key, path), split.empty() ? key.substr(key.rfind('.') + 1) : split);
  for (const std::string& shard_path : paths) {
    try {
      shards_.push_back(std::make_shared<Shard>(Shard{
          .path = shard_path, .open = open_shard(shard_path), .first_sample = info_.num_samples, .verify = verify}));
    } catch (const Error& error) {
      refuse("{}: shard '{}': {}", key, shard_path, error.what());
    }
    Shard& shard = *shards_.back();
    ShardHead& head = shard.open.head;
    const auto index = static_cast<std::int64_t>(shards_.size()) - 1;
    const bool asked_for_alone = shard_path == path;
    if (!asked_for_alone && (head.index != index || head.num_shards != static_cast<std::int64_t>(paths.size()))) {
      refuse(
          "{}: shard '{}' was written as number {} of {}, but is now number {} of {}: shards are missing or were "
          "renamed. Import again",
          key, shard_path, head.index + 1, head.num_shards, index + 1, paths.size());
    }
    if (index == 0) info_ = head.info, info_.num_samples = 0, num_shards_of_import_ = head.num_shards;
    require_same_import(key, shard_path, head, paths.front(), info_);
    head.info.text.tokenization.model.clear();  // info_ holds it, and the statistics of folds
    release_memory(head.info.fold_mean);
    release_memory(head.info.fold_stddev);
    info_.num_samples += head.info.num_samples;
  }
  if (num_shards() < num_shards_of_import_) count_classes();
  keep_in_memory();
  for (const auto& shard : shards_)
    if (shard->verify == VerifyKind::kOnce)
      shard->is_verified = std::make_unique<std::atomic<bool>[]>(shard->open.head.hashes.size());
}

// Decides whether samples are kept in memory. Those of images and texts are not: they take longer to prepare.
void Dataset::keep_in_memory() {
  const std::int64_t bytes = info_.num_samples * info_.record_bytes();
  if (info_.kind != input_kinds::kArrays || bytes > kMaxBytesInMemory) return;
  info_.bytes_in_memory = bytes;
  for (const auto& shard : shards_) {
    shard->in_memory = std::make_unique<ShardInMemory>();
    if (shard->verify == VerifyKind::kEpoch) shard->verify = VerifyKind::kOnce;
  }
}

// Counts the classes or labels of the samples: the head of a shard that was opened alone has the counts of all shards.
void Dataset::count_classes() {
  std::vector<std::int64_t>& counts = info_.class_counts;
  std::ranges::fill(counts, 0);
  if (info_.target.kind == TargetKind::kNumbers) return;
  for (std::int64_t i = 0; i < info_.num_samples; ++i) {
    const auto [shard, index] = find(i);
    const ShardHead& head = shard.open.head;
    for (const std::int32_t label : head.of_sample(head.labels, index)) ++counts[static_cast<std::size_t>(label)];
    const std::span<const float> target = head.of_sample(head.targets, index);
    for (std::size_t k = 0; k < target.size(); ++k) counts[k] += target[k] == 1 ? 1 : 0;
  }
}

void Dataset::keep(const std::vector<std::int64_t>& samples, std::int64_t fold) {
  std::vector<std::int64_t> kept;
  for (const std::int64_t sample : samples) {
    const auto [shard, index] = find(sample);
    kept.push_back(shard.first_sample + static_cast<std::int64_t>(index));
  }
  kept_ = std::move(kept);
  info_.num_samples = std::ssize(kept_);
  count_classes();
  if (fold > 0) info_.use_statistics_outside(fold);
}

Dataset Dataset::with_all() const {
  Dataset all = *this;
  all.kept_.clear();
  all.info_.num_samples = shards_.back()->first_sample + shards_.back()->open.head.info.num_samples;
  all.count_classes();
  return all;
}

std::pair<const Dataset::Shard&, std::size_t> Dataset::find(std::int64_t sample) const {
  if (sample < 0 || sample >= info_.num_samples)
    fail("sample {} was requested, but the data set has {} samples", sample, info_.num_samples);
  if (!kept_.empty()) sample = kept_[static_cast<std::size_t>(sample)];
  const auto next = std::upper_bound(shards_.begin(), shards_.end(), sample,
                                     [](std::int64_t s, const auto& shard) { return s < shard->first_sample; });
  const Shard& shard = **std::prev(next);
  return {shard, static_cast<std::size_t>(sample - shard.first_sample)};
}

void Dataset::read_pixels(std::int64_t sample, std::span<std::byte> pixels) const {
  const auto [shard, index] = find(sample);
  if (info_.kind != input_kinds::kImages) return SampleStore::read_pixels(sample, pixels);
  if (info_.encoded || std::ssize(pixels) != info_.image.count())
    fail("{} bytes of pixels were requested, but the data set holds {}", pixels.size(),
         info_.encoded ? "files" : to_string(info_.image) + " images");
  shard.read_sample(index, static_cast<std::int64_t>(index) * info_.image.count(), pixels);
}

std::span<const std::byte> Dataset::read_file(std::int64_t sample, std::vector<std::byte>& memory) const {
  const auto [shard, index] = find(sample);
  if (info_.kind != input_kinds::kImages) return SampleStore::read_file(sample, memory);
  if (!info_.encoded) fail("a file was requested, but the data set holds pixels");
  const std::vector<std::int64_t>& offsets = shard.open.head.offsets;
  const auto size = static_cast<std::size_t>(offsets[index + 1] - offsets[index]);
  if (memory.size() < size) memory.resize(size);
  const std::span<std::byte> bytes = std::span(memory).first(size);
  shard.read_sample(index, offsets[index], bytes);
  return bytes;
}

std::int64_t Dataset::num_tokens(std::int64_t sample) const {
  const auto [shard, index] = find(sample);
  if (info_.kind != input_kinds::kText) return SampleStore::num_tokens(sample);
  return shard.open.head.offsets[index + 1] - shard.open.head.offsets[index];
}

// Tokens of 16 bits are read into the memory's first half and widened from the last to the first.
std::span<const std::int32_t> Dataset::read_tokens(std::int64_t sample, std::vector<std::int32_t>& memory) const {
  const auto count = static_cast<std::size_t>(num_tokens(sample));
  const auto [shard, index] = find(sample);
  const std::int64_t value_bytes = payload_layout(info_).value_bytes;
  if (memory.size() < count) memory.resize(count);
  const auto tokens = std::span(memory).first(count);
  const auto bytes = std::as_writable_bytes(tokens).first(count * static_cast<std::size_t>(value_bytes));
  shard.read_sample(index, shard.open.head.offsets[index] * value_bytes, bytes);
  if (value_bytes == 2)
    for (std::size_t i = count; i-- > 0;) {
      std::uint16_t token = 0;
      std::memcpy(&token, bytes.data() + 2 * i, sizeof token);
      tokens[i] = token;
    }
  return tokens;
}

std::span<const std::byte> Dataset::read_array(std::int64_t sample, std::size_t input,
                                               std::vector<std::byte>& memory) const {
  const auto [shard, index] = find(sample);
  if (input >= info_.arrays.size()) return SampleStore::read_array(sample, input, memory);
  const auto size = static_cast<std::size_t>(info_.arrays[input].bytes());
  std::int64_t offset = static_cast<std::int64_t>(index) * info_.record_bytes();
  for (std::size_t i = 0; i < input; ++i) offset += info_.arrays[i].bytes();
  if (memory.size() < size) memory.resize(size);
  return shard.read_part(index, offset, std::span(memory).first(size), input);
}

void Dataset::read_target(std::int64_t sample, std::span<float> values) const {
  const auto [shard, index] = find(sample);
  const auto count = static_cast<std::size_t>(info_.num_target_values());
  if (count == 0) return SampleStore::read_target(sample, values);
  if (values.size() != count) fail("{} values of a target were requested, but it has {}", values.size(), count);
  if (!info_.target.is_in_record()) {
    std::ranges::copy(shard.open.head.of_sample(shard.open.head.targets, index), values.begin());
    return;
  }
  const std::span<std::byte> bytes = std::as_writable_bytes(values);
  const std::int64_t offset = (static_cast<std::int64_t>(index) + 1) * info_.record_bytes() - std::ssize(bytes);
  const std::span<const std::byte> target = shard.read_part(index, offset, bytes, info_.arrays.size());
  if (target.data() != bytes.data()) std::ranges::copy(target, bytes.begin());
}

std::int32_t Dataset::label(std::int64_t sample) const {
  const auto [shard, index] = find(sample);
  return shard.open.head.labels.empty() ? -1 : shard.open.head.labels[index];
}

std::int64_t Dataset::fold(std::int64_t sample) const {
  const auto [shard, index] = find(sample);
  return shard.open.head.folds.empty() ? 0 : shard.open.head.folds[index];
}

std::string Dataset::name(std::int64_t sample) const {
  const auto [shard, index] = find(sample);
  const ShardHead& head = shard.open.head;
  std::string name(static_cast<std::size_t>(head.name_bytes), '\0');
  const std::int64_t offset = head.payload_bytes() + static_cast<std::int64_t>(index) * head.name_bytes;
  shard.read_body(offset, std::as_writable_bytes(std::span(name)));
  name.resize(strnlen(name.data(), name.size()));
  return name;
}

const std::string& Dataset::shard_path(std::int64_t shard) const {
  return shards_[shard]->path;
}

std::int64_t Dataset::body_bytes(std::int64_t shard) const {
  return static_cast<std::int64_t>(shards_[shard]->open.trailer.body_bytes);
}

std::optional<std::string> Dataset::copy_body(std::int64_t shard, const FileDescriptor& to, std::uint64_t offset,
                                              const std::function<void()>& on_progress) const {
  const Shard& from = *shards_[shard];
  const std::uint64_t size = from.open.trailer.body_bytes;
  posix_fadvise(from.open.file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);  // a parallel file system then reads ahead
  Hasher hasher;
  std::vector<std::byte> chunk(std::min<std::uint64_t>(kCopyBytes, size));
  for (std::uint64_t done = 0; done < size;) {
    const auto part = std::span(chunk).first(std::min<std::uint64_t>(chunk.size(), size - done));
    from.read_body(static_cast<std::int64_t>(done), part);
    hasher.update(part);
    if (const int error = write_all_at(to, offset + done, part); error != 0)
      return std::generic_category().message(error);
    done += part.size();
    on_progress();
  }
  if (hasher.digest() != from.open.trailer.body_hash)
    throw StoreError(fmt::format("'{}' is damaged: the hash of its {}s and names (XXH3-128) differs. {}", from.path,
                                 input_kinds::one_of(from.open.head.info.kind), kRemedy));
  posix_fadvise(from.open.file.get(), 0, 0, POSIX_FADV_DONTNEED);  // from now on the copy is read
  return std::nullopt;
}

void Dataset::read_from_copy(std::int64_t shard, std::shared_ptr<const FileDescriptor> file, std::uint64_t offset) {
  Shard& own = *shards_[shard];
  own.copy = std::move(file);
  own.offset_in_copy = offset;
  own.open.file = FileDescriptor();
}

// What all samples have in common, for content_hash().
std::string Dataset::form() const {
  if (info_.kind == input_kinds::kText)
    return fmt::format("{}, {}", info_.text.tokenization.kind, info_.text.tokenization.model);
  if (info_.kind == input_kinds::kArrays)
    return fmt::format("{}, {}", describe_forms(info_.record()), to_string(info_.target.kind));
  return fmt::format("{}, {}, {}", to_string(info_.image), info_.encoded ? "encoded" : "raw",
                     info_.oriented ? "upright" : "");
}

std::int64_t Dataset::content_hash(bool of_all) const {
  std::string description = form();
  for (const std::string& name : info_.class_names) description += '\0' + name;
  Hasher hasher;
  hasher.update(std::as_bytes(std::span(description)));
  const bool is_whole = of_all || kept_.empty();
  const auto add = [&](auto ShardHead::*values) {
    for (const auto& shard : shards_)
      if (is_whole) hasher.update(std::as_bytes(std::span(shard->open.head.*values)));
    for (std::int64_t i = 0; !is_whole && i < std::ssize(kept_); ++i) {
      const auto [shard, index] = find(i);
      const ShardHead& head = shard.open.head;
      hasher.update(std::as_bytes(head.of_sample(head.*values, index)));
    }
  };
  add(&ShardHead::hashes);
  add(&ShardHead::labels);
  add(&ShardHead::targets);
  const Hash hash = hasher.digest();
  return static_cast<std::int64_t>(get_u64(std::span(hash).first<8>()));
}

}  // namespace convoy::io
