/// Finds out what a path holds, on rank 0 for all ranks.
#include "convoy/data/open_samples.h"

#include <filesystem>
#include <fstream>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/text.h"
#include "convoy/comm/on_root.h"
#include "convoy/data/training_set.h"
#include "convoy/io/dataset.h"
#include "convoy/io/shard_files.h"

#include "data/arrays/array_store.h"
#include "data/class_folders.h"
#include "data/images/image_folder.h"
#include "data/text/text_source.h"
#include "data/text/text_store.h"
#include "data/text/text_table.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

enum class Kind { kDataset, kFolder, kOneFile };

bool begins_like_hdf5(const std::string& path) {
  std::string first(8, '\0');
  std::ifstream(path, std::ios::binary).read(first.data(), std::ssize(first));
  return first == "\x89HDF\r\n\x1a\n";
}

// Whether the path has the name of a file of samples. One that does not exist and is not named so may be the prefix of
// a data set.
bool is_named_as_sample(const std::string& path) {
  const std::string extension = lower_case(fs::path(path).extension().string());
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png" || extension == ".txt" ||
         extension == ".csv" || extension == ".tsv" || extension == ".npy" || extension == ".npz" ||
         extension == ".tif" || extension == ".tiff";
}

Kind kind_of(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error))
    return path.ends_with(".h5") || begins_like_hdf5(path) ? Kind::kDataset : Kind::kOneFile;
  if (!fs::is_directory(path, error)) return is_named_as_sample(path) ? Kind::kOneFile : Kind::kDataset;
  for (const char* const split : io::kSplitNames)
    if (!io::find_any_shard(path, split).empty()) return Kind::kDataset;
  return Kind::kFolder;
}

// Whether a network of arrays takes a file as it is: it is no shard of an import.
bool is_file_of_arrays(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && !io::is_shard(path);
}

// Refuses a file that is not of the network's kind of input, by its name.
void check_takes_file(const SamplesPath& from) {
  if (std::holds_alternative<ArrayFileOptions>(from.files)) return;
  const std::string extension = lower_case(fs::path(from.path).extension().string());
  const bool takes_texts = std::holds_alternative<TextFileOptions>(from.files);
  const bool is_text = extension == ".txt",
             is_image = extension == ".jpg" || extension == ".jpeg" || extension == ".png";
  if (!takes_texts && (is_table(from.path) || is_text))
    refuse("{} = {} is a {}, but the network reads images. Give an image, or a folder of images", from.key, from.path,
           is_text ? "text" : "table of texts");
  if (takes_texts && is_image)
    refuse("{} = {} is an image, but the network reads texts. Give a text, a folder of texts, or a .csv or .tsv",
           from.key, from.path);
}

// Opens a data set. Refuses one that was not imported with the orientation that is asked for: pixels cannot be turned
// any more, and a network that was trained on the files of a data set saw them as they were imported.
std::unique_ptr<io::Dataset> open_dataset(const SamplesPath& from) {
  auto dataset = std::make_unique<io::Dataset>(from.path, from.key, from.verify, from.split);
  const auto* const images = std::get_if<ImageFileOptions>(&from.files);
  if (images != nullptr && images->needs_oriented && !dataset->info().oriented)
    refuse(
        "predict.orient = true, but {} = {} is a data set that was imported with import.orient = false. Import it "
        "again with import.orient = true, or give its folder of images",
        from.key, from.path);
  if (from.fold > 0) keep_fold(*dataset, from.fold, FoldPart::kInside, from.path);
  return dataset;
}

void check_exists(const SamplesPath& from, const char* what) {
  if (!fs::exists(from.path)) refuse("{} = {}: there is no such {}", from.key, from.path, what);
}

// Returns the folder from which the files of the list are named.
std::string folder_of(const SamplesPath& from, Kind kind) {
  return kind == Kind::kFolder ? from.path : fs::path(from.path).parent_path().string();
}

std::unique_ptr<io::SampleStore> open_images(const SamplesPath& from, const ImageFileOptions& options, Kind kind,
                                             const mpi::Communicator& world) {
  SourceListing listed = list_on_root(world, [&] {
    check_exists(from, "file");
    return kind == Kind::kFolder ? list_any_files(from.path, {}, from.key) : list_one_file(from.path);
  });
  return std::make_unique<ImageFolder>(folder_of(from, kind), std::move(listed), options.channels, options.orients);
}

