/// Looks for each text as a file below the source, as a name in the source, and as a path of its own.
#include "data/arrays/array_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/foreign_kind.h"

#include "data/arrays/number_table.h"
#include "data/arrays/picture_file.h"
#include "data/folder_walk.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNumShown = 10;  // names in a message

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string shown(const std::vector<std::string>& names) {
  return excerpt(first_few(names, kNumShown));
}

// --- Wildcards and lists ---------------------------------------------------------------------------------------------

bool has_wildcard(std::string_view pattern) {
  return pattern.find_first_of("*?") != std::string_view::npos;
}

bool fits(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') return fits(pattern.substr(1), name) || (!name.empty() && fits(pattern, name.substr(1)));
  return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
         fits(pattern.substr(1), name.substr(1));
}

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// --- Files -----------------------------------------------------------------------------------------------------------

[[noreturn]] void refuse_other_kind(const std::string& path) {
  std::string first(8, '\0');
  std::ifstream(path, std::ios::binary).read(first.data(), std::ssize(first));
  if (is_picture(path) || first.starts_with("\xff\xd8\xff"))
    refuse(
        "'{}' is a picture. A folder of pictures is imported with the numbers of its files by import.format = arrays, "
        "and as images of 8 bits by import.format = folder",
        path);
  const auto kind = io::find_foreign_kind(path);
  refuse("'{}' is {}, and holds no arrays. Expected: .npy, .npz, HDF5, .csv or .tsv{}{}", path,
         kind ? kind->name : "of another kind", kind ? ". " : "", kind ? kind->remedy : "");
}

// Returns the files of arrays in a folder, or the file itself.
std::vector<std::string> array_files_at(const std::string& path, const std::string& key) {
  if (!is_folder(path)) return {path};
  std::vector<std::string> paths;
  for (const fs::path& file : files_in(path, key))
    if (find_array_file_kind(file.string())) paths.push_back(file.string());
  return paths;
}

std::optional<ArrayFiles> of_one_kind(const std::vector<std::string>& paths) {
  if (paths.empty()) return std::nullopt;
  const auto kind = find_array_file_kind(paths.front());
  for (const std::string& path : paths)
    if (find_array_file_kind(path) != kind) return std::nullopt;
  return kind ? std::optional(ArrayFiles{.kind = *kind, .paths = paths}) : std::nullopt;
}

// Returns the files that are meant by the path of a file or of a folder.
ArrayFiles files_at(const std::string& path, const std::string& key) {
  const std::vector<std::string> paths = array_files_at(path, key);
  if (paths.empty()) {
    const std::vector<fs::path> others = files_in(path, key);
    if (!others.empty()) refuse_other_kind(others.front().string());
    refuse("{}: the folder '{}' holds no .npy, .npz, HDF5, .csv or .tsv", key, path);
  }
  if (const auto files = of_one_kind(paths)) return *files;
  if (paths.size() == 1) refuse_other_kind(paths.front());
  refuse("{}: the folder '{}' holds files of several kinds, which cannot be joined: {}", key, path, shown(paths));
}

// --- What is in them -------------------------------------------------------------------------------------------------

// Returns the columns of tables that are taken already.
std::vector<std::string> taken_names(const ArrayFiles& files, std::span<const PartLocation> taken) {
  std::vector<std::string> names;
  for (const PartLocation& part : taken) {
    if (part.files != files) continue;
    names.insert(names.end(), part.columns.begin(), part.columns.end());
    if (!part.array.empty()) names.push_back(part.array);
  }
  return names;
}

// Returns the columns that are meant: those named, and those that wildcards match and are not taken, but for those with
// a minus before their name.
std::vector<std::string> columns_like(const ArrayFiles& files, const std::string& where,
                                      std::span<const PartLocation> taken) {
  const std::vector<std::string> names = names_in(files), others = taken_names(files, taken);
  if (contains(names, where)) return {where};
  const auto named = [&](const std::string& piece) {
    if (contains(names, piece)) return std::vector{piece};
    std::vector<std::string> fitting;
    if (has_wildcard(piece))
      std::ranges::copy_if(names, std::back_inserter(fitting),
                           [&](const std::string& name) { return fits(piece, name) && !contains(others, name); });
    if (!fitting.empty()) return fitting;
    const std::string near = nearest(piece, names);
    refuse("'{}' has no column '{}'{}", files.paths.front(), excerpt(piece),
           near.empty() ? fmt::format(". It has: {}", shown(names)) : fmt::format(". Nearest: {}", excerpt(near)));
  };
  const auto is_left_out = [&](const std::string& piece) { return piece.starts_with('-') && !contains(names, piece); };
  std::vector<std::string> pieces = split_at(where, '|'), columns;
  if (std::ranges::all_of(pieces, is_left_out)) pieces.insert(pieces.begin(), "*");  // all columns but these
  for (const std::string& piece : pieces) {
    if (is_left_out(piece))
      for (const std::string& name : named(piece.substr(1))) std::erase(columns, name);
    else
      for (const std::string& name : named(piece))
        if (!contains(columns, name)) columns.push_back(name);
  }
  return columns;
}

