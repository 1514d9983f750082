/// Reads a table once, on rank 0, for its classes and for the positions of its rows.
#include "data/text/text_table.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/shard_files.h"

#include "data/class_folders.h"
#include "data/text/check_text.h"
#include "data/text/column_checks.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kNoClassYet = -1;
constexpr std::int64_t kMaxRowsNamed = 3;  // bad rows named in one message

// Refuses a .tsv with quotes around line breaks, as pandas writes them: in a .tsv quotes are letters, and the two
// halves would be two rows.
void check_not_quoted(const std::string& path, const TableRow& row, const TableHeader& header) {
  const auto is_quoted = [](const std::string& field) { return field.starts_with('"'); };
  if (row.num_fields == header.num_fields || std::ranges::none_of(row.fields, is_quoted)) return;
  const TableFormat format = table_format(path);
  if (format.has_quotes) return;
  TableReader reader(path, {.separator = format.separator}, row.offset, row.first_line);
  TableRow next_row;
  if (!reader.next(next_row) || next_row.fault != TableFault::kNone || next_row.num_fields != header.num_fields ||
      next_row.last_line == row.first_line)
    return;
  refuse(
      "'{}': lines {} to {} are one row with a line break in quotes, which a .tsv does not have. Write it as .csv "
      "(pandas: to_csv('NEW.csv', index=False)), or take the line breaks out of the texts",
      path, next_row.first_line, next_row.last_line);
}

class TableListing {
 public:
  TableListing(const std::string& source, const TableColumns& columns, const std::string& key, CarriedColumns* carried)
      : source_(source), columns_(columns), key_(key), carried_(carried) {}

  SourceListing list() {
    for (const auto& [split, path] : find_tables(source_, key_)) list_split(split, path);
    const std::string others = excerpt(fmt::format("{}", fmt::join(other_tables(source_), ", ")));
    if (listing_.splits.empty() && has_unlabelled_)
      refuse("{} = {}: no table of split train has a column '{}' with classes", key_, source_, columns_.label);
    if (listing_.splits.empty())
      refuse("{} = {}: there are no tables. Expected: train.csv and test.csv, or .tsv{}{}", key_, source_,
             others.empty() ? "" : ". Tables of other names: ", others);
    if (!others.empty())
      log_warning(
          fmt::format("{} = {}: these tables belong to no split and are not read: {}. The name of a table must begin "
                      "with train, val, dev or test",
                      key_, source_, others));
    if (listing_.splits.front().name != "train")
      refuse("{} = {}: there is a table of {} but none of train, whose classes are needed", key_, source_,
             listing_.splits.front().name);
    if (columns_.needs_label && listing_.class_names.size() < 2)
      refuse(
          "{} = {}: all texts are of one class, '{}'. A network needs at least two. Is '{}' the column of the "
          "classes?{}",
          key_, source_, excerpt(listing_.class_names.front()), columns_.label, bad_rows_);
    return std::move(listing_);
  }

 private:
  /// Content of the rows of a table, in their order.
  struct Rows {
    std::vector<std::int32_t> labels;  ///< classes in the order of appearance; kNoClassYet: none, or a bad row
    std::unordered_map<std::string, std::int32_t> numbers;  ///< numbers of the classes
    ColumnContent content;
    std::int64_t num_good = 0;
    std::int64_t num_longer = 0;        ///< rows with one field more than the header
    std::int64_t num_not_utf8 = 0;      ///< rows that are not UTF-8
    std::int64_t first_not_utf8 = 0;    ///< line of the first row that is not UTF-8
    bool has_utf8 = false;              ///< a row has a letter beyond ASCII that is UTF-8
    std::vector<std::string> some_bad;  ///< the first bad rows, and what is wrong with them

    std::string describe_bad() const {
      return fmt::format("{} of {} rows are bad, the first: {}", std::ssize(labels) - num_good, labels.size(),
                         fmt::join(some_bad, "; "));
    }
  };

  void list_split(const std::string& name, const std::string& path) {
    TableReader reader(path);
    TableColumns columns = columns_;
    columns.needs_label = columns_.needs_label && name != "test";
    const TableHeader header = read_header(reader, path, columns);
    if (columns_.needs_label && header.label < 0) {
      log_warning(
          fmt::format("'{}' has no column '{}' and is left out of the import: no accuracy can be measured on it. "
                      "convoy predict reads texts without classes directly: convoy predict ... --predict.data={}",
                      path, columns_.label, path));
      has_unlabelled_ = true;
      return;
    }
    name_carried(header);
    SourceSplit& split = listing_.splits.emplace_back();
    split.name = name;
    const Rows rows = read_rows(reader, path, header, split);
    check_encoding(path, rows);
    check_rows(path, header, rows, split.size());
    set_labels(split, path, rows);
  }