// Opens a folder of texts, a table, or a file with one text. On rank 0, `carried` gets the other columns of a table.
std::unique_ptr<TextSource> open_texts(const SamplesPath& from, Kind kind, const TableColumns& columns,
                                       const mpi::Communicator& world, CarriedColumns& carried) {
  const bool is_a_table = kind == Kind::kOneFile && is_table(from.path);
  SourceListing listed = list_on_root(world, [&] {
    check_exists(from, "file or folder");
    return kind == Kind::kFolder ? list_any_files(from.path, kTextFolders, from.key)
           : is_a_table          ? list_tables(from.path, columns, from.key, &carried)
                                 : list_one_file(from.path);
  });
  if (is_a_table) return std::make_unique<TextTable>(from.path, std::move(listed), columns);
  return std::make_unique<TextFiles>(folder_of(from, kind), std::move(listed));
}

// Returns the other columns of the rows that became samples.
OtherColumns other_columns(const CarriedColumns& carried, const SourceSplit& listed, const OpenedSamples& opened) {
  OtherColumns others{.names = carried.names, .rows = {}};
  auto skipped = opened.skipped.begin();
  for (std::int64_t i = 0; i < carried.rows.size(); ++i) {
    if (skipped != opened.skipped.end() && skipped->name == listed.names[i])
      ++skipped;
    else
      others.rows.emplace_back(carried.rows[i]);
  }
  return others;
}

// Warns of a file with several lines, as a text per line is a common form of files of texts.
void warn_of_lines(const std::string& path, const std::string& column) {
  std::ifstream file(path);
  std::int64_t num_lines = 0;
  for (std::string line; std::getline(file, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos) ++num_lines;
  if (num_lines > 1)
    log_warning(
        fmt::format("'{}' has {} lines, which are predicted together as one text. To predict each line, give a .csv or "
                    ".tsv whose column '{}' has one line in each row",
                    path, num_lines, column));
}

OpenedSamples open_texts_of(const SamplesPath& from, const TextFileOptions& options, Kind kind,
                            const mpi::Communicator& world) {
  const TableColumns columns{.text = options.columns.text, .label = options.columns.label, .needs_label = false};
  CarriedColumns carried;
  const auto source = open_texts(from, kind, columns, world, carried);
  OpenedSamples opened{.store = {}, .is_one_file = kind == Kind::kOneFile && !is_table(from.path), .skipped = {}};
  opened.store = std::make_unique<TextStore>(*source, from.path, options.tokenization, world, opened.skipped);
  opened.others = other_columns(carried, source->listing().splits.front(), opened);
  if (opened.is_one_file && world.rank() == 0) warn_of_lines(from.path, columns.text);
  return opened;
}

}  // namespace

OpenedSamples open_samples(const SamplesPath& from, const mpi::Communicator& world) {
  Kind kind = {};
  mpi::on_root(world, [&] {
    kind = kind_of(from.path);
    if (std::holds_alternative<ArrayFileOptions>(from.files) && is_file_of_arrays(from.path)) kind = Kind::kOneFile;
    if (kind == Kind::kOneFile && fs::exists(from.path)) check_takes_file(from);
  });
  world.broadcast(&kind, sizeof kind, 0);
  if (kind == Kind::kDataset) return {.store = open_dataset(from)};
  if (const auto* const arrays = std::get_if<ArrayFileOptions>(&from.files)) {
    auto store = std::make_unique<ArrayStore>(from.path, from.key, *arrays, world);
    const bool is_one = store->is_one_picture() && arrays->answer.kind == TargetKind::kClass;
    return {.store = std::move(store), .is_one_file = is_one};
  }
  if (const auto* const texts = std::get_if<TextFileOptions>(&from.files))
    return open_texts_of(from, *texts, kind, world);
  return {.store = open_images(from, std::get<ImageFileOptions>(from.files), kind, world),
          .is_one_file = kind == Kind::kOneFile};
}

std::vector<std::string> describe_losses(const io::SampleStore& samples, const mpi::Communicator& world) {
  if (const auto* const folder = dynamic_cast<const ImageFolder*>(&samples)) return folder->describe_losses(world);
  const auto* const texts = dynamic_cast<const TextStore*>(&samples);
  std::string unknown = texts != nullptr && world.rank() == 0 ? texts->describe_unknown() : "";
  return unknown.empty() ? std::vector<std::string>() : std::vector{std::move(unknown)};
}

OpenedSamples open_one_text(const std::string& text, const std::string& key, const io::Tokenization& tokenization) {
  try {
    return {.store = std::make_unique<TextStore>(text, key, tokenization), .is_one_file = true};
  } catch (const Error& error) {
    refuse("{}: {}", key, error.what());
  }
}

}  // namespace convoy
