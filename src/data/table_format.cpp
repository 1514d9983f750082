/// Tells CSV from TSV.
#include "data/table_format.h"

#include "convoy/base/text.h"

namespace convoy {

TableFormat table_format(const std::string& path) {
  if (lower_case(path).ends_with(".tsv")) return {.separator = '\t', .has_quotes = false};
  return {};
}

bool is_table(const std::string& path) {
  const std::string name = lower_case(path);
  return name.ends_with(".csv") || name.ends_with(".tsv");
}

}  // namespace convoy
