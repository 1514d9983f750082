/// Checks that the columns of a table are what they are taken for: texts and their classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/text/table_header.h"

namespace convoy {

/// Content of the rows of train.
struct ColumnContent {
  std::vector<std::string> class_names;
  std::int64_t num_texts = 0;
  std::int64_t num_numbers = 0;  ///< texts that are numbers
  std::string number;            ///< first text that is a number
};

/// Whether the text is a number, whole or not.
bool is_number(std::string_view text);
/// Whether the text is a whole number, as classes often are.
bool is_whole_number(std::string_view text);

/// Throws RequestError if there are more classes than columns.max_class_fraction of the texts, and more than 10. Warns
/// if classes are numbers that are not whole, are many whole numbers, seem to be several classes each, or differ in
/// capitals and spaces only; also if all texts are numbers.
void check_columns(const std::string& path, const TableColumns& columns, const ColumnContent& content);

}  // namespace convoy
