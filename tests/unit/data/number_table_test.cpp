/// Tables of numbers: fields are those of RFC 4180, numbers are the nearest doubles, and what is wrong is refused with
/// its line.
#include "data/arrays/number_table.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/random.h"

#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;
using Fields = std::vector<std::string>;

class NumberTableTest : public testing::Test {
 protected:
  std::string write(const std::string& content, const std::string& name = "t.csv") const {
    std::string path = directory_ / name;
    test::write_bytes(path, std::as_bytes(std::span(content)));
    return path;
  }
  std::vector<Fields> rows(const std::string& content, const std::string& name = "t.csv") const {
    const std::string path = write(content, name);
    FieldReader reader(path, table_format(path));
    std::vector<Fields> all;
    while (reader.next()) all.emplace_back(reader.fields().begin(), reader.fields().end());
    return all;
  }
  /// The message with which reading all rows as numbers ends.
  std::string refusal(const std::string& content, const std::string& name = "t.csv") const {
    const std::string path = write(content, name);
    return message_of<Error>([&] {
      NumberTable table(path);
      while (table.next())
        for (std::size_t i = 0; i < table.names().size(); ++i) table.number(i);
    });
  }

  test::TemporaryDirectory directory_;
};

double number_of(std::string_view field) {
  double number = 0;
  EXPECT_TRUE(read_number(field, number)) << field;
  return number;
}

TEST_F(NumberTableTest, FieldsAreThoseOfTheRows) {
  const std::vector<Fields> wanted = {{"a", "b"}, {"1", "2"}, {"", ""}, {"3", ""}};
  EXPECT_EQ(rows("a,b\n1,2\n,\n3,\n"), wanted);
  EXPECT_EQ(rows("a,b\r\n\r\n1,2\r\n,\r\n3,"), wanted);
  EXPECT_EQ(rows("\xef\xbb\xbf"
                 "a,b\n\n\n1,2\n,\n3,\n\n"),
            wanted);
  EXPECT_EQ(rows("a\tb\n1\t2\n\t\n3\t\n", "t.tsv"), wanted);
  EXPECT_EQ(rows(""), std::vector<Fields>());
  EXPECT_EQ(rows("\n\r\n"), std::vector<Fields>());
}

TEST_F(NumberTableTest, QuotesMayHoldSeparatorsQuotesAndLineEnds) {
  EXPECT_EQ(rows("\"a,b\",\"say \"\"so\"\"\"\n\"two\nlines\",\"\"\nplain,\"x\"\r\n"),
            (std::vector<Fields>{{"a,b", "say \"so\""}, {"two\nlines", ""}, {"plain", "x"}}));
  EXPECT_EQ(rows("\"a\"\tb\n", "t.tsv"), (std::vector<Fields>{{"\"a\"", "b"}}));
}

