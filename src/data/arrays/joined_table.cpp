/// Goes to the mark before a row and reads on from there.
#include "data/arrays/joined_table.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/progress.h"

namespace convoy {

namespace {

constexpr std::int64_t kRowsPerMark = 256;

}  // namespace

JoinedTable::JoinedTable(std::vector<std::string> paths) : paths_(std::move(paths)) {
  for (std::size_t file = 0; file < paths_.size(); ++file) {  // each has the columns of the first
    open(file);
    file_names_.push_back(std::filesystem::path(paths_[file]).filename().string());
    if (file == 0) names_ = table_->names(), note_ = table_->note();
  }
  if (file_ != 0) open(0);
}

void JoinedTable::open(std::size_t file) {
  file_ = file;
  table_.emplace(paths_[file]);
  columns_.clear();
  if (names_.empty() || table_->names() == names_) return;
  for (const std::string& name : names_) columns_.push_back(table_->column(name));
}

bool JoinedTable::next() {
  bool is_first_of_file = row_ < 0;
  while (!table_->next()) {
    if (file_ + 1 == paths_.size()) {
      row_ = num_rows_;  // the last row is no longer in the table's memory
      return false;
    }
    open(file_ + 1);
    is_first_of_file = true;
  }
  if (++row_ < num_rows_) return true;
  num_rows_ = row_ + 1;
  if (!is_first_of_file && row_ % kRowsPerMark != 0) return true;
  marks_.push_back({row_, static_cast<std::int64_t>(file_), table_->offset(), table_->line()});
  note_progress();
  return true;
}

bool JoinedTable::go_to(std::int64_t row) {
  if (is_complete_ && row >= num_rows_) return false;
  if (row == row_) return true;
  const auto after = std::ranges::upper_bound(marks_, row, {}, &RowMark::row);
  if (after != marks_.begin()) {
    const RowMark& mark = *std::prev(after);
    if (row < row_ || mark.row > row_ + 1) {
      if (static_cast<std::size_t>(mark.file) != file_) open(static_cast<std::size_t>(mark.file));
      table_->seek(mark.offset, mark.line);
      row_ = mark.row - 1;
    }
  }
  while (row_ < row)
    if (!next()) {
      is_complete_ = true;
      return false;
    }
  return true;
}

std::string JoinedTable::place() const {
  return fmt::format("{}:{}", file_names_[file_], table_->line());
}

void JoinedTable::count() {
  for (std::int64_t row = num_rows_; go_to(row); ++row) {
  }
}

void JoinedTable::set_marks(std::vector<RowMark> marks, std::int64_t num_rows) {
  marks_ = std::move(marks);
  num_rows_ = num_rows;
  is_complete_ = true;
}

}  // namespace convoy
