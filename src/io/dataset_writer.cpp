/// Writes a data set as shards: all under temporary names first, then all get their names.
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>

#include "convoy/base/error.h"
#include "convoy/io/dataset.h"

#include "io/atomic_file.h"
#include "io/shard.h"

namespace convoy::io {

namespace {

namespace fs = std::filesystem;

void check_content(const DatasetContent& content) {
  const DatasetInfo& info = content.info;
  if (info.num_samples < 1 || info.image.count() < 1) fail("a data set needs at least one sample of one pixel");
  if (static_cast<std::int64_t>(content.labels.size()) != info.num_samples ||
      static_cast<std::int64_t>(content.images.size()) != info.num_samples * info.image.count()) {
    fail("a data set of {} samples of {} has {} labels and {} bytes of images", info.num_samples, to_string(info.image),
         content.labels.size(), content.images.size());
  }
  const auto num_classes = static_cast<std::int64_t>(info.class_names.size());
  for (const std::int32_t label : content.labels) {
    if (label < 0 || label >= num_classes)
      fail("label {} is none of the {} classes of the data set", label, num_classes);
  }
}

// Over all pixels of a channel: mean = sum v / n, deviation = sqrt(sum (v - mean)^2 / n), v = byte / 255.
// Bytes have 256 values, so their counts say everything, exactly and in any order of the samples.
void compute_statistics(DatasetContent& content) {
  const auto channels = static_cast<std::size_t>(content.info.image.c);
  std::vector<std::array<std::int64_t, 256>> counts(channels);
  for (auto& channel : counts) channel.fill(0);
  for (std::size_t i = 0; i < content.images.size(); i += channels) {
    for (std::size_t c = 0; c < channels; ++c) ++counts[c][content.images[i + c]];
  }

  const auto pixels = static_cast<double>(content.images.size()) / static_cast<double>(channels);
  content.info.channel_mean.assign(channels, 0);
  content.info.channel_deviation.assign(channels, 0);
  for (std::size_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (int v = 0; v < 256; ++v) sum += static_cast<double>(counts[c][static_cast<std::size_t>(v)]) * v / 255;
    const double mean = sum / pixels;
    double squares = 0;
    for (int v = 0; v < 256; ++v) {
      const double distance = v / 255.0 - mean;
      squares += static_cast<double>(counts[c][static_cast<std::size_t>(v)]) * distance * distance;
    }
    content.info.channel_mean[c] = mean;
    content.info.channel_deviation[c] = std::sqrt(squares / pixels);
  }
}

/// A shard under its temporary name, on the disk. The images go there straight from `content`.
std::unique_ptr<AtomicFile> write_shard(const std::string& path, const DatasetContent& content, std::int64_t index,
                                        std::int64_t num_shards) {
  const std::int64_t begin = content.info.num_samples * index / num_shards;
  const std::int64_t end = content.info.num_samples * (index + 1) / num_shards;
  const std::int64_t image_bytes = content.info.image.count();
  const auto images = std::as_bytes(std::span(content.images))
                          .subspan(static_cast<std::size_t>(begin * image_bytes),
                                   static_cast<std::size_t>((end - begin) * image_bytes));
  ShardHead head{content.info, index, num_shards, {content.labels.begin() + begin, content.labels.begin() + end}};
  head.info.num_samples = end - begin;

  const std::vector<std::byte> head_bytes = encode_shard_head(head);
  const std::vector<std::byte> trailer =
      encode_shard_trailer({head_bytes.size(), images.size(), hash_of(images)}, head_bytes);
  auto file = std::make_unique<AtomicFile>(path, head_bytes.size() + images.size() + trailer.size());
  file->write(head_bytes);
  file->write(images);
  file->write(trailer);
  file->finish();
  return file;
}

// Shards of an earlier import in another number would stand beside the new ones; killed imports leave temporary files.
void remove_earlier(const std::string& directory, const std::string& name, std::int64_t num_shards) {
  std::vector<fs::path> earlier;
  for (const fs::directory_entry& file : fs::directory_iterator(directory)) {
    std::string shard = file.path().filename().string();
    const bool partial = shard.ends_with(kPartialSuffix);
    if (partial) shard.resize(shard.size() - std::string_view(kPartialSuffix).size());
    const bool alone = shard == shard_name(name, 0, 1);
    const auto index = shard_index(shard, name);
    const bool written_now = num_shards == 1 ? alone : index && *index < num_shards;
    if ((alone || index) && (partial || !written_now)) earlier.push_back(file.path());
  }
  for (const fs::path& path : earlier) {
    std::error_code error;
    fs::remove(path, error);
    if (error) fail("cannot remove '{}' of an earlier import: {}. Remove it", path.string(), error.message());
  }
}

}  // namespace

std::vector<std::string> write_dataset(const std::string& directory, const std::string& name, int num_shards,
                                       DatasetContent& content) {
  check_content(content);
  if (num_shards < 1 || num_shards > content.info.num_samples) {
    refuse("import.shards = {}: {} samples can be written as 1 to {} shards", num_shards, content.info.num_samples,
           content.info.num_samples);
  }
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) fail("cannot create directory '{}': {}", directory, error.message());
  compute_statistics(content);

  std::vector<std::string> paths;
  std::vector<std::unique_ptr<AtomicFile>> files;
  for (int i = 0; i < num_shards; ++i) {
    paths.push_back((fs::path(directory) / shard_name(name, i, num_shards)).string());
    files.push_back(write_shard(paths.back(), content, i, num_shards));
  }
  for (const auto& file : files) file->commit();
  remove_earlier(directory, name, num_shards);
  return paths;
}

}  // namespace convoy::io
