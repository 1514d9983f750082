/// Finds out which form a source has, and reads texts from files.
#include "data/text/text_source.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/data_parameters.h"

#include "data/folder_walk.h"
#include "data/images/image_source.h"
#include "data/text/check_text.h"
#include "data/text/text_table.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

constexpr const char* kKey = "import.source";

bool is_text_file(const std::string& path) {
  return lower_case(path).ends_with(kTextFolders.suffix);
}

// Returns the first folder, going down by name, that holds no folders: the folder of a class.
fs::path first_leaf(const std::string& root) {
  fs::path folder = root;
  for (int depth = 0; depth < 8; ++depth) {  // limited, as a link may lead in a circle
    const std::vector<fs::path> inner = folders_in(folder, kKey);
    if (inner.empty()) break;
    folder = inner.front();
  }
  return folder;
}

bool holds_mostly_texts(const fs::path& folder) {
  std::int64_t texts = 0, others = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    ++(is_text_file(entry.path().string()) ? texts : others);
  return texts > others;
}

// Finds the format that import.format = auto means. Rank 0.
ImportFormat find_format(const ImportParams& params) {
  std::error_code error;
  const bool is_folder = fs::is_directory(params.source, error);
  if (params.format == ImportFormat::kCsv && fs::is_regular_file(params.source, error)) return params.format;
  if (!is_folder && params.format == ImportFormat::kAuto && is_table(params.source)) {
    if (!fs::is_regular_file(params.source, error)) refuse("import.source = {}: there is no such file", params.source);
    return ImportFormat::kCsv;
  }
  check_is_folder(params.source);
  if (params.format != ImportFormat::kAuto) return params.format;
  if (!find_tables(params.source, kKey).empty()) return ImportFormat::kCsv;
  const bool holds_images = find_packed_format(params.source) || !folders_in(params.source, kKey).empty();
  if (const auto others = other_tables(params.source); !others.empty() && !holds_images)
    refuse(
        "import.source = {}: no table in it is named as a split (train*, val* or dev*, test*): {}. Give one of them as "
        "import.source, or rename them",
        params.source, excerpt(fmt::format("{}", fmt::join(others, ", "))));
  return holds_mostly_texts(first_leaf(params.source)) ? ImportFormat::kText : ImportFormat::kAuto;
}

TableColumns columns_of(const ImportParams& params, bool needs_label) {
  return {.text = params.text_column,
          .label = params.label_column,
          .needs_label = needs_label,
          .max_class_fraction = params.max_class_fraction};
}

ImportFormat agree_on_format(const ImportParams& params, const mpi::Communicator& world) {
  ImportFormat format = params.format;
  mpi::on_root(world, [&] { format = find_format(params); });
  world.broadcast(&format, sizeof format, 0);
  return format;
}

}  // namespace

std::string_view TextFiles::read(const SourceSplit& split, std::int64_t sample) {
  const std::string path = (fs::path(folder_) / split.names[sample]).string();
  const FileDescriptor file = io::open_for_reading(path);
  const auto size = static_cast<std::int64_t>(io::file_size(file, path));
  check_text_size(size);
  text_.resize(static_cast<std::size_t>(size));
  io::read_at(file, 0, std::as_writable_bytes(std::span(text_)), path);
  return check_text(text_);
}

std::int64_t TextFiles::text_bytes(const SourceSplit& split, std::int64_t sample) const {
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(fs::path(folder_) / split.names[sample], unknown);
  return unknown ? 0 : static_cast<std::int64_t>(size);
}

bool holds_texts(const ImportParams& params, const mpi::Communicator& world) {
  const ImportFormat format = agree_on_format(params, world);
  return format == ImportFormat::kText || format == ImportFormat::kCsv;
}

ImportedTexts open_texts(const ImportParams& params, const mpi::Communicator& world) {
  const bool is_table = agree_on_format(params, world) == ImportFormat::kCsv;
  const TableColumns columns = columns_of(params, true);
  SourceListing listed;
  mpi::on_root(world, [&] {
    ClassFolders folders = kTextFolders;
    folders.has_splits = params.splits;
    listed = is_table ? list_tables(params.source, columns, kKey) : list_class_folders(params.source, folders);
  });
  listed = broadcast_listing(listed, world);
  if (is_table)
    return {.source = std::make_unique<TextTable>(params.source, std::move(listed), columns),
            .columns = {.text = columns.text, .label = columns.label}};
  return {.source = std::make_unique<TextFiles>(params.source, std::move(listed)), .columns = {}};
}

std::unique_ptr<TextSource> open_any_texts(const std::string& path, const std::string& key, const TableColumns& columns,
                                           const mpi::Communicator& world, CarriedColumns& carried) {
  SourceListing listed;
  bool is_folder = false;
  mpi::on_root(world, [&] {
    std::error_code error;
    is_folder = fs::is_directory(path, error);
    if (!is_folder && !fs::exists(path)) refuse("{} = {}: there is no such file or folder", key, path);
    listed = is_folder        ? list_any_files(path, kTextFolders, key)
             : is_table(path) ? list_tables(path, columns, key, &carried)
                              : list_one_file(path);
  });
  world.broadcast(&is_folder, sizeof is_folder, 0);
  listed = broadcast_listing(listed, world);
  if (is_table(path) && !is_folder) return std::make_unique<TextTable>(path, std::move(listed), columns);
  return std::make_unique<TextFiles>(is_folder ? path : fs::path(path).parent_path().string(), std::move(listed));
}

}  // namespace convoy
