/// Shards to bytes and back.
#include "io/shard.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/foreign_kind.h"
#include "convoy/io/shard_files.h"
#include "convoy/params/data_parameters.h"

#include "io/hdf5.h"
#include "io/little_endian.h"
#include "io/stored_arrays.h"

namespace convoy::io {

namespace {

constexpr std::uint64_t kTrailerFormat = 1;
constexpr std::int64_t kFormat = 3;
constexpr std::size_t kHashedTrailerBytes = kShardTrailerBytes - sizeof(Hash);
constexpr std::size_t kReadBytes = std::size_t{16} << 20;

Hash hash_of_head(std::span<const std::byte> head, std::span<const std::byte> trailer) {
  Hasher hasher;
  hasher.update(head);
  hasher.update(trailer.first(kHashedTrailerBytes));
  return hasher.digest();
}

// HDF5's names are values that the library knows only once it runs.
hdf5::Datatype payload_type(const DatasetInfo& info) {
  if (info.kind == input_kinds::kArrays) return record_type(info.record());
  const std::int64_t bytes = payload_layout(info).value_bytes;
  return hdf5::Datatype(CONVOY_CHECK_HDF5(H5Tcopy(bytes == 1   ? H5T_STD_U8LE
                                                  : bytes == 2 ? H5T_STD_U16LE
                                                               : H5T_STD_I32LE)));
}

bool is_raw_images(const DatasetInfo& info) {
  return !payload_layout(info).has_offsets && info.kind != input_kinds::kArrays;
}

void write_images(hid_t file, const DatasetInfo& info) {
  if (info.encoded) hdf5::write_attribute(file, "channels", info.image.c);
  if (info.oriented) hdf5::write_attribute(file, "oriented", std::int64_t{1});
  hdf5::write_attribute(file, "channel_mean", std::span(info.channel_mean));
  hdf5::write_attribute(file, "channel_deviation", std::span(info.channel_stddev));
}

void write_labels_and_hashes(hid_t file, const ShardHead& head) {
  const bool is_numbers = head.info.target.kind == TargetKind::kNumbers;
  if (!is_numbers) hdf5::write_list(file, "class_counts", head.info.class_counts);
  if (head.info.target.kind == TargetKind::kClass)
    hdf5::write_list(file, "labels", head.labels);
  else if (!head.info.target.is_in_record())
    write_targets(file, head.info.target.kind, head.targets, head.info.num_target_values());
  if (head.info.kind == input_kinds::kArrays)
    hdf5::write_table(file, "hashes", head.hashes, static_cast<std::int64_t>(num_parts(head.info)));
  else
    hdf5::write_list(file, "hashes", head.hashes);
}

void write_folds(hid_t file, const ShardHead& head) {
  const DatasetInfo& info = head.info;
  if (info.num_folds == 0) return;
  hdf5::write_attribute(file, "num_folds", info.num_folds);
  hdf5::write_list(file, "folds", head.folds);
  if (info.fold_mean.empty()) return;  // texts have no statistics
  hdf5::write_table(file, "fold_mean", info.fold_mean, std::ssize(info.fold_mean) / info.num_folds);
  hdf5::write_table(file, "fold_deviation", info.fold_stddev, std::ssize(info.fold_stddev) / info.num_folds);
}

void write_description(hid_t file, const ShardHead& head) {
  hdf5::write_attribute(file, "format", kFormat);
  hdf5::write_attribute(file, "shard", head.index);
  hdf5::write_attribute(file, "num_shards", head.num_shards);
  const bool is_text = head.info.kind == input_kinds::kText, are_arrays = head.info.kind == input_kinds::kArrays;
  if (is_text)
    hdf5::write_attribute(file, "num_tokens", head.info.text.num_tokens);
  else if (!are_arrays)
    write_images(file, head.info);
  hdf5::write_texts(file, "class_names", head.info.class_names);
  hdf5::write_texts(file, "source", {&head.info.source, 1});
  hdf5::write_kind(file, head.info.kind);
  write_labels_and_hashes(file, head);
  write_folds(file, head);
  if (payload_layout(head.info).has_offsets) hdf5::write_list(file, "offsets", head.offsets);
  if (are_arrays) write_arrays(file, head.info.arrays, head.info.target);
  if (!is_text) return;
  hdf5::write_columns(file, head.info.text.columns);
  hdf5::write_tokenization(file, head.info.text.tokenization);  // last, as it may hold any word
}

// Places payload and names in the file. Both are created before either gets its offset, so that nothing comes between
// them. Returns the offset at which they begin.
std::uint64_t allocate_body(const hdf5::File& file, const ShardHead& head) {
  const ImageShape& image = head.info.image;
  const PayloadLayout layout = payload_layout(head.info);
  const hdf5::Datatype value = payload_type(head.info);
  std::vector<std::int64_t> dims = {layout.has_offsets ? head.offsets.back() : head.info.num_samples};
  if (is_raw_images(head.info)) dims.insert(dims.end(), {image.h, image.w, image.c});
  const hdf5::Array payload = hdf5::create_array(file, layout.name, value, dims);
  std::uint64_t size = static_cast<std::uint64_t>(head.payload_bytes());
  if (head.name_bytes > 0) {
    const hdf5::Datatype type = hdf5::text_type(static_cast<std::size_t>(head.name_bytes));
    const hdf5::Array names = hdf5::create_array(file, "names", type, {&head.info.num_samples, 1});
    hdf5::allocate(payload, value);
    hdf5::allocate(names, type);
    size += static_cast<std::uint64_t>(names.count() * head.name_bytes);
  } else {
    hdf5::allocate(payload, value);
  }
  const auto offset = static_cast<std::uint64_t>(H5Dget_offset(payload.dataset));
  if (hdf5::flushed_size(file) != offset + size) {
    fail(
        "HDF5 laid out a shard of {} bytes with {} bytes of samples and names at {}: these are not at the end of the "
        "file",
        hdf5::flushed_size(file), size, offset);
  }
  return offset;
}

void read_images(hid_t file, DatasetInfo& info) {
  std::int64_t oriented = 0;
  if (hdf5::has_attribute(file, "oriented")) hdf5::read_attribute(file, "oriented", oriented);
  info.oriented = oriented != 0;
  info.channel_mean.resize(static_cast<std::size_t>(info.image.c));
  info.channel_stddev.resize(static_cast<std::size_t>(info.image.c));
  hdf5::read_attribute(file, "channel_mean", std::span(info.channel_mean));
  hdf5::read_attribute(file, "channel_deviation", std::span(info.channel_stddev));
}

void read_arrays(hid_t file, std::uint64_t limit_bytes, DatasetInfo& info) {
  info.target = read_target(file, limit_bytes, std::ssize(info.class_names), info.target);
  read_array_statistics(file, limit_bytes, info.arrays);
}

void read_description(hid_t file, std::uint64_t limit_bytes, ShardHead& head) {
  std::int64_t format = 0;
  hdf5::read_attribute(file, "format", format);
  if (format != kFormat)
    fail("it has format {}, but this program reads format {}. Import the data again, with import.replace = true",
         format, kFormat);
  hdf5::read_attribute(file, "shard", head.index);
  hdf5::read_attribute(file, "num_shards", head.num_shards);
  if (head.info.kind == input_kinds::kText)
    hdf5::read_attribute(file, "num_tokens", head.info.text.num_tokens);
  else if (head.info.kind == input_kinds::kImages)
    read_images(file, head.info);
  head.info.class_names = hdf5::read_texts(file, "class_names", limit_bytes);
  for (const std::string& name : head.info.class_names) check_is_name(name, "the name of a class, label or number");
  if (head.info.kind == input_kinds::kArrays) read_arrays(file, limit_bytes, head.info);
  head.info.source = hdf5::read_text(file, "source", limit_bytes);
  if (head.info.target.kind == TargetKind::kNumbers) return;
  head.info.class_counts = hdf5::read_list<std::int64_t>(file, "class_counts", limit_bytes);
  if (head.info.class_counts.size() != head.info.class_names.size()) {
    fail("it has counts of {} classes, but names of {}", head.info.class_counts.size(), head.info.class_names.size());
  }
}

// Each sample's values follow those of the sample before, and no sample is empty.
void read_offsets(hid_t file, std::int64_t num_values, std::uint64_t limit_bytes, ShardHead& head) {
  head.offsets = hdf5::read_list<std::int64_t>(file, "offsets", limit_bytes);
  const auto& offsets = head.offsets;
  const auto not_below = [](std::int64_t a, std::int64_t b) { return a >= b; };
  if (offsets.size() < 2) fail("it holds no samples");
  if (offsets.front() != 0 || offsets.back() != num_values ||
      std::adjacent_find(offsets.begin(), offsets.end(), not_below) != offsets.end()) {
    fail("its 'offsets' do not divide its {} {} into samples", num_values,
         payload_layout(head.info).value_bytes == 1 ? "bytes" : "tokens");
  }
  head.info.num_samples = std::ssize(offsets) - 1;
}

/// Reads the length of the names; returns the size of all names in bytes.
std::uint64_t read_names_shape(hid_t file, const ShardTrailer& trailer, ShardHead& head) {
  if (!hdf5::exists(file, "names")) return 0;
  const hdf5::Array names = hdf5::open_texts(file, "names", trailer.body_bytes);
  if (names.dims.size() != 1 || names.dims[0] != head.info.num_samples) {
    fail("it holds {} samples, but {} names", head.info.num_samples, names.count());
  }
  const hdf5::Datatype type(CONVOY_CHECK_HDF5(H5Dget_type(names.dataset)));
  head.name_bytes = static_cast<std::int64_t>(H5Tget_size(type));
  const auto bytes = static_cast<std::uint64_t>(names.count() * head.name_bytes);
  if (H5Dget_offset(names.dataset) != trailer.body_offset + trailer.body_bytes - bytes) {
    fail("its 'names' are not at the position that is stored at its end. Import it again");
  }
  return bytes;
}

// Reads the shape of images, or the type of records, from the data set that has them.
void read_sample_shape(hid_t file, std::span<const std::int64_t> dims, DatasetInfo& info) {
  if (info.encoded) {
    std::int64_t channels = 0;
    hdf5::read_attribute(file, "channels", channels);
    if (channels != 1 && channels != 3) fail("its images have {} channels, not 1 or 3", channels);
    info.image = {0, 0, channels};
  } else if (is_raw_images(info)) {
    if (dims.size() != 4) fail("its 'images' has {} dimensions, not 4 (N,H,W,C)", dims.size());
    info.num_samples = dims[0];
    info.image = {dims[1], dims[2], dims[3]};
  } else if (info.kind == input_kinds::kArrays) {
    if (dims.size() != 1) fail("its 'samples' has {} dimensions, not 1", dims.size());
    info.num_samples = dims[0];
  }
}

// Sets what the type of the values in the body follows from.
void read_payload_kind(hid_t file, std::uint64_t limit_bytes, DatasetInfo& info) {
  if (info.kind == input_kinds::kText) {
    info.text.tokenization = hdf5::read_tokenization(file, limit_bytes);
    info.text.columns = hdf5::read_columns(file, limit_bytes);
  } else if (info.kind == input_kinds::kArrays) {
    Record record = read_record_type(hdf5::type_of(file, "samples"));
    info.arrays = std::move(record.arrays);
    info.target = std::move(record.target);
  } else {
    info.encoded = hdf5::exists(file, "encoded");
  }
}

// The trailer says where the body is; HDF5 must say the same.
void read_body_shape(hid_t file, const ShardTrailer& trailer, std::uint64_t limit_bytes, ShardHead& head) {
  read_payload_kind(file, limit_bytes, head.info);
  const PayloadLayout layout = payload_layout(head.info);
  const hdf5::Array payload = hdf5::open_array(file, layout.name, payload_type(head.info), trailer.body_bytes);
  if (payload.count() == 0) fail("it holds no samples");
  if (layout.has_offsets) {
    if (payload.dims.size() != 1) fail("its '{}' has {} dimensions, not 1", layout.name, payload.dims.size());
    read_offsets(file, payload.count(), limit_bytes, head);
  }
  read_sample_shape(file, payload.dims, head.info);
  const std::uint64_t names_bytes = read_names_shape(file, trailer, head);
  if (H5Dget_offset(payload.dataset) != trailer.body_offset ||
      static_cast<std::uint64_t>(payload.count() * layout.value_bytes) != trailer.body_bytes - names_bytes) {
    fail("its '{}' is not at the position that is stored at its end. Import it again", layout.name);
  }
}

void read_labels(hid_t file, std::uint64_t limit_bytes, ShardHead& head) {
  head.labels = hdf5::read_list<std::int32_t>(file, "labels", limit_bytes);
  if (std::ssize(head.labels) != head.info.num_samples)
    fail("it holds {} {}s and {} labels: these numbers must be equal", head.info.num_samples,
         input_kinds::one_of(head.info.kind), head.labels.size());
  const auto num_classes = static_cast<std::int64_t>(head.info.class_names.size());
  for (std::size_t i = 0; i < head.labels.size(); ++i) {
    if (head.labels[i] < 0 || head.labels[i] >= num_classes) {
      fail("label {} of its sample {} is not one of its {} classes", head.labels[i], i, num_classes);
    }
  }
}

void read_hashes(hid_t file, std::uint64_t limit_bytes, ShardHead& head) {
  const std::int64_t count = head.info.num_samples;
  if (head.info.kind == input_kinds::kArrays) {
    const auto parts = static_cast<std::int64_t>(num_parts(head.info));
    head.hashes = hdf5::read_table<std::uint64_t>(file, "hashes", count, parts, limit_bytes);
    return;
  }
  head.hashes = hdf5::read_list<std::uint64_t>(file, "hashes", limit_bytes);
  if (std::ssize(head.hashes) != count)
    fail("it holds {} {}s and {} hashes: these numbers must be equal", count, input_kinds::one_of(head.info.kind),
         head.hashes.size());
}

// Reads the folds of the samples and their statistics, whose number follows from the arrays and channels.
void read_folds(hid_t file, std::uint64_t limit_bytes, ShardHead& head) {
  DatasetInfo& info = head.info;
  if (!hdf5::has_attribute(file, "num_folds")) return;
  hdf5::read_attribute(file, "num_folds", info.num_folds);
  if (info.num_folds < 2 || info.num_folds > kMaxFolds)
    fail("it has {} folds, and not 2 to {}", info.num_folds, kMaxFolds);
  head.folds = hdf5::read_list<std::uint16_t>(file, "folds", limit_bytes);
  if (std::ssize(head.folds) != info.num_samples ||
      std::ranges::any_of(head.folds, [&](std::int64_t fold) { return fold < 1 || fold > info.num_folds; }))
    fail("its 'folds' are not those of {} samples, each from 1 to {}", info.num_samples, info.num_folds);
  std::int64_t num_values = 0;
  for (const auto& [mean, stddev] : info.statistics()) num_values += std::ssize(*mean);
  if (num_values == 0) return;
  for (const auto& [name, values] : {std::pair("fold_mean", &info.fold_mean), {"fold_deviation", &info.fold_stddev}}) {
    *values = hdf5::read_table<double>(file, name, info.num_folds, num_values, limit_bytes);
    if (!std::ranges::all_of(*values, [](double value) { return std::isfinite(value); }))
      fail("its '{}' are not finite numbers", name);
  }
}

ShardHead decode_shard_head(std::span<const std::byte> bytes, const ShardTrailer& trailer) {
  const hdf5::File file = hdf5::open_in_memory(bytes, trailer.body_offset + trailer.body_bytes);
  ShardHead head;
  head.info.kind = hdf5::read_kind(file, "it holds", bytes.size());
  read_body_shape(file, trailer, bytes.size(), head);
  read_description(file, bytes.size(), head);
  if (head.info.target.kind == TargetKind::kClass)
    read_labels(file, bytes.size(), head);
  else if (!head.info.target.is_in_record())
    head.targets =
        read_targets(file, head.info.target.kind, head.info.num_samples, head.info.num_target_values(), bytes.size());
  read_hashes(file, bytes.size(), head);
  read_folds(file, bytes.size(), head);
  return head;
}

bool begins_like_hdf5(const FileDescriptor& file, std::uint64_t size, const std::string& path) {
  static constexpr unsigned char kSignature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  std::byte first[sizeof kSignature];
  if (size < sizeof first) return false;
  read_at(file, 0, first, path);
  return std::memcmp(first, kSignature, sizeof first) == 0;
}

ShardTrailer decode_shard_trailer(std::span<const std::byte, kShardTrailerBytes> bytes, std::uint64_t size) {
  if (std::memcmp(bytes.data(), kShardMagic.data(), kShardMagic.size()) != 0) {
    fail("it is truncated, or not from 'convoy import': its last {} bytes are not a shard's. Import it again",
         kShardTrailerBytes);
  }
  if (const auto format = get_u64(bytes.subspan<8, 8>()); format != kTrailerFormat) {
    fail("it has format {}, but this program reads format {}. Import the data again, with import.replace = true",
         format, kTrailerFormat);
  }
  ShardTrailer trailer;
  trailer.body_offset = get_u64(bytes.subspan<16, 8>());
  trailer.body_bytes = get_u64(bytes.subspan<24, 8>());
  std::copy_n(bytes.begin() + 32, sizeof(Hash), trailer.body_hash.begin());
  const std::uint64_t before_trailer = size - kShardTrailerBytes;
  if (trailer.body_offset > before_trailer || trailer.body_bytes != before_trailer - trailer.body_offset) {
    fail("it is truncated or damaged: it holds {} bytes, but the size stored at its end is {} + {}. Import it again",
         before_trailer, trailer.body_offset, trailer.body_bytes);
  }
  return trailer;
}

}  // namespace

PayloadLayout payload_layout(const DatasetInfo& info) {
  constexpr std::int64_t kMaxIn16Bits = 1 << 16;
  if (info.kind == input_kinds::kText)
    return {.name = "tokens",
            .value_bytes = info.text.tokenization.vocabulary <= kMaxIn16Bits ? 2 : 4,
            .has_offsets = true};
  if (info.kind == input_kinds::kArrays) return {.name = "samples", .value_bytes = info.record_bytes()};
  if (info.encoded) return {.name = "encoded", .has_offsets = true};
  return {};
}

std::size_t num_parts(const DatasetInfo& info) {
  if (info.kind != input_kinds::kArrays) return 1;
  return info.arrays.size() + (info.target.is_in_record() ? 1 : 0);
}

std::int64_t ShardHead::payload_bytes() const {
  const PayloadLayout layout = payload_layout(info);
  return layout.has_offsets ? offsets.back() * layout.value_bytes : info.num_samples * info.record_bytes();
}

std::vector<std::byte> encode_shard_head(const ShardHead& head) {
  std::vector<std::byte> bytes;
  std::uint64_t body_offset = 0;
  {
    const hdf5::File file = hdf5::create_in_memory(bytes);
    write_description(file, head);
    body_offset = allocate_body(file, head);
  }
  bytes.resize(body_offset);
  return bytes;
}

std::vector<std::byte> encode_shard_trailer(const ShardTrailer& trailer, std::span<const std::byte> head) {
  std::vector<std::byte> bytes(kShardTrailerBytes);
  const std::span<std::byte, kShardTrailerBytes> out(bytes);
  std::memcpy(out.data(), kShardMagic.data(), kShardMagic.size());
  put_u64(out.subspan<8, 8>(), kTrailerFormat);
  put_u64(out.subspan<16, 8>(), trailer.body_offset);
  put_u64(out.subspan<24, 8>(), trailer.body_bytes);
  std::copy(trailer.body_hash.begin(), trailer.body_hash.end(), out.begin() + 32);
  const Hash hash = hash_of_head(head, out);
  std::copy(hash.begin(), hash.end(), out.begin() + kHashedTrailerBytes);
  return bytes;
}

OpenShard open_shard(const std::string& path) {
  OpenShard shard;
  shard.file = open_for_reading(path);
  const std::uint64_t size = file_size(shard.file, path);
  if (!begins_like_hdf5(shard.file, size, path)) {
    const auto foreign = find_foreign_kind(path);
    fail("it is {}. Data sets are made with 'convoy import'",
         foreign ? fmt::format("{}. {}", foreign->name, foreign->remedy) : "not HDF5");
  }
  if (!is_shard(path))
    if (const std::string other = describe_foreign_hdf5(path); !other.empty()) fail("{}", other);
  if (size <= kShardTrailerBytes) fail("it is truncated: {} bytes. Import it again", size);

  std::byte last[kShardTrailerBytes];
  read_at(shard.file, size - kShardTrailerBytes, last, path);
  shard.trailer = decode_shard_trailer(last, size);
  std::vector<std::byte> head(shard.trailer.body_offset);
  read_at(shard.file, 0, head, path);
  const Hash hash = hash_of_head(head, last);
  if (!std::equal(hash.begin(), hash.end(), last + kHashedTrailerBytes)) {
    fail("it is damaged: the hash of its head (XXH3-128) differs. Import it again");
  }
  shard.head = decode_shard_head(head, shard.trailer);
  return shard;
}

std::optional<std::string> find_damage_in_body(const OpenShard& shard, const std::string& path) {
  Hasher hasher;
  std::vector<std::byte> chunk(std::min<std::uint64_t>(kReadBytes, shard.trailer.body_bytes));
  for (std::uint64_t done = 0; done < shard.trailer.body_bytes;) {
    const auto part = std::span(chunk).first(std::min<std::uint64_t>(chunk.size(), shard.trailer.body_bytes - done));
    read_at(shard.file, shard.trailer.body_offset + done, part, path);
    hasher.update(part);
    done += part.size();
  }
  if (hasher.digest() == shard.trailer.body_hash) return std::nullopt;
  return fmt::format("it is damaged: the hash of its {}s and names (XXH3-128) differs. Import it again",
                     input_kinds::one_of(shard.head.info.kind));
}

}  // namespace convoy::io
