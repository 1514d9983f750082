/// Tables of texts, CSV and TSV. Rows are the same when they are read one after the other and each by itself.
#include "data/text/text_table.h"
#include "fuzz/fuzz.h"
#include "unit/io/temporary_directory.h"

namespace {

/// Returns the row's text, or what is wrong with it.
std::string text_of(convoy::TextTable& table, std::int64_t row) {
  try {
    return std::string(table.read(table.listing().splits.front(), row));
  } catch (const convoy::Error& error) {
    return error.what();
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  static const test::TemporaryDirectory kDirectory;
  fuzz::Input input(data, size);
  const std::string path = kDirectory / (input.flag() ? "train.csv" : "train.tsv");
  const convoy::TableColumns columns{.text = "text", .label = "label", .needs_label = input.flag()};
  test::write_bytes(path, input.rest_bytes());
  return fuzz::read_or_refuse([&] {
    TextTable table(path, list_tables(path, columns, "import.source"), columns);
    std::vector<std::string> texts;
    const std::int64_t count = table.listing().splits.front().size();
    for (std::int64_t i = 0; i < count; ++i) texts.push_back(text_of(table, i));
    for (std::int64_t i = count; i-- > 0;)
      fuzz::require(text_of(table, i) == texts[static_cast<std::size_t>(i)], "a row is what it is from anywhere");
  });
}