// Returns the part that is called so in the files.
PartLocation part_called(const ArrayFiles& files, std::string name, std::span<const PartLocation> taken) {
  switch (files.kind) {
    case ArrayFileKind::kNpy:
      refuse("'{}' holds one array, which has no name: leave ':{}' out", files.paths.front(), excerpt(name));
    case ArrayFileKind::kTable:
      return {.files = files, .columns = columns_like(files, name, taken)};
    default:
      break;
  }
  if (name.starts_with('/')) name.erase(0, 1);
  if (const std::vector<std::string> names = names_in(files); !contains(names, name)) {
    const std::string near = nearest(name, names);
    refuse("'{}' has no array '{}'. It has: {}{}", files.paths.front(), excerpt(name), shown(names),
           near.empty() ? "" : fmt::format(". Nearest: {}", excerpt(near)));
  }
  return {.files = files, .array = std::move(name)};
}

// Refuses our own data sets, which would be imported as arrays of bytes.
std::vector<std::string> names_in_hdf5(const std::string& path) {
  std::vector<std::string> names = io::names_in_hdf5(path);
  if (contains(names, "class_names") && contains(names, "hashes"))
    refuse("'{}' is a data set that convoy import has made already: train on it (data.train)", path);
  return names;
}

// If no inputs are named, all columns are, and they must be numbers. Names all that are not, by the first row.
void refuse_texts(const ArrayFiles& files, const std::vector<std::string>& columns, const std::string& key) {
  NumberTable table(files.paths.front());
  if (!table.next()) return;
  std::vector<std::string> texts, left_out;
  double number = 0;
  for (const std::string& column : columns) {
    const std::string_view field = table.text(table.column(column));
    if (read_number(field, number)) continue;
    texts.push_back(fmt::format("'{}' ({})", excerpt(column), excerpt(field)));
    left_out.push_back("-" + column);
  }
  if (!texts.empty())
    refuse(
        "'{}' has columns of texts: {}. A network reads numbers. Leave these columns out, with {} = \"{}\", or give "
        "one as import.id or import.group",
        files.paths.front(), fmt::join(texts, ", "), key, fmt::join(left_out, "|"));
}

std::string list_of_inputs(const std::vector<std::string>& names) {
  std::vector<std::string> pairs;
  for (const std::string& name : names) pairs.push_back(fmt::format("{}: {}", lower_case(name), name));
  return shown(pairs);
}

// Returns the first array of numbers whose samples have as many values as these extents; the first array if there is
// none.
std::string find_of_size(const ArrayFiles& files, const std::vector<std::string>& names,
                         const std::vector<std::int64_t>& dims) {
  const auto count = [](std::span<const std::int64_t> extents) {
    return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
  };
  for (const std::string& name : names) {
    try {
      const io::ArrayForm form = open_array(files.kind, files.paths.front(), name)->form();
      if (form.type && !form.dims.empty() && count(std::span(form.dims).subspan(1)) == count(dims)) return name;
    } catch (const Error&) {
      continue;  // what cannot be read cannot be meant
    }
  }
  return names.front();
}

}  // namespace

std::unique_ptr<io::ArrayReader> open_array(ArrayFileKind kind, const std::string& path, const std::string& array) {
  switch (kind) {
    case ArrayFileKind::kNpz:
      return io::open_npz(path, array);
    case ArrayFileKind::kHdf5:
      return io::open_hdf5(path, array);
    default:
      return io::open_npy(path);
  }
}

std::optional<ArrayFileKind> find_array_file_kind(const std::string& path) {
  if (!is_file(path)) return std::nullopt;
  std::string first(io::kForeignKindBytes, '\0');
  std::ifstream(path, std::ios::binary).read(first.data(), std::ssize(first));
  const std::string name = lower_case(path);
  if (first.starts_with("\x93NUMPY") || name.ends_with(".npy")) return ArrayFileKind::kNpy;
  if (name.ends_with(".npz") || (first.starts_with("PK\3\4") && first.find(".npy") != std::string::npos))
    return ArrayFileKind::kNpz;
  if (first.starts_with("\x89HDF\r\n\x1a\n") || name.ends_with(".h5") || name.ends_with(".hdf5"))
    return ArrayFileKind::kHdf5;
  if (is_table(path)) return ArrayFileKind::kTable;
  return std::nullopt;
}

