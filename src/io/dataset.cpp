/// Opens the shards of a split, checks that they belong together, and reads samples from them.
#include "convoy/io/dataset.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "convoy/base/error.h"

#include "io/atomic_file.h"
#include "io/little_endian.h"
#include "io/shard.h"
#include "io/shard_files.h"

namespace convoy::io {

namespace {

void require_same_import(const std::string& key, const std::string& path, const ShardHead& shard,
                         const std::string& first_path, const DatasetInfo& first) {
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
    refuse("{}: shard '{}' holds {} images, '{}' {}. Import them together", key, path, to_string(shard.info.image),
           first_path, to_string(first.image));
  }
  if (shard.info.class_names != first.class_names) {
    refuse("{}: shards '{}' ({} classes) and '{}' ({}) name different classes. Import them together", key, path,
           shard.info.class_names.size(), first_path, first.class_names.size());
  }
  if (shard.info.class_counts != first.class_counts || shard.info.channel_mean != first.channel_mean ||
      shard.info.channel_deviation != first.channel_deviation || shard.info.source != first.source) {
    refuse("{}: shards '{}' (from {}) and '{}' (from {}) are of different imports. Import them together", key, path,
           shard.info.source, first_path, first.source);
  }
}

}  // namespace

/// Samples are counted from the shard's first. Read, not mapped into memory: of a file that is cut short a mapping
/// knows no error but SIGBUS.
struct Dataset::Shard {
  Shard(const std::string& shard_path, OpenShard opened, VerifyKind verify_in)
      : path(shard_path), open(std::move(opened)), verify(verify_in) {
    if (verify == VerifyKind::kOnce) is_verified = std::make_unique<std::atomic<bool>[]>(open.head.hashes.size());
  }

  void read_pixels(std::size_t sample, std::span<std::byte> pixels) const;
  std::span<const std::byte> read_file(std::size_t sample, std::vector<std::byte>& memory) const;
  std::string name(std::size_t sample) const;
  void read_body(std::int64_t offset, std::span<std::byte> bytes) const;
  void read_sample(std::size_t sample, std::int64_t offset, std::span<std::byte> bytes) const;

  std::string path;
  OpenShard open;
  std::int64_t first_sample = 0;  ///< in the data set
  VerifyKind verify;
  std::unique_ptr<std::atomic<bool>[]> is_verified;  ///< by sample, where once is enough
};

namespace {

constexpr const char* kRemedy =
    "The file was overwritten or cut short, or its disk is failing. Copy it back or import it again, then run the same "
    "command again; checkpoints are unharmed.";

}  // namespace

void Dataset::Shard::read_body(std::int64_t offset, std::span<std::byte> bytes) const {
  try {
    read_at(open.file, open.trailer.body_offset + static_cast<std::uint64_t>(offset), bytes, path);
  } catch (const Error& error) {
    throw StoreError(fmt::format("{}. {}", error.what(), kRemedy));
  }
}

void Dataset::Shard::read_sample(std::size_t sample, std::int64_t offset, std::span<std::byte> bytes) const {
  read_body(offset, bytes);
  if (verify == VerifyKind::kNone || (is_verified && is_verified[sample].load(std::memory_order_relaxed))) return;
  if (short_hash_of(bytes) != open.head.hashes[sample])
    throw StoreError(
        fmt::format("'{}' is damaged: the bytes of its image {} are not those that were imported (their "
                    "hash, XXH3-64, differs). {}",
                    path, sample, kRemedy));
  if (is_verified) is_verified[sample].store(true, std::memory_order_relaxed);
}

void Dataset::Shard::read_pixels(std::size_t sample, std::span<std::byte> pixels) const {
  if (open.head.info.encoded || std::ssize(pixels) != open.head.info.image.count())
    fail("{} bytes of pixels asked for, the data set holds {}", pixels.size(),
         open.head.info.encoded ? "files" : to_string(open.head.info.image));
  read_sample(sample, static_cast<std::int64_t>(sample) * open.head.info.image.count(), pixels);
}

std::span<const std::byte> Dataset::Shard::read_file(std::size_t sample, std::vector<std::byte>& memory) const {
  if (!open.head.info.encoded) fail("a file was asked for, the data set holds pixels");
  const std::int64_t begin = open.head.offsets[sample];
  const auto size = static_cast<std::size_t>(open.head.offsets[sample + 1] - begin);
  if (memory.size() < size) memory.resize(size);
  const std::span<std::byte> bytes = std::span(memory).first(size);
  read_sample(sample, begin, bytes);
  return bytes;
}

