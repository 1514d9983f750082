/// Opens the shards of a split, checks that they belong together, and maps their images into memory.
#include "convoy/io/dataset.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <sys/mman.h>

#include "convoy/base/error.h"
#include "convoy/io/shard_writer.h"

#include "io/shard.h"

namespace convoy::io {

namespace {

namespace fs = std::filesystem;

/// A file seen as memory.
class Mapping {
 public:
  Mapping(const FileDescriptor& file, std::size_t size) : size_(size) {
    data_ = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (data_ == MAP_FAILED) fail("it cannot be mapped into memory: {}", std::strerror(errno));
  }
  ~Mapping() { ::munmap(data_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const std::uint8_t* data() const { return static_cast<const std::uint8_t*>(data_); }

 private:
  void* data_;
  std::size_t size_;
};

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// NAME-000.h5 ... beside each other, by number.
std::map<std::int64_t, std::string> numbered_shards(const fs::path& prefix) {
  std::map<std::int64_t, std::string> found;
  std::error_code error;
  const fs::path directory = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  for (const fs::directory_entry& file : fs::directory_iterator(directory, error)) {
    const auto index = shard_index(file.path().filename().string(), prefix.filename().string());
    if (index) found[*index] = (prefix.parent_path() / file.path().filename()).string();
  }
  return found;
}

[[noreturn]] void refuse_absent(const std::string& path, const std::string& key, const fs::path& prefix) {
  const std::string one = prefix.string() + ".h5", first = prefix.string() + "-000.h5";
  if (prefix == path)
    refuse("{} = {}: there is no such file or folder, nor '{}' or '{}'. 'convoy import' makes data sets", key, path,
           one, first);
  std::vector<std::string> others;
  for (const char* const split : kSplitNames)
    if (!find_any_shard(path, split).empty()) others.push_back((fs::path(path) / split).string());
  refuse("{} = {}: there is neither '{}' nor '{}'{}. 'convoy import' makes them", key, path, one, first,
         others.empty() ? "" : fmt::format("; there is {}", fmt::join(others, ", ")));
}

std::vector<std::string> find_shards(const std::string& path, const std::string& key, const std::string& split) {
  if (path.empty()) refuse("{} is not given. It is a data set that 'convoy import' made", key);
  if (is_file(path)) return {path};
  std::error_code error;
  const fs::path prefix = fs::is_directory(path, error) ? fs::path(path) / split : fs::path(path);
  const std::string alone = prefix.string() + ".h5";
  const auto numbered = numbered_shards(prefix);
  if (is_file(alone) && !numbered.empty()) {
    refuse("{}: both '{}' and '{}' are there, of different imports. Remove the older", key, alone,
           numbered.begin()->second);
  }
  if (is_file(alone)) return {alone};
  if (numbered.empty()) refuse_absent(path, key, prefix);
  std::vector<std::string> paths;
  for (const auto& [index, shard] : numbered) {
    if (index != static_cast<std::int64_t>(paths.size())) {
      refuse("{}: shard '{}-{:03}.h5' is missing, '{}' is there. Import again, or copy it back", key, prefix.string(),
             paths.size(), shard);
    }
    paths.push_back(shard);
  }
  return paths;
}

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

struct Dataset::Shard {
  Shard(const std::string& shard_path, OpenShard opened)
      : path(shard_path),
        open(std::move(opened)),
        mapping(open.file, open.trailer.body_offset + open.trailer.body_bytes),
        payload(mapping.data() + open.trailer.body_offset) {}

  std::string path;
  OpenShard open;
  Mapping mapping;
  const std::uint8_t* payload;  ///< images, or files one after the other
  std::int64_t first_sample = 0;
};

Dataset::Dataset(const std::string& path, const std::string& key)
    : Dataset(path, key, key.substr(key.rfind('.') + 1)) {}

Dataset::Dataset(const std::string& path, const std::string& key, const std::string& split) {
  const std::vector<std::string> paths = find_shards(path, key, split);
  for (const std::string& shard_path : paths) {
    try {
      shards_.push_back(std::make_unique<Shard>(shard_path, open_shard(shard_path)));
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

const std::uint8_t* Dataset::image(std::int64_t sample) const {
  if (info_.encoded) fail("an image was asked for, but the data set holds files that are not decoded yet");
  const Shard& shard = shard_of(sample);
  return shard.payload + (sample - shard.first_sample) * info_.image.count();
}

std::span<const std::byte> Dataset::encoded(std::int64_t sample) const {
  if (!info_.encoded) fail("a file was asked for, but the data set holds pixels");
  const Shard& shard = shard_of(sample);
  const std::int64_t* const offset = shard.open.head.offsets.data() + (sample - shard.first_sample);
  return {reinterpret_cast<const std::byte*>(shard.payload) + offset[0],
          static_cast<std::size_t>(offset[1] - offset[0])};
}

std::span<const std::byte> Dataset::read(std::int64_t sample, std::vector<std::byte>&) const {
  if (info_.encoded) return encoded(sample);
  return std::as_bytes(std::span(image(sample), static_cast<std::size_t>(info_.image.count())));
}

std::int32_t Dataset::label(std::int64_t sample) const {
  const Shard& shard = shard_of(sample);
  return shard.open.head.labels[static_cast<std::size_t>(sample - shard.first_sample)];
}

std::string Dataset::name(std::int64_t sample) const {
  const Shard& shard = shard_of(sample);
  const ShardHead& head = shard.open.head;
  const auto length = static_cast<std::size_t>(head.name_bytes);
  const char* const names = reinterpret_cast<const char*>(shard.payload) + head.payload_bytes();
  const char* const name = names + (sample - shard.first_sample) * head.name_bytes;
  return {name, strnlen(name, length)};
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