  Rows read_rows(TableReader& reader, const std::string& path, const TableHeader& header, SourceSplit& split) {
    const std::string file = fs::path(path).filename().string();
    Rows rows;
    for (TableRow row; reader.next(row);) {
      check_not_quoted(path, row, header);
      note_encoding(row, rows);
      const std::string name = fmt::format("{}:{}", file, row.first_line);
      std::int32_t number = kNoClassYet;
      try {
        check_row(row, header, columns_.needs_label);
        ++rows.num_good;
        number = number_of_class(row, header, rows);
        if (is_number(row.fields[static_cast<std::size_t>(header.text)]) && rows.content.num_numbers++ == 0)
          rows.content.number = row.fields[static_cast<std::size_t>(header.text)];
        carry(row, header);
      } catch (const Error& error) {
        if (std::ssize(rows.some_bad) < kMaxRowsNamed)
          rows.some_bad.push_back(fmt::format("'{}': {}", name, error.what()));
        if (row.num_fields == header.num_fields + 1) ++rows.num_longer;
        if (carried_ != nullptr) carried_->rows.add("");
      }
      rows.labels.push_back(number);
      split.add(name, kNoClassYet, row.offset);
    }
    return rows;
  }

  // Notes whether the row is UTF-8. Rows with a field that is too long are left out: its end is not kept, and may cut a
  // letter.
  static void note_encoding(const TableRow& row, Rows& rows) {
    if (row.longest > kMaxTextBytes) return;
    const auto is_not_utf8 = [](const std::string& field) { return find_not_utf8(field) >= 0; };
    const auto is_ascii = [](const std::string& field) {
      return std::ranges::all_of(field, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    };
    if (std::ranges::all_of(row.fields, is_ascii)) return;
    if (std::ranges::none_of(row.fields, is_not_utf8))
      rows.has_utf8 = true;
    else if (rows.num_not_utf8++ == 0)
      rows.first_not_utf8 = row.first_line;
  }

  // Refuses the table if it has rows that are not UTF-8, and no letter beyond ASCII is UTF-8: all rows with accents
  // would be left out. A single damaged row is accepted.
  static void check_encoding(const std::string& path, const Rows& rows) {
    if (rows.has_utf8 || rows.num_not_utf8 < 2) return;
    refuse("'{}' is not UTF-8: {} rows have other bytes, the first on line {}. {}", path, rows.num_not_utf8,
           rows.first_not_utf8, kConvertToUtf8);
  }

  static std::int32_t number_of_class(const TableRow& row, const TableHeader& header, Rows& rows) {
    if (header.label < 0) return kNoClassYet;
    const std::string name(without_apostrophe(row.fields[static_cast<std::size_t>(header.label)]));
    const auto next = static_cast<std::int32_t>(rows.numbers.size());
    return is_blank(name) ? kNoClassYet : rows.numbers.emplace(name, next).first->second;
  }

  static bool is_carried(const TableHeader& header, std::size_t column) {
    const auto at = static_cast<std::int64_t>(column);
    return at != header.text && at != header.label;
  }

  void name_carried(const TableHeader& header) {
    if (carried_ == nullptr) return;
    for (std::size_t i = 0; i < header.names.size(); ++i)
      if (is_carried(header, i)) carried_->names.push_back(header.names[i]);
  }

  void carry(const TableRow& row, const TableHeader& header) {
    if (carried_ == nullptr) return;
    std::string fields;
    for (std::size_t i = 0; i < row.fields.size(); ++i)
      if (is_carried(header, i)) fields += "," + csv_field(row.fields[i]);
    carried_->rows.add(fields);
  }

  static void check_rows(const std::string& path, const TableHeader& header, const Rows& rows, std::int64_t count) {
    if (count == 0) refuse("'{}' has no rows except the one that names the columns", path);
    if (rows.num_good > 0) return;
    const char* const remedy =
        rows.num_longer == count
            ? ". Each has one field more than the first row has names, as R's write.table makes them: write the table "
              "with row.names = FALSE"
            : "";
    refuse("'{}' names {}: {}{}", path, counted(header.num_fields, "column"), rows.describe_bad(), remedy);
  }

  void set_labels(SourceSplit& split, const std::string& path, const Rows& rows) {
    std::vector<std::string> found(rows.numbers.size());
    for (const auto& [name, number] : rows.numbers) found[static_cast<std::size_t>(number)] = name;
    if (listing_.class_names.empty()) {
      listing_.class_names = in_order_of_classes(found);
      for (const std::string& name : listing_.class_names)
        positions_.emplace(name, static_cast<std::int32_t>(positions_.size()));
      if (columns_.needs_label) check_content(path, rows);
      if (!rows.some_bad.empty()) bad_rows_ = " " + rows.describe_bad();
    }
    std::vector<std::int32_t> labels;
    for (const std::string& name : found) {
      const auto position = positions_.find(name);
      if (position == positions_.end()) refuse_class(path, name);
      labels.push_back(position->second);
    }
    for (std::size_t i = 0; i < rows.labels.size(); ++i)
      if (rows.labels[i] != kNoClassYet) split.labels[i] = labels[static_cast<std::size_t>(rows.labels[i])];
  }

  void check_content(const std::string& path, const Rows& rows) const {
    ColumnContent content = rows.content;
    content.class_names = listing_.class_names;
    content.num_texts = rows.num_good;
    check_columns(path, columns_, content);
  }

  [[noreturn]] void refuse_class(const std::string& path, const std::string& name) const {
    const auto& names = listing_.class_names;
    const auto end = names.begin() + std::min<std::ptrdiff_t>(5, std::ssize(names));
    refuse(
        "'{}' has a class '{}' that train does not have. Train has {}: {}{}. Correct the class, or remove the table "
        "from the folder; convoy predict reads tables without classes",
        path, excerpt(name), names.size(), excerpt(fmt::format("{}", fmt::join(names.begin(), end, ", "))),
        names.size() > 5 ? ", ..." : "");
  }

  const std::string& source_;
  const TableColumns& columns_;
  const std::string& key_;
  CarriedColumns* carried_;
  std::string bad_rows_;  ///< description of the bad rows of train
  SourceListing listing_;
  bool has_unlabelled_ = false;                              ///< a table without a column of classes was left out
  std::unordered_map<std::string, std::int32_t> positions_;  ///< positions of class names
};

}  // namespace

