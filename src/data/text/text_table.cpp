/// Rank 0 reads a table once, for its classes and for where its rows begin.
#include "data/text/text_table.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <system_error>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/io/shard_files.h"

#include "data/class_folders.h"
#include "data/text/check_text.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kNoClass = -1;

std::int64_t position_of(const std::string& name, const TableRow& header) {
  const auto found = std::ranges::find(header.fields, name);
  return found == header.fields.end() ? -1 : found - header.fields.begin();
}

[[noreturn]] void refuse_header(const std::string& path, const char* key, const std::string& name,
                                const TableRow& header) {
  const std::string near = nearest(name, header.fields);
  refuse("'{}' has no column '{}'. Its first row names: {}. Give one of them as {}{}", path, name,
         fmt::join(header.fields, ", "), key, near.empty() ? "" : fmt::format(", for example {}", near));
}

// The first row. Throws RequestError where a column is missing.
TableHeader read_header(TableReader& reader, const std::string& path, const TableColumns& columns) {
  TableRow row;
  if (!reader.next(row)) refuse("'{}' is empty. Its first row must name the columns", path);
  TableHeader header{
      .num_fields = row.num_fields, .text = position_of(columns.text, row), .label = position_of(columns.label, row)};
  if (header.text < 0) refuse_header(path, "import.text_column", columns.text, row);
  if (header.label < 0 && columns.needs_label) refuse_header(path, "import.label_column", columns.label, row);
  return header;
}

// Throws Error saying what is wrong with the row.
void check_row(const TableRow& row, const TableHeader& header, bool needs_label) {
  if (row.ends_quoted) fail("its quotes are not closed before the end of the file");
  if (row.num_fields != header.num_fields)
    fail("it has {} fields, the first row {}", row.num_fields, header.num_fields);
  check_text_size(row.longest);
  if (needs_label && row.fields[static_cast<std::size_t>(header.label)].empty()) fail("it has no class");
}

