/// Files and folders named train*, val* (or dev*) and test* are splits; pictures lie in folders of classes in them.
#include "data/arrays/array_splits.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/io/shard_files.h"
#include "convoy/params/data_parameters.h"

#include "data/arrays/array_files.h"
#include "data/class_folders.h"
#include "data/folder_walk.h"
#include "data/text/text_table.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSplitsKey = "import.source";

// Files of arrays and folders of such files in the source, by the splits that their names mean; the last list has the
// others.
std::vector<std::vector<std::string>> entries_by_split(const std::string& source) {
  std::vector<std::vector<std::string>> entries(io::kSplitNames.size() + 1);
  std::vector<fs::path> paths = files_in(source, kSplitsKey);
  std::erase_if(paths, [](const fs::path& path) { return !find_array_file_kind(path.string()); });
  for (const fs::path& folder : folders_in(source, kSplitsKey)) {
    const std::vector<fs::path> files = files_in(folder, kSplitsKey);
    if (std::ranges::any_of(files,
                            [](const fs::path& path) { return find_array_file_kind(path.string()).has_value(); }))
      paths.push_back(folder);
  }
  for (const fs::path& path : paths)
    entries[split_of_table(path.filename().string()).value_or(io::kSplitNames.size())].push_back(path.string());
  return entries;
}

// Lists pictures in folders of classes, themselves in folders of splits if there are such; or a folder whose pictures a
// table names.
std::vector<SplitPath> splits_of_pictures(const ImportParams& params) {
  if (!params.target.empty()) return {{io::kSplitNames.front(), params.source, PictureSource{}}};
  const SourceListing listed = list_class_folders(params.source, {.samples = "pictures", .has_splits = params.splits});
  // Names are [SPLIT/]CLASS/FILE.
  const auto begins_with_class = [&](const SourceSplit& split) {
    for (std::int64_t i = 0; i < split.size(); ++i)
      if (!split.names[i].starts_with(listed.class_names[static_cast<std::size_t>(split.label(i))] + "/")) return false;
    return true;
  };
  const bool has_splits = !std::ranges::all_of(listed.splits, begins_with_class);
  std::vector<SplitPath> splits;
  for (const SourceSplit& split : listed.splits) {
    const std::string folder(has_splits ? split.names[0].substr(0, split.names[0].find('/') + 1) : "");
    PictureSource pictures{.are_classes_folders = true};
    for (std::int64_t i = 0; i < split.size(); ++i) pictures.names.emplace_back(split.names[i].substr(folder.size()));
    splits.push_back({split.name, (fs::path(params.source) / folder).string(), std::move(pictures)});
  }
  return splits;
}

}  // namespace

std::vector<SplitPath> find_splits(const ImportParams& params) {
  const std::string train = io::kSplitNames.front();
  if (params.format == ImportFormat::kArrays && holds_pictures(params.source, kSplitsKey))
    return splits_of_pictures(params);
  std::error_code error;
  if (!params.splits || !fs::is_directory(params.source, error)) return {{train, params.source}};
  const auto entries = entries_by_split(params.source);
  if (std::ranges::all_of(entries, [](const auto& paths) { return paths.empty(); }) &&
      holds_pictures(params.source, kSplitsKey))
    refuse(
        "{} = {}: it holds pictures. A folder of pictures is imported with the numbers of its files by import.format = "
        "arrays, and as images of 8 bits without import.inputs and import.target",
        kSplitsKey, params.source);
  const bool has_others = !entries[1].empty() || !entries[2].empty();
  if (entries[0].empty() || (!has_others && (entries[0].size() > 1 || !entries.back().empty())))
    return {{train, params.source}};
  std::vector<SplitPath> splits;
  for (std::size_t i = 0; i < io::kSplitNames.size(); ++i) {
    if (entries[i].size() > 1)
      refuse(
          "{} = {}: '{}' and '{}' both belong to split {}. Put the files of each split into a folder of their own, "
          "train, val and test, with the same names in each",
          kSplitsKey, params.source, entries[i][0], entries[i][1], io::kSplitNames[i]);
    if (!entries[i].empty()) splits.push_back({io::kSplitNames[i], entries[i].front()});
  }
  if (!entries.back().empty())
    log_warning(fmt::format("{} = {}: these belong to no split and are not imported: {}", kSplitsKey, params.source,
                            examples(entries.back())));
  return splits;
}

}  // namespace convoy
