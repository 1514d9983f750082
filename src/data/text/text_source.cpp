/// Lists the texts of a source on rank 0 for all ranks, and reads texts from files.
#include "data/text/text_source.h"

#include <filesystem>
#include <span>
#include <system_error>

#include "convoy/base/error.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/data_parameters.h"

#include "data/text/check_text.h"
#include "data/text/text_table.h"

namespace convoy {

namespace fs = std::filesystem;

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

ImportedTexts open_texts(const ImportParams& params, ImportFormat format, const mpi::Communicator& world) {
  const bool is_table = format == ImportFormat::kCsv;
  const TableColumns columns{
      .text = params.text_column, .label = params.label_column, .max_class_fraction = params.max_class_fraction};
  SourceListing listed;
  mpi::on_root(world, [&] {
    ClassFolders folders = kTextFolders;
    folders.has_splits = params.splits;
    listed =
        is_table ? list_tables(params.source, columns, "import.source") : list_class_folders(params.source, folders);
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