bool is_good(const TableRow& row, const TableHeader& header, bool needs_label) {
  try {
    check_row(row, header, needs_label);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::vector<std::string> in_order(std::vector<std::string> names) {
  std::ranges::sort(names);
  if (std::ranges::all_of(names, [](const std::string& name) { return whole_number(name).has_value(); }))
    std::ranges::stable_sort(names, {}, [](const std::string& name) { return *whole_number(name); });
  return names;
}

class Listing {
 public:
  Listing(const std::string& source, const TableColumns& columns, const std::string& key)
      : source_(source), columns_(columns), key_(key) {}

  SourceListing list() {
    for (const auto& [split, path] : find_tables(source_, key_)) list_split(split, path);
    if (listing_.splits.empty())
      refuse("{} = {}: there are no tables. Expected: train.csv and test.csv, or .tsv", key_, source_);
    if (listing_.splits.front().name != "train")
      refuse("{} = {}: there is a table of {} but none of train, whose classes are needed", key_, source_,
             listing_.splits.front().name);
    if (columns_.needs_label && listing_.class_names.size() < 2)
      refuse(
          "{} = {}: all texts are of one class, '{}'. A network needs at least two. Is '{}' the column of the classes?",
          key_, source_, listing_.class_names.front(), columns_.label);
    return std::move(listing_);
  }

 private:
  void list_split(const std::string& name, const std::string& path) {
    TableReader reader(path);
    const TableHeader header = read_header(reader, path, columns_);
    SourceSplit& split = listing_.splits.emplace_back();
    split.name = name;
    const std::string file = fs::path(path).filename().string();
    std::vector<std::int32_t> found;  // of each row: by the order in which classes appear
    std::map<std::string, std::int32_t> numbers;
    for (TableRow row; reader.next(row);) {
      const bool counts = header.label >= 0 && is_good(row, header, true);
      std::int32_t number = kNoClass;
      if (counts) {
        const std::string& label = row.fields[static_cast<std::size_t>(header.label)];
        number = numbers.emplace(label, static_cast<std::int32_t>(numbers.size())).first->second;
      }
      found.push_back(number);
      split.add(fmt::format("{}:{}", file, row.line), 0, row.offset);
    }
    if (split.size() == 0) refuse("'{}' has no rows but the one that names the columns", path);
    if (columns_.needs_label && numbers.empty()) refuse("none of the {} rows of '{}' is good", split.size(), path);
    set_labels(split, path, found, numbers);
  }

  // A bad row has some label: it will not be stored.
  void set_labels(SourceSplit& split, const std::string& path, const std::vector<std::int32_t>& found,
                  const std::map<std::string, std::int32_t>& numbers) {
    if (listing_.class_names.empty()) {
      for (const auto& [label, number] : numbers) listing_.class_names.push_back(label);
      listing_.class_names = in_order(std::move(listing_.class_names));
    }
    const auto& names = listing_.class_names;
    std::vector<std::int32_t> labels(numbers.size());
    for (const auto& [label, number] : numbers) {
      const auto at = std::ranges::find(names, label);
      if (at == names.end())
        refuse("'{}' has a class '{}' that train does not have. Train has {}: {}{}", path, label, names.size(),
               fmt::join(names.begin(), names.begin() + std::min<std::ptrdiff_t>(5, std::ssize(names)), ", "),
               names.size() > 5 ? ", ..." : "");
      labels[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(at - names.begin());
    }
    const std::int32_t of_bad = columns_.needs_label ? 0 : kNoClass;
    for (std::size_t i = 0; i < found.size(); ++i)
      split.labels[i] = found[i] == kNoClass ? of_bad : labels[static_cast<std::size_t>(found[i])];
  }

  const std::string& source_;
  const TableColumns& columns_;
  const std::string& key_;
  SourceListing listing_;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> find_tables(const std::string& path, const std::string& key) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return {{io::kSplitNames.front(), path}};
  std::vector<std::string> tables(io::kSplitNames.size());
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    const auto split = split_called(name);
    if (!split || !is_table(name) || !entry.is_regular_file(error)) continue;
    std::string& table = tables[*split];
    if (!table.empty())
      refuse("{} = {}: '{}' and '{}' are both of split {}. Import them apart, or rename one", key, path,
             std::min(table, entry.path().string()), std::max(table, entry.path().string()), io::kSplitNames[*split]);
    table = entry.path().string();
  }
  std::vector<std::pair<std::string, std::string>> found;
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (!tables[i].empty()) found.emplace_back(io::kSplitNames[i], tables[i]);
  return found;
}

SourceListing list_tables(const std::string& path, const TableColumns& columns, const std::string& key) {
  return Listing(path, columns, key).list();
}

TextTable::TextTable(const std::string& path, SourceListing listing, const TableColumns& columns)
    : TextSource(std::move(listing)), columns_(columns) {
  std::error_code error;
  folder_ = fs::is_directory(path, error) ? path : fs::path(path).parent_path().string();
}

void TextTable::go_to(const std::string& file, std::int64_t offset) {
  const std::string path = (fs::path(folder_) / file).string();
  if (!reader_ || file_ != file) {
    reader_.emplace(path);
    header_ = read_header(*reader_, path, columns_);
    file_ = file;
  }
  if (reader_->offset() != offset) reader_.emplace(path, offset);
}

std::string_view TextTable::read(const SourceSplit& split, std::int64_t sample) {
  const std::string_view name = split.names[sample];
  go_to(std::string(name.substr(0, name.rfind(':'))), split.source_ids[static_cast<std::size_t>(sample)]);
  if (!reader_->next(row_)) fail("it is not there any more");
  check_row(row_, header_, columns_.needs_label);
  return check_text(row_.fields[static_cast<std::size_t>(header_.text)]);
}

// A file's rows share it.
std::int64_t TextTable::text_bytes(const SourceSplit& split, std::int64_t sample) const {
  const auto at = static_cast<std::size_t>(sample);
  return at + 1 < split.source_ids.size() ? std::max<std::int64_t>(0, split.source_ids[at + 1] - split.source_ids[at])
                                          : 0;
}

}  // namespace convoy