std::string Dataset::Shard::name(std::size_t sample) const {
  const ShardHead& head = open.head;
  std::string name(static_cast<std::size_t>(head.name_bytes), '\0');
  const std::int64_t offset = head.payload_bytes() + static_cast<std::int64_t>(sample) * head.name_bytes;
  read_body(offset, std::as_writable_bytes(std::span(name)));
  name.resize(strnlen(name.data(), name.size()));
  return name;
}

Dataset::Dataset(const std::string& path, const std::string& key, VerifyKind verify)
    : Dataset(path, key, key.substr(key.rfind('.') + 1), verify) {}

Dataset::Dataset(const std::string& path, const std::string& key, const std::string& split, VerifyKind verify) {
  if (path.empty()) refuse("{} is not given. It is a data set that 'convoy import' made", key);
  const std::vector<std::string> paths = find_shards(path, fmt::format("{} = {}", key, path), split);
  for (const std::string& shard_path : paths) {
    try {
      shards_.push_back(std::make_unique<Shard>(shard_path, open_shard(shard_path), verify));
    } catch (const Error& error) {
      refuse("{}: shard '{}': {}", key, shard_path, error.what());
    }
    Shard& shard = *shards_.back();
    const ShardHead& head = shard.open.head;
    const auto index = static_cast<std::int64_t>(shards_.size()) - 1;
    const bool asked_for_alone = shard_path == path;
    if (!asked_for_alone && (head.index != index || head.num_shards != static_cast<std::int64_t>(paths.size()))) {
      refuse("{}: shard '{}' was written as number {} of {}, it is number {} of the {} that are there. Import again",
             key, shard_path, head.index + 1, head.num_shards, index + 1, paths.size());
    }
    if (index == 0) info_ = head.info, info_.num_samples = 0;
    require_same_import(key, shard_path, head, paths.front(), info_);
    shard.first_sample = info_.num_samples;
    info_.num_samples += head.info.num_samples;
  }
}

Dataset::~Dataset() = default;
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;

const Dataset::Shard& Dataset::shard_of(std::int64_t sample) const {
  if (sample < 0 || sample >= info_.num_samples) fail("sample {} of a data set of {}", sample, info_.num_samples);
  const auto next = std::upper_bound(shards_.begin(), shards_.end(), sample,
                                     [](std::int64_t s, const auto& shard) { return s < shard->first_sample; });
  return **std::prev(next);
}

void Dataset::read_pixels(std::int64_t sample, std::span<std::byte> pixels) const {
  const Shard& shard = shard_of(sample);
  shard.read_pixels(static_cast<std::size_t>(sample - shard.first_sample), pixels);
}

std::span<const std::byte> Dataset::read_file(std::int64_t sample, std::vector<std::byte>& memory) const {
  const Shard& shard = shard_of(sample);
  return shard.read_file(static_cast<std::size_t>(sample - shard.first_sample), memory);
}

std::int32_t Dataset::label(std::int64_t sample) const {
  const Shard& shard = shard_of(sample);
  return shard.open.head.labels[static_cast<std::size_t>(sample - shard.first_sample)];
}

std::string Dataset::name(std::int64_t sample) const {
  const Shard& shard = shard_of(sample);
  return shard.name(static_cast<std::size_t>(sample - shard.first_sample));
}

std::int64_t Dataset::content_hash() const {
  std::string description = fmt::format("{}, {}, {}", to_string(info_.image), info_.encoded ? "encoded" : "raw",
                                        info_.oriented ? "upright" : "");
  for (const std::string& name : info_.class_names) description += '\0' + name;
  Hasher hasher;
  hasher.update(std::as_bytes(std::span(description)));
  for (const auto& shard : shards_) hasher.update(std::as_bytes(std::span(shard->open.head.hashes)));
  for (const auto& shard : shards_) hasher.update(std::as_bytes(std::span(shard->open.head.labels)));
  const Hash hash = hasher.digest();
  return static_cast<std::int64_t>(get_u64(std::span(hash).first<8>()));
}

std::optional<std::string> Dataset::find_damage() const {
  for (const auto& shard : shards_) {
    if (const auto damage = find_damage_in_body(shard->open, shard->path)) {
      return fmt::format("shard '{}': {}", shard->path, *damage);
    }
  }
  return std::nullopt;
}

}  // namespace convoy::io
