/// Writes a data set that is in memory as shards: all under temporary names first, then all get their names.
#include <span>

#include "convoy/base/error.h"
#include "convoy/io/dataset.h"
#include "convoy/io/shard_writer.h"

namespace convoy::io {

namespace {

void check_content(const DatasetContent& content) {
  const DatasetInfo& info = content.info;
  if (info.num_samples < 1 || info.image.count() < 1) fail("a data set needs at least one sample of one pixel");
  if (std::ssize(content.labels) != info.num_samples ||
      std::ssize(content.images) != info.num_samples * info.image.count()) {
    fail("a data set of {} samples of {} has {} labels and {} bytes of images", info.num_samples, to_string(info.image),
         content.labels.size(), content.images.size());
  }
  const auto num_classes = std::ssize(info.class_names);
  for (const std::int32_t label : content.labels) {
    if (label < 0 || label >= num_classes)
      fail("label {} is none of the {} classes of the data set", label, num_classes);
  }
}

void describe(DatasetContent& content) {
  ChannelCounts counts(content.info.image.c);
  counts.add(content.images);
  counts.describe(content.info);
  content.info.class_counts.assign(content.info.class_names.size(), 0);
  for (const std::int32_t label : content.labels) ++content.info.class_counts[static_cast<std::size_t>(label)];
}

/// A shard under its temporary name, on the disk.
ShardWriter write_shard(const ShardPlace& place, const DatasetContent& content) {
  const std::int64_t begin = content.info.num_samples * place.index / place.num_shards;
  const std::int64_t end = content.info.num_samples * (place.index + 1) / place.num_shards;
  const auto image_bytes = static_cast<std::size_t>(content.info.image.count());
  DatasetInfo info = content.info;
  info.num_samples = end - begin;
  ShardWriter writer(place, info);
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    const auto image = std::as_bytes(std::span(content.images)).subspan(i * image_bytes, image_bytes);
    writer.append(image, content.labels[i], "");
  }
  writer.end_samples();
  writer.finish(info);
  return writer;
}

}  // namespace

std::vector<std::string> write_dataset(const std::string& directory, const std::string& name, int num_shards,
                                       DatasetContent& content) {
  check_content(content);
  if (num_shards < 1 || num_shards > content.info.num_samples) {
    refuse("import.shards = {}: {} samples can be written as 1 to {} shards", num_shards, content.info.num_samples,
           content.info.num_samples);
  }
  make_directory(directory);
  describe(content);

  std::vector<std::string> paths;
  std::vector<ShardWriter> shards;
  for (int i = 0; i < num_shards; ++i) {
    paths.push_back(shard_path(directory, name, i, num_shards));
    shards.push_back(write_shard({paths.back(), i, num_shards}, content));
  }
  for (ShardWriter& shard : shards) shard.commit();
  remove_earlier_shards(directory, name, num_shards);
  return paths;
}

}  // namespace convoy::io
