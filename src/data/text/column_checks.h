/// Checks that the columns of a table that the user has named really have texts and their classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/text/table_header.h"

namespace convoy {

/// What check_columns() needs to know of the rows of the split train: the names of their classes, the number of their
/// texts, and how many of the texts are numbers.
struct ColumnContent {
  std::vector<std::string> class_names;
  std::int64_t num_texts = 0;
  std::int64_t num_numbers = 0;  ///< number of texts that are nothing but a number
  std::string number;            ///< the first of these texts, for messages; empty if there is none
};

/// Returns whether the text is a number, whole or not.
bool is_number(std::string_view text);
/// Returns whether the text is a whole number of 64 bits, as the names of classes often are. It may begin with "-", but
/// not with "+" or a blank.
bool is_whole_number(std::string_view text);

/// Checks the columns of the table `path`. Throws RequestError if there are more than 10 classes and more than
/// columns.max_class_fraction times the number of texts. Logs a warning if classes are numbers that are not whole, are
/// many whole numbers, seem to combine several classes, or differ in capitals and spaces only; also if all texts are
/// numbers.
void check_columns(const std::string& path, const TableColumns& columns, const ColumnContent& content);

}  // namespace convoy
