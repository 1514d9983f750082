/// Blocks of arrays, and rows of tables.
#include "data/arrays/sample_part.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/progress.h"
#include "convoy/base/text.h"
#include "convoy/io/array_reader.h"

namespace convoy {

namespace {

constexpr std::int64_t kTextsOfBlock = 4096;

/// An array of one file, or those of several files, one after the other.
class ArrayPart final : public SamplePart {
 public:
  ArrayPart(const PartLocation& location, std::int64_t block_bytes) : location_(location), block_bytes_(block_bytes) {
    for (const std::string& path : location.files.paths) add(path);
    if (files_.size() > 1) open(0);
  }

  std::optional<ElementType> type() const override { return type_; }
  const std::vector<std::int64_t>& dims() const override { return dims_; }
  const std::vector<std::string>& columns() const override { return no_columns_; }
  bool has(std::int64_t row) override { return row >= 0 && row < num_rows_; }
  std::int64_t num_samples() override { return num_rows_; }

  std::span<const std::byte> values(std::int64_t row) override {
    go_to(row);
    const std::size_t size = static_cast<std::size_t>(row_bytes());
    return std::span(block_).subspan(static_cast<std::size_t>(row - block_first_) * size, size);
  }

  std::string_view text(std::int64_t row, std::int64_t value) override {
    if (!type_) {
      go_to(row);
      return texts_[static_cast<std::size_t>(row - block_first_)];
    }
    const auto bytes = values(row).subspan(static_cast<std::size_t>(value * size_of(*type_)),
                                           static_cast<std::size_t>(size_of(*type_)));
    text_ = text_of_integer(bytes);
    return text_;
  }

  std::string place(std::int64_t row) override {
    const std::size_t file = file_of(row);
    return fmt::format("{}:{}", file_names_[file], row - files_[file]);
  }

 private:
  std::int64_t row_bytes() const { return num_values() * size_of(*type_); }

  void add(const std::string& path) {
    reader_ = open_array(location_.files.kind, path, location_.array);
    const io::ArrayForm& form = reader_->form();
    const std::vector<std::int64_t> dims(form.dims.begin() + 1, form.dims.end());
    if (files_.empty()) {
      type_ = form.type;
      dims_ = dims;
    } else if (type_ != form.type || dims_ != dims) {
      io::ArrayForm first{.type = type_, .dims = {files_.size() > 1 ? files_[1] : num_rows_}};
      first.dims.insert(first.dims.end(), dims_.begin(), dims_.end());
      refuse("'{}' holds {}, but '{}' holds {}: files that are joined have samples of one type and shape",
             location_.files.paths.front(), to_string(first), path, to_string(form));
    }
    open_ = files_.size();
    files_.push_back(num_rows_);
    file_names_.push_back(std::filesystem::path(path).filename().string());
    num_rows_ += form.num_samples();
  }

  void open(std::size_t file) {
    const std::string& path = location_.files.paths[file];
    reader_ = open_array(location_.files.kind, path, location_.array);
    io::ArrayForm wanted{.type = type_, .dims = {end_of(file) - files_[file]}};
    wanted.dims.insert(wanted.dims.end(), dims_.begin(), dims_.end());
    if (reader_->form() != wanted) fail("'{}' has changed since it was opened", path);
    open_ = file;
  }

  std::int64_t end_of(std::size_t file) const { return file + 1 < files_.size() ? files_[file + 1] : num_rows_; }

  std::size_t file_of(std::int64_t row) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(files_, row) - files_.begin() - 1);
  }

  // Reads the block that begins with the row, unless the row is in the present one.
  void go_to(std::int64_t row) {
    if (row >= block_first_ && row < block_first_ + block_rows_) return;
    if (!has(row)) fail("'{}' has no sample {}", location_.files.paths.front(), row);
    const std::size_t file = file_of(row);
    if (file != open_) open(file);
    const std::int64_t wanted = type_ ? std::max<std::int64_t>(1, block_bytes_ / row_bytes()) : kTextsOfBlock;
    const std::int64_t count = std::min(end_of(file) - row, wanted);
    block_rows_ = 0;
    if (type_) {
      block_.resize(static_cast<std::size_t>(count * row_bytes()));
      reader_->read(row - files_[file], count, block_);
    } else {
      texts_ = reader_->read_texts(row - files_[file], count);
    }
    block_first_ = row;
    block_rows_ = count;
    note_progress();
  }

