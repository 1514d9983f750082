/// Whether the columns of a table are what they are taken for: texts and their classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/text/table_header.h"

namespace convoy {

/// What the rows of train hold.
struct ColumnContent {
  std::vector<std::string> class_names;
  std::int64_t num_texts = 0;
  std::int64_t num_numbers = 0;  ///< texts that are a number
  std::string number;            ///< the first of these
};

/// Whether the text is a number, whole or not.
bool is_number(std::string_view text);
/// Whether it is a whole number, as classes often are.
bool is_whole_number(std::string_view text);

/// Throws RequestError where there are more classes than columns.max_class_fraction of the texts, and more than 10.
/// Warns where classes are numbers that are not whole, or many that are, seem to be several classes each, or differ in
/// capitals and spaces alone, and where all texts are numbers.
void check_columns(const std::string& path, const TableColumns& columns, const ColumnContent& content);

}  // namespace convoy