// GLUE and others name val dev: dev.tsv, dev_matched.tsv. A table devices.csv is of no split.
std::optional<std::size_t> split_of_table(const std::string& name) {
  const std::string lower = lower_case(name);
  const bool is_dev = lower.starts_with("dev") && (lower.size() == 3 || lower[3] < 'a' || lower[3] > 'z');
  return is_dev ? std::optional<std::size_t>(1) : split_called(name);
}

std::vector<std::pair<std::string, std::string>> find_tables(const std::string& path, const std::string& key) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return {{io::kSplitNames.front(), path}};
  std::vector<std::string> tables(io::kSplitNames.size());
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    const auto split = split_of_table(name);
    if (!split || !is_table(name) || !entry.is_regular_file(error)) continue;
    std::string& table = tables[*split];
    if (!table.empty())
      refuse("{} = {}: '{}' and '{}' both belong to split {}. Import them separately, or rename one", key, path,
             std::min(table, entry.path().string()), std::max(table, entry.path().string()), io::kSplitNames[*split]);
    table = entry.path().string();
  }
  std::vector<std::pair<std::string, std::string>> found;
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (!tables[i].empty()) found.emplace_back(io::kSplitNames[i], tables[i]);
  return found;
}

std::vector<std::string> other_tables(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_hidden = name.starts_with('.');
    if (!is_hidden && is_table(name) && !split_of_table(name) && entry.is_regular_file(error)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

SourceListing list_tables(const std::string& path, const TableColumns& columns, const std::string& key,
                          CarriedColumns* carried) {
  return TableListing(path, columns, key, carried).list();
}

TextTable::TextTable(const std::string& path, SourceListing listing, const TableColumns& columns)
    : TextSource(std::move(listing)), columns_(columns) {
  std::error_code error;
  folder_ = fs::is_directory(path, error) ? path : fs::path(path).parent_path().string();
}

void TextTable::go_to(const std::string& file, std::int64_t line, std::int64_t offset) {
  const std::string path = (fs::path(folder_) / file).string();
  if (!reader_ || file_ != file) {
    reader_.emplace(path);
    header_ = read_header(*reader_, path, columns_);
    file_ = file;
  }
  if (reader_->offset() != offset) reader_.emplace(path, table_format(path), offset, line);
}

std::string_view TextTable::read(const SourceSplit& split, std::int64_t sample) {
  const std::string_view name = split.names[sample];
  const std::size_t colon = name.rfind(':');
  const auto at = static_cast<std::size_t>(sample);
  go_to(std::string(name.substr(0, colon)), parse_number<std::int64_t>(name.substr(colon + 1)).value_or(0),
        split.source_ids[at]);
  if (!reader_->next(row_)) fail("it no longer exists");
  check_row(row_, header_, columns_.needs_label);
  if (columns_.needs_label && split.labels[at] < 0) fail("its file has changed since it was listed");
  return check_text(row_.fields[static_cast<std::size_t>(header_.text)]);
}

// Returns the distance to the next row that is listed; 0 for the last one.
std::int64_t TextTable::text_bytes(const SourceSplit& split, std::int64_t sample) const {
  const auto at = static_cast<std::size_t>(sample);
  return at + 1 < split.source_ids.size() ? std::max<std::int64_t>(0, split.source_ids[at + 1] - split.source_ids[at])
                                          : 0;
}

}  // namespace convoy