  std::string text_of_integer(std::span<const std::byte> bytes) const {
    const auto text = [&](auto number) {
      std::memcpy(&number, bytes.data(), sizeof number);
      return fmt::format("{}", number);
    };
    using enum ElementType;
    switch (*type_) {
      case kInt8:
        return text(std::int8_t{});
      case kInt16:
        return text(std::int16_t{});
      case kInt32:
        return text(std::int32_t{});
      case kInt64:
        return text(std::int64_t{});
      case kUint8:
        return text(std::uint8_t{});
      case kUint16:
        return text(std::uint16_t{});
      case kUint32:
        return text(std::uint32_t{});
      case kUint64:
        return text(std::uint64_t{});
      default:
        fail("'{}' holds {} numbers, which are no names: integers or texts were expected",
             location_.files.paths.front(), to_string(*type_));
    }
  }

  PartLocation location_;
  std::int64_t block_bytes_;
  std::optional<ElementType> type_;
  std::vector<std::int64_t> dims_;
  std::vector<std::string> no_columns_;
  std::vector<std::int64_t> files_;      ///< number of the first row of each file
  std::vector<std::string> file_names_;  ///< of the files, without their folders
  std::int64_t num_rows_ = 0;
  std::unique_ptr<io::ArrayReader> reader_;
  std::size_t open_ = 0;  ///< index of the file that reader_ reads
  std::vector<std::byte> block_;
  std::vector<std::string> texts_;
  std::int64_t block_first_ = 0, block_rows_ = 0;
  std::string text_;
};

/// Columns of a table that other parts may read, too.
class ColumnsPart final : public SamplePart {
 public:
  ColumnsPart(std::shared_ptr<JoinedTable> table, const std::vector<std::string>& columns)
      : table_(std::move(table)), names_(columns), dims_{std::ssize(columns)}, numbers_(columns.size()) {
    for (const std::string& name : columns) {
      const auto found = std::ranges::find(table_->names(), name);
      if (found == table_->names().end()) refuse("'{}' has no column '{}'", table_->paths().front(), name);
      columns_.push_back(static_cast<std::size_t>(found - table_->names().begin()));
    }
  }

  std::optional<ElementType> type() const override { return ElementType::kFloat64; }
  const std::vector<std::int64_t>& dims() const override { return dims_; }
  const std::vector<std::string>& columns() const override { return names_; }
  bool has(std::int64_t row) override { return table_->go_to(row); }
  std::int64_t num_samples() override {
    table_->count();
    return table_->num_rows();
  }

  std::span<const std::byte> values(std::int64_t row) override {
    go_to(row);
    for (std::size_t i = 0; i < columns_.size(); ++i) numbers_[i] = table_->number(columns_[i]);
    return std::as_bytes(std::span(numbers_));
  }

  std::string_view text(std::int64_t row, std::int64_t value) override {
    go_to(row);
    return table_->text(columns_[static_cast<std::size_t>(value)]);
  }

  std::string place(std::int64_t row) override {
    go_to(row);
    return table_->place();
  }

 private:
  void go_to(std::int64_t row) {
    if (!table_->go_to(row)) fail("'{}' has no row {}", table_->paths().front(), row);
  }

  std::shared_ptr<JoinedTable> table_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> dims_;
  std::vector<std::size_t> columns_;
  std::vector<double> numbers_;
};

}  // namespace

std::int64_t SamplePart::num_values() const {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims()) count *= dim;
  return count;
}

std::unique_ptr<SamplePart> open_part(const PartLocation& location, OpenTables& tables, std::int64_t block_bytes) {
  if (location.files.kind != ArrayFileKind::kTable) return std::make_unique<ArrayPart>(location, block_bytes);
  std::shared_ptr<JoinedTable>& table = tables[location.files.paths];
  if (table == nullptr) table = std::make_shared<JoinedTable>(location.files.paths);
  return std::make_unique<ColumnsPart>(table, location.columns);
}

std::string source_of(const PartLocation& location) {
  const std::string& name = location.columns.size() == 1 ? location.columns.front() : location.array;
  const bool is_name = printable(name) == name && name.find_first_of("\n\t") == std::string::npos;
  return location.files.kind != ArrayFileKind::kPictures && is_name ? name : "";
}

}  // namespace convoy