TEST_F(NumberTableTest, RowsAreTheSameInEveryBlock) {
  std::string content = "a,b,c\n";
  for (int i = 0; i < 200'000; ++i) content += fmt::format("{},{}.5,-{}e3\n", i, i % 13, i % 7);  // four blocks
  const std::string path = write(content);
  NumberTable table(path);
  std::vector<std::int64_t> offsets;
  for (int i = 0; table.next(); ++i) {
    ASSERT_EQ(table.number(0), i);
    ASSERT_EQ(table.number(1), i % 13 + 0.5);
    ASSERT_EQ(table.number(2), i % 7 * -1e3);
    offsets.push_back(table.offset());
  }
  ASSERT_EQ(offsets.size(), 200'000u);
  for (const std::size_t row : {199'999u, 0u, 77'777u, 77'778u, 150'000u}) {
    table.seek(offsets[row], static_cast<std::int64_t>(row) + 2);
    ASSERT_TRUE(table.next());
    EXPECT_EQ(table.number(0), static_cast<double>(row));
    EXPECT_EQ(table.line(), static_cast<std::int64_t>(row) + 2);
  }
}

TEST_F(NumberTableTest, NumbersAreTheNearestDoubles) {
  EXPECT_EQ(number_of("1"), 1);
  EXPECT_EQ(number_of(" -2.5\t"), -2.5);
  EXPECT_EQ(number_of("+3e2"), 300);
  EXPECT_EQ(number_of("0.1"), 0.1);
  EXPECT_EQ(number_of("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(number_of("5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(number_of("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(number_of("-1e400"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(number_of("1e-400"), 0);
  EXPECT_EQ(number_of("-inf"), -std::numeric_limits<double>::infinity());
  for (const char* const missing : {"", "  ", "nan", "NaN", "NA", "n/a", "null", "None", "?"})
    EXPECT_TRUE(std::isnan(number_of(missing))) << missing;
  double number = 0;
  for (const char* const other :
       {"+", "-", "++1", "+-1", "1 2", "12a", "a", "0x10", "1,5", "1_0", "--", ".", "1e", "missing", "NAN1"})
    EXPECT_FALSE(read_number(other, number)) << other;
}

// Numbers of up to 15 digits are read another way than longer ones.
TEST_F(NumberTableTest, DecimalsOfAnyLengthAreTheNearestDoubles) {
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const RandomKey key{.seed = 1, .item = i};
    std::string field;
    const std::uint64_t length = 1 + random_below(key, 0, 18), point = random_below(key, 1, 20);
    for (std::uint64_t d = 0; d < length; ++d) {
      if (d == point) field += '.';
      field += static_cast<char>('0' + random_below(key, 2 + d, 10));
    }
    if (point == length) field += '.';
    if (random_below(key, 30, 2) == 0) field.insert(0, 1, '-');
    ASSERT_EQ(std::bit_cast<std::uint64_t>(number_of(field)),
              std::bit_cast<std::uint64_t>(std::strtod(field.c_str(), nullptr)))
        << field;
  }
}

TEST_F(NumberTableTest, ColumnsAreFoundByName) {
  const std::string path = write("id,temperature,\"a, b\"\nx1,20.5,3\nx2,NA,4\n");
  NumberTable table(path);
  EXPECT_EQ(table.names(), (Fields{"id", "temperature", "a, b"}));
  EXPECT_EQ(table.note(), "");
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.text(table.column("id")), "x1");
  EXPECT_EQ(table.number(table.column("a, b")), 3);
  EXPECT_EQ(table.number(table.column("temperature")), 20.5);
  ASSERT_TRUE(table.next());
  EXPECT_TRUE(std::isnan(table.number(table.column("temperature"))));
  EXPECT_FALSE(table.next());
  EXPECT_CONTAINS(message_of<RequestError>([&] { table.column("temprature"); }),
                  "has no column 'temprature'. Nearest: temperature");
  EXPECT_CONTAINS(message_of<RequestError>([&] { table.column("zzzzzz"); }), "It has: id, temperature, a, b");
}

TEST_F(NumberTableTest, ATableWithoutNamesNumbersItsColumns) {
  const std::string path = write("1,2.5\n3,4\n");
  NumberTable table(path);
  EXPECT_EQ(table.note(),
            "'" + path + "': its first row has numbers, so it is a sample; the columns are called column1 to column2");
  EXPECT_EQ(table.names(), (Fields{"column1", "column2"}));
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.number(1), 2.5);
  EXPECT_TRUE(table.next());
  EXPECT_FALSE(table.next());
}

// As pandas writes columns without names. A row 0, 1 may be a sample.
TEST_F(NumberTableTest, NumbersFromZeroOnAreNamesOfThreeColumnsOrMore) {
  const std::string path = write("0,1,2\n5,6,7\n");
  NumberTable table(path);
  EXPECT_EQ(table.names(), (Fields{"0", "1", "2"}));
  EXPECT_EQ(table.note(), "'" + path + "': its first row, 0 to 2, was taken as the names of the columns");
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.number(0), 5);
  EXPECT_FALSE(table.next());
  for (const char* const content : {"0,1\n1,0\n", "0,1,3\n5,6,7\n", "0\n1\n"}) {
    NumberTable values(write(content));
    EXPECT_EQ(values.names().front(), "column1") << content;
    ASSERT_TRUE(values.next());
    EXPECT_EQ(values.number(0), 0) << content;
    EXPECT_TRUE(values.next()) << content;
  }
}

TEST_F(NumberTableTest, WhatIsWrongIsRefusedWithItsLine) {
  EXPECT_CONTAINS(refusal("a,b\n1,2\n\n3\n"), "t.csv', line 4: the row has 1 field, but there are 2 columns");
  EXPECT_CONTAINS(refusal("a,b\n1,2,3\n"), "line 2: the row has 3 fields, but there are 2 columns");
  EXPECT_CONTAINS(refusal("a,b\n1,2\n3,warm\n"), "line 3, column 'b': 'warm' is not a number");
  EXPECT_CONTAINS(refusal("a,b\n1,2\n\"two\nlines\",2\n4,x\n"), "line 3, column 'a': 'two\\nlines' is not a number");
  EXPECT_CONTAINS(refusal("a,b\n1,\"2\n"), "line 2: a quote is never closed");
  EXPECT_CONTAINS(refusal("a,b\n1,\"2\"3\n"), "line 2: text follows a closing quote");
  EXPECT_CONTAINS(refusal("a,a\n1,2\n"), "has two columns named 'a'");
  EXPECT_CONTAINS(refusal("a,\n1,2\n"), "has a column without a name");
  EXPECT_CONTAINS(refusal("a,b\n"), "names of columns, but no row of values");
  EXPECT_CONTAINS(refusal(""), "is empty: it has no row");
  EXPECT_CONTAINS(refusal("a;b\n1;2\n"), "another character than its name says");
  EXPECT_CONTAINS(refusal("a,b\n1,2\n", "t.tsv"), "another character than its name says");
  EXPECT_CONTAINS(refusal(std::string("\xff\xfe"
                                      "a\0\n\0",
                                      6)),
                  "is in UTF-16");
  EXPECT_CONTAINS(refusal("a,b\r1,2\r3,4\r"), "end with a carriage return alone");
  EXPECT_CONTAINS(refusal("a\n" + std::string(70'000, ',')), "more than 65536 fields");
  EXPECT_CONTAINS(message_of<RequestError>([&] { NumberTable(directory_ / "absent.csv"); }), "absent.csv");
  EXPECT_CONTAINS(refusal(std::string("a,b\n1,\0\n", 8)), "'\\x00' is not a number");
}

}  // namespace
}  // namespace convoy
