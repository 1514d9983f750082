/// The rows of a CSV table that stay when a run is resumed, and which of them are lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace convoy {

struct TableColumns {
  std::string_view header;         ///< names, separated by commas
  std::ptrdiff_t step_column = 0;  ///< counted from 0
};

/// The steps of the rows that were written before: the multiples of `every` from `first` to `last`, and `last`. With
/// `first` 0, where a run began at a step that nobody knows any more, from the first row that is there.
struct ExpectedRows {
  std::int64_t first = 1, last = 0, every = 1;
};

struct KeptRows {
  std::string text;       ///< each row with its newline, without the header
  std::string lost = {};  ///< a sentence about the lost rows; empty where there are none
};

/// Of the table's `text`, the rows of steps up to `last_step`. A row that was cut short, is out of order or is none of
/// this table counts as lost. Rows of an older Convoy, whose table has fewer columns, are filled up with empty ones.
/// `path` names the table in the sentence.
KeptRows keep_rows(const std::string& path, std::string_view text, const TableColumns& columns, std::int64_t last_step,
                   const ExpectedRows& expected);

}  // namespace convoy
