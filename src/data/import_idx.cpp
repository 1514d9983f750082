/// From pairs of IDX files to data sets.
#include "convoy/data/import_idx.h"

#include <algorithm>
#include <filesystem>

#include "convoy/base/error.h"

#include "data/idx_file.h"

namespace convoy {

namespace {

std::vector<std::string> numbered_classes(std::int32_t largest_label) {
  std::vector<std::string> names;
  for (std::int32_t label = 0; label <= largest_label; ++label) names.push_back(fmt::format("{}", label));
  return names;
}

std::int32_t largest_label(const IdxSplit& content) {
  return *std::max_element(content.labels.begin(), content.labels.end());
}

std::string find_file(const std::string& folder, const std::string& name) {
  const std::string plain = (std::filesystem::path(folder) / name).string();
  for (const std::string& path : {plain, plain + ".gz"}) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return path;
  }
  refuse("import.source = {}: there is neither '{}' nor '{}.gz'", folder, plain, plain);
}

IdxSplit read_split(const std::string& folder, const std::string& prefix) {
  return read_idx(find_file(folder, prefix + "-images-idx3-ubyte"), find_file(folder, prefix + "-labels-idx1-ubyte"));
}

}  // namespace

IdxSplit read_idx(const std::string& images_path, const std::string& labels_path) {
  IdxFile images = read_idx_file(images_path, 3);
  const IdxFile labels = read_idx_file(labels_path, 1);
  if (images.dims[0] != labels.dims[0]) {
    refuse("'{}' holds {} images, '{}' {} labels", images_path, images.dims[0], labels_path, labels.dims[0]);
  }
  IdxSplit content;
  content.info.image = {images.dims[1], images.dims[2], 1};
  content.info.num_samples = images.dims[0];
  content.info.source = images_path;
  content.images = std::move(images.values);
  content.labels.assign(labels.values.begin(), labels.values.end());
  content.info.class_names = numbered_classes(largest_label(content));
  return content;
}

IdxSplits read_idx_folder(const std::string& folder) {
  IdxSplits splits{read_split(folder, "train"), read_split(folder, "t10k")};
  io::DatasetInfo& train = splits.train.info;
  io::DatasetInfo& test = splits.test.info;
  if (train.image != test.image) {
    refuse("'{}' holds images of {}, '{}' of {}", train.source, to_string(train.image), test.source,
           to_string(test.image));
  }
  train.class_names = numbered_classes(std::max(largest_label(splits.train), largest_label(splits.test)));
  test.class_names = train.class_names;
  return splits;
}

}  // namespace convoy
