/// Writes the body first, head and trailer last, and gives the file its name at the very end.
#include "convoy/io/shard_writer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/release_memory.h"
#include "convoy/io/atomic_file.h"

#include "io/shard.h"
#include "io/stored_arrays.h"

namespace convoy::io {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

ShardHead make_head(const ShardLocation& location, const DatasetInfo& info) {
  ShardHead head;
  head.info = info;
  head.index = location.index;
  head.num_shards = location.num_shards;
  head.info.channel_mean.resize(static_cast<std::size_t>(info.image.c));
  head.info.channel_stddev.resize(static_cast<std::size_t>(info.image.c));
  const bool are_numbers = info.target.kind == TargetKind::kNumbers;
  head.info.class_counts.resize(are_numbers ? 0 : info.class_names.size());
  head.info.target.mean.resize(are_numbers ? info.class_names.size() : 0);
  head.info.target.stddev.resize(head.info.target.mean.size());
  if (info.kind == input_kinds::kArrays) {
    check_arrays(info.arrays, info.target);
    check_target(info.target, std::ssize(info.class_names));
  }
  for (ArrayInfo& array : head.info.arrays) {
    array.mean.resize(static_cast<std::size_t>(array.channels()));
    array.stddev.resize(array.mean.size());
  }
  std::size_t num_values = 0;
  for (const auto& [mean, stddev] : head.info.statistics()) num_values += mean->size();
  head.info.fold_mean.resize(num_values * static_cast<std::size_t>(info.num_folds));
  head.info.fold_stddev.resize(head.info.fold_mean.size());
  return head;
}

/// The size of the head in bytes if no sample is skipped. The values in it do not matter, nor does the length of names.
std::uint64_t head_bytes_at_most(ShardHead head) {
  const auto count = static_cast<std::size_t>(head.info.num_samples);
  head.labels.resize(count);
  head.targets.resize(count * static_cast<std::size_t>(head.info.num_values_in_head()));
  head.hashes.resize(count * num_parts(head.info));
  if (head.info.num_folds > 0) head.folds.resize(count);
  if (payload_layout(head.info).has_offsets) head.offsets.resize(count + 1, 1);
  head.name_bytes = 1;
  return encode_shard_head(head).size();
}

}  // namespace

// --- Statistics ------------------------------------------------------------------------------------------------------

void ChannelCounts::add(std::span<const std::uint8_t> pixels) {
  const std::size_t channels = counts_.size() / 256;
  for (std::size_t i = 0; i < pixels.size(); i += channels) {
    for (std::size_t c = 0; c < channels; ++c) ++counts_[c * 256 + pixels[i + c]];
  }
}

void ChannelCounts::describe(DatasetInfo& info) const {
  info.channel_mean.clear();
  info.channel_stddev.clear();
  for (std::size_t begin = 0; begin < counts_.size(); begin += 256) {
    double pixels = 0, sum = 0, squares = 0;
    for (std::size_t v = 0; v < 256; ++v) {
      pixels += static_cast<double>(counts_[begin + v]);
      sum += static_cast<double>(counts_[begin + v]) * static_cast<double>(v) / 255;
    }
    const double mean = sum / pixels;
    for (std::size_t v = 0; v < 256; ++v) {
      const double distance = static_cast<double>(v) / 255.0 - mean;
      squares += static_cast<double>(counts_[begin + v]) * distance * distance;
    }
    info.channel_mean.push_back(mean);
    info.channel_stddev.push_back(std::sqrt(squares / pixels));
  }
}

// --- One shard -------------------------------------------------------------------------------------------------------

struct ShardWriter::Impl {
  Impl(const ShardLocation& location, const DatasetInfo& info)
      : head(make_head(location, info)),
        max_samples(info.num_samples),
        body_offset(head_bytes_at_most(head)),
        file(location.path,
             body_offset + static_cast<std::uint64_t>(info.num_samples * info.record_bytes()) + kShardTrailerBytes) {
    head.info.num_samples = 0;
    reserve(static_cast<std::size_t>(max_samples));
    if (layout.has_offsets) head.offsets.push_back(0);
    buffer.reserve(kBufferBytes);
  }