std::vector<std::string> names_in(const ArrayFiles& files) {
  switch (files.kind) {
    case ArrayFileKind::kNpz:
      return io::names_in_npz(files.paths.front());
    case ArrayFileKind::kHdf5:
      return names_in_hdf5(files.paths.front());
    case ArrayFileKind::kTable:
      return NumberTable(files.paths.front()).names();
    default:
      return {};
  }
}

std::vector<PartSpec> parse_parts(const std::string& text, const std::string& key) {
  std::vector<PartSpec> parts;
  if (without_blanks(text).empty()) return parts;
  for (const std::string& entry : split_at(text, ',')) {
    PartSpec& part = parts.emplace_back();
    part.where = without_blanks(entry);
    const std::size_t colon = part.where.find(':');
    if (colon != std::string::npos && part.where.find_first_of("./") > colon) {
      part.name = without_blanks(part.where.substr(0, colon));
      part.where = without_blanks(part.where.substr(colon + 1));
      if (part.name.empty()) refuse("{} = {}: no name is before the colon of '{}'", key, text, without_blanks(entry));
    }
    if (part.where.empty())
      refuse("{} = {}: an input is empty. Expected: NAME: FILE, NAME: FILE:ARRAY or NAME: COLUMN|COLUMN", key, text);
  }
  return parts;
}

// --- ArrayFinder -----------------------------------------------------------------------------------------------------

ArrayFinder::ArrayFinder(std::string source, std::string key)
    : source_(std::move(source)), key_(std::move(key)), is_folder_(is_folder(source_)) {
  if (!is_folder_ && !is_file(source_)) refuse("{} = {}: there is no such file or folder", key_, source_);
  if (!is_folder_ && !find_array_file_kind(source_)) refuse_other_kind(source_);
}

// The files of the source without those that were named for another part; nothing if they are of several kinds.
std::optional<ArrayFiles> ArrayFinder::own_files(std::span<const PartLocation> taken) const {
  std::vector<std::string> paths = array_files_at(source_, key_);
  for (const PartLocation& part : taken)
    if (part.names_file)
      std::erase_if(paths, [&](const std::string& path) { return contains(part.files.paths, path); });
  return of_one_kind(paths);
}

// Finds an array or columns of the source itself.
std::optional<PartLocation> ArrayFinder::find_name(const std::string& where,
                                                   std::span<const PartLocation> taken) const {
  const auto files = own_files(taken);
  if (!files || files->kind == ArrayFileKind::kNpy) return std::nullopt;
  const std::vector<std::string> names = names_in(*files);
  const bool is_table = files->kind == ArrayFileKind::kTable;
  const auto is_known = [&](const std::string& piece) {
    return std::ranges::any_of(names, [&](const std::string& name) {
      return piece == name || piece == "/" + name ||
             (is_table && (fits(piece, name) || (piece.starts_with('-') && fits(piece.substr(1), name))));
    });
  };
  if (!is_known(where) && std::ranges::none_of(split_at(where, '|'), is_known)) return std::nullopt;
  return part_called(*files, where, taken);
}

// Finds FILE, FOLDER, FILE:NAME or FOLDER:NAME in a folder.
std::optional<PartLocation> ArrayFinder::find_path(const std::string& folder, const std::string& where,
                                                   std::span<const PartLocation> taken) const {
  for (std::size_t end = where.size(); end != std::string::npos && end > 0; end = where.rfind(':', end - 1)) {
    const std::string path = (fs::path(folder) / where.substr(0, end)).string();
    if (!is_file(path) && !(is_folder(path) && !array_files_at(path, key_).empty())) continue;
    const ArrayFiles files = files_at(path, key_);
    PartLocation found =
        end == where.size() ? find_only(files, {}, key_, taken) : part_called(files, where.substr(end + 1), taken);
    found.names_file = true;
    return found;
  }
  return std::nullopt;
}

std::optional<PartLocation> ArrayFinder::find_anywhere(const std::string& where,
                                                       std::span<const PartLocation> taken) const {
  const std::string folder = is_folder_ ? source_ : fs::path(source_).parent_path().string();
  if (is_folder_)
    if (auto found = find_path(folder, where, taken)) return found;
  if (auto found = find_name(where, taken)) return found;
  if (auto found = find_path(folder, where, taken)) return found;
  return find_path("", where, taken);
}

