/// Tables of numbers, CSV and TSV. Rows are the same when they are read one after the other and each by itself.
#include <algorithm>
#include <bit>
#include <tuple>

#include "data/arrays/number_table.h"
#include "fuzz/fuzz.h"
#include "unit/io/temporary_directory.h"

namespace {

/// Returns what the row that was read last holds: the bits of numbers, and texts that are none.
std::string content_of(const convoy::NumberTable& table) {
  std::string content;
  for (std::size_t i = 0; i < table.names().size(); ++i) {
    double number = 0;
    content += convoy::read_number(table.text(i), number) ? std::to_string(std::bit_cast<std::uint64_t>(number))
                                                          : std::string(table.text(i));
    content += '\n';
  }
  return content;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  static const test::TemporaryDirectory kDirectory;
  fuzz::Input input(data, size);
  const std::string path = kDirectory / (input.flag() ? "t.csv" : "t.tsv");
  test::write_bytes(path, input.rest_bytes());
  return fuzz::read_or_refuse([&] {
    NumberTable table(path);
    std::vector<std::tuple<std::int64_t, std::int64_t, std::string>> rows;
    while (table.next()) rows.emplace_back(table.offset(), table.line(), content_of(table));
    std::ranges::reverse(rows);
    for (const auto& [offset, line, content] : rows) {
      table.seek(offset, line);
      fuzz::require(table.next() && content_of(table) == content, "a row is what it is from anywhere");
      fuzz::require(table.line() == line && table.offset() == offset, "a row knows its place");
    }
  });
}