  // A list that grows would take up to three times its size.
  void reserve(std::size_t count) {
    if (head.info.target.kind == TargetKind::kClass) head.labels.reserve(count);
    head.targets.reserve(count * static_cast<std::size_t>(head.info.num_values_in_head()));
    head.hashes.reserve(count * num_parts(head.info));
    if (head.info.num_folds > 0) head.folds.reserve(count);
    if (layout.has_offsets) head.offsets.reserve(count + 1);
    names.reserve(count);
  }

  void write(std::span<const std::byte> bytes) {
    if (buffer.size() + bytes.size() > kBufferBytes) flush();
    if (bytes.size() > kBufferBytes) {
      put(bytes);
    } else {
      buffer.insert(buffer.end(), bytes.begin(), bytes.end());
    }
  }
  void flush() {
    put(buffer);
    buffer.clear();
  }
  void put(std::span<const std::byte> bytes) {
    hasher.update(bytes);
    file.write_at(body_offset + body_bytes, bytes);
    body_bytes += bytes.size();
  }

  bool fits(std::span<const std::byte> sample) const {
    if (!layout.has_offsets) return std::ssize(sample) == head.info.record_bytes();
    return !sample.empty() && std::ssize(sample) % layout.value_bytes == 0;
  }

  void add_hashes(std::span<const std::byte> sample) {
    if (head.info.kind != input_kinds::kArrays) return head.hashes.push_back(short_hash_of(sample));
    for (const ArrayInfo& array : head.info.arrays) {
      const auto size = static_cast<std::size_t>(array.bytes());
      head.hashes.push_back(short_hash_of(sample.first(size)));
      sample = sample.subspan(size);
    }
    if (head.info.target.is_in_record()) head.hashes.push_back(short_hash_of(sample));
  }

  void add_fold(std::int64_t fold) {
    if (fold < std::min<std::int64_t>(head.info.num_folds, 1) || fold > head.info.num_folds)
      fail("a sample is in fold {} of {}", fold, head.info.num_folds);
    if (fold > 0) head.folds.push_back(static_cast<std::uint16_t>(fold));
  }

  void add_answer(const SampleAnswer& answer) {
    if (head.info.target.kind == TargetKind::kClass) return head.labels.push_back(answer.label);
    const auto is_possible = [is_label = head.info.target.kind == TargetKind::kLabels](float value) {
      return std::isnan(value) || (is_label ? value == 0 || value == 1 : std::isfinite(value));
    };
    if (std::ssize(answer.target) != head.info.num_values_in_head() || !std::ranges::all_of(answer.target, is_possible))
      fail("a sample has the targets {}, and not {} {}", fmt::join(answer.target, ", "), head.info.num_values_in_head(),
           head.info.target.kind == TargetKind::kLabels ? "labels, each 0 or 1" : "finite numbers");
    head.targets.insert(head.targets.end(), answer.target.begin(), answer.target.end());
  }

  // Calls `move` with each list of the head that has values for every sample.
  void for_each_list(auto&& move) {
    move(head.labels);
    move(head.targets);
    move(head.hashes);
    move(head.folds);
    move(head.offsets);
  }

  // An import keeps the heads of all its shards until the end. Until then their lists are in the file, after the body.
  void put_lists_aside() {
    std::uint64_t offset = body_offset + body_bytes;
    for_each_list([&]<typename T>(std::vector<T>& list) {
      const auto bytes = std::as_bytes(std::span(list));
      file.write_at(offset, bytes);
      offset += bytes.size();
      list_sizes.push_back(list.size());
      release_memory(list);
    });
  }

  void take_lists_back() {
    std::uint64_t offset = body_offset + body_bytes;
    auto size = list_sizes.begin();
    for_each_list([&]<typename T>(std::vector<T>& list) {
      list.resize(*size++);
      const auto bytes = std::as_writable_bytes(std::span(list));
      file.read_at(offset, bytes);
      offset += bytes.size();
    });
  }