PartLocation ArrayFinder::find(const std::string& where, const std::string& key,
                               std::span<const PartLocation> taken) const {
  if (auto found = find_anywhere(where, taken)) return *std::move(found);
  refuse_where(where, key);
}

void ArrayFinder::refuse_where(const std::string& where, const std::string& key) const {
  std::vector<std::string> names;
  const auto files = own_files({});
  if (files) names = names_in(*files);
  const bool has_names = !names.empty(), is_table = files && files->kind == ArrayFileKind::kTable;
  const std::string parent = is_folder_ ? source_ : fs::path(source_).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  if (!has_names)
    for (const std::string& path : array_files_at(folder, key_)) names.push_back(fs::path(path).filename().string());
  const std::string near = nearest(where, names);
  const std::string hint = near.empty() ? "" : fmt::format(". Nearest: {}", excerpt(near));
  if (!has_names)
    refuse("{} = {}: there is no such file. The folder '{}' has: {}{}", key, excerpt(where), folder, shown(names),
           hint);
  refuse("{} = {}: there is no such file, and '{}' has no {} of this name. It has: {}{}", key, excerpt(where), source_,
         is_table ? "column" : "array", shown(names), hint);
}

// Finds the part of files that are known, by its name if it has one.
PartLocation ArrayFinder::find_only(const ArrayFiles& files, const PartSpec& part, const std::string& key,
                                    std::span<const PartLocation> taken) const {
  if (files.kind == ArrayFileKind::kNpy) return {.files = files};
  const std::vector<std::string> others = taken_names(files, taken);
  std::vector<std::string> names = names_in(files);
  if (files.kind == ArrayFileKind::kTable && !part.columns.empty()) {
    const NumberTable table(files.paths.front());
    for (const std::string& column : part.columns) table.column(column);
    return {.files = files, .columns = part.columns};
  }
  for (const std::string& name : {part.array, part.name})
    if (files.kind != ArrayFileKind::kTable && contains(names, name)) return {.files = files, .array = name};
  std::erase_if(names, [&](const std::string& name) { return contains(others, name); });
  if (names.empty())
    refuse("{}: '{}' has nothing but {}, which is used otherwise", key, files.paths.front(), shown(others));
  if (files.kind == ArrayFileKind::kTable) {
    refuse_texts(files, names, key);
    return {.files = files, .columns = names};
  }
  if (names.size() > 1 && part.name.empty())
    refuse("{}: '{}' has several arrays. Name those that the network may read, as in {} = \"{}\"", key,
           files.paths.front(), key, list_of_inputs(names));
  if (names.size() > 1)
    refuse("{}: '{}' has several arrays, and none is called {}'{}': {}. Say which one is meant, as in {} = \"{}: {}\"",
           key, files.paths.front(), part.array.empty() ? "" : fmt::format("'{}' or ", excerpt(part.array)), part.name,
           shown(names), key, part.name, find_of_size(files, names, part.dims));
  return {.files = files, .array = names.front()};
}

PartLocation ArrayFinder::find_input(const PartSpec& part, const std::string& key,
                                     std::span<const PartLocation> taken) const {
  if (!part.where.empty()) return find(part.where, key, taken);
  const auto files = own_files(taken);
  if (files && (files->kind != ArrayFileKind::kNpy || !is_folder_)) return find_only(*files, part, key, taken);
  std::vector<std::string> candidates;
  for (const std::string& path : array_files_at(source_, key_))
    candidates.push_back(fs::path(path).filename().string());
  for (const fs::path& folder : is_folder_ ? folders_in(source_, key_) : std::vector<fs::path>())
    if (!array_files_at(folder.string(), key_).empty()) candidates.push_back(folder.filename().string());
  std::erase_if(candidates, [&](const std::string& name) {
    const std::string path = (fs::path(source_) / name).string();
    return std::ranges::any_of(taken, [&](const PartLocation& other) {
      return other.names_file &&
             (contains(other.files.paths, path) || fs::path(other.files.paths.front()).parent_path() == path);
    });
  });
  const auto named =
      std::ranges::find_if(candidates, [&](const std::string& name) { return fs::path(name).stem() == part.name; });
  if (named != candidates.end()) return *find_path(source_, *named, taken);
  if (candidates.size() == 1) return *find_path(source_, candidates.front(), taken);
  if (candidates.empty())
    refuse("{} = {}: it holds no .npy, .npz, HDF5, .csv or .tsv that could be an input", key_, source_);
  refuse(
      "{} = {}: it holds several files: {}. Name those that are inputs, as in {} = \"x: {}\". Files that are to be "
      "joined one after the other belong in a folder of their own",
      key_, source_, shown(candidates), key, candidates.front());
}

}  // namespace convoy