  ShardHead head;
  const PayloadLayout layout = payload_layout(head.info);
  std::int64_t max_samples;
  std::uint64_t body_offset;  ///< bytes reserved for the head; finish() may need less
  AtomicFile file;
  std::uint64_t body_bytes = 0;
  Hasher hasher;
  std::vector<std::byte> buffer;
  std::vector<std::string> names;
  std::vector<std::size_t> list_sizes;  ///< numbers of values in the lists that are put aside
};

ShardWriter::ShardWriter(const ShardLocation& location, const DatasetInfo& info)
    : impl_(std::make_unique<Impl>(location, info)) {}
ShardWriter::~ShardWriter() = default;
ShardWriter::ShardWriter(ShardWriter&&) noexcept = default;

void ShardWriter::append(std::span<const std::byte> sample, const SampleAnswer& answer, std::string_view name) {
  ShardHead& head = impl_->head;
  if (!impl_->fits(sample) || head.info.num_samples == impl_->max_samples) {
    const std::string form =
        head.info.kind == input_kinds::kArrays ? describe_forms(head.info.record()) : to_string(head.info.image);
    fail("a shard of at most {} {}s{} cannot take one of {} bytes", impl_->max_samples,
         input_kinds::one_of(head.info.kind), impl_->layout.has_offsets ? "" : fmt::format(" of {}", form),
         sample.size());
  }
  impl_->add_answer(answer);
  impl_->add_fold(answer.fold);
  impl_->write(sample);
  impl_->add_hashes(sample);
  if (impl_->layout.has_offsets)
    head.offsets.push_back(head.offsets.back() + std::ssize(sample) / impl_->layout.value_bytes);
  if (!name.empty()) impl_->names.emplace_back(name);
  ++head.info.num_samples;
}

std::int64_t ShardWriter::num_samples() const {
  return impl_->head.info.num_samples;
}

void ShardWriter::end_samples() {
  for (const std::string& name : impl_->names) {
    impl_->head.name_bytes = std::max(impl_->head.name_bytes, std::ssize(name));
  }
  if (std::ssize(impl_->names) != impl_->head.info.num_samples) impl_->head.name_bytes = 0;
  if (impl_->head.name_bytes > 0) {
    const std::vector<std::byte> zeros(static_cast<std::size_t>(impl_->head.name_bytes));
    for (const std::string& name : impl_->names) {
      impl_->write(std::as_bytes(std::span(name)));
      impl_->write(std::span(zeros).subspan(name.size()));
    }
  }
  impl_->flush();
  impl_->put_lists_aside();
  release_memory(impl_->buffer);
  release_memory(impl_->names);
  impl_->file.rest();
}

void ShardWriter::finish(const DatasetInfo& info) {
  ShardHead& head = impl_->head;
  impl_->take_lists_back();
  head.info.class_counts = info.class_counts;
  head.info.channel_mean = info.channel_mean;
  head.info.channel_stddev = info.channel_stddev;
  head.info.text.num_tokens = info.text.num_tokens;
  head.info.target.mean = info.target.mean;
  head.info.target.stddev = info.target.stddev;
  head.info.fold_mean = info.fold_mean;
  head.info.fold_stddev = info.fold_stddev;
  for (std::size_t i = 0; i < head.info.arrays.size(); ++i) {
    head.info.arrays[i].mean = info.arrays[i].mean;
    head.info.arrays[i].stddev = info.arrays[i].stddev;
  }
  const std::vector<std::byte> bytes = encode_shard_head(head);
  impl_->file.write_head("a shard", bytes, impl_->body_offset, impl_->body_bytes);
  const auto trailer = encode_shard_trailer({bytes.size(), impl_->body_bytes, impl_->hasher.digest()}, bytes);
  impl_->file.write_at(bytes.size() + impl_->body_bytes, trailer);
  impl_->file.finish();
  impl_->for_each_list([](auto& list) { release_memory(list); });
}

void ShardWriter::commit() {
  impl_->file.commit();
}

}  // namespace convoy::io
