/// Tables row by row, and the texts that folders and tables hold.
#include "data/text/text_source.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <tuple>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "data/class_folders.h"
#include "data/text/check_text.h"
#include "data/text/table_reader.h"
#include "data/text/text_table.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using Rows = std::vector<std::vector<std::string>>;

class TextSources : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) const {
    std::string path = directory_ / name;
    test::write_bytes(path, std::as_bytes(std::span(content)));
    return path;
  }

  Rows rows(const std::string& name, const std::string& content) const {
    TableReader reader(write(name, content));
    Rows all;
    for (TableRow row; reader.next(row);) all.push_back(row.fields);
    return all;
  }

  test::TemporaryDirectory directory_;
};

// --- Rows ------------------------------------------------------------------------------------------------------------

TEST_F(TextSources, CsvHasQuotesCommasAndLineEndsInFields) {
  const Rows want = {{"text", "label"}, {"a, b", "1"}, {"say \"yes\"\nand go", "2"}, {"", ""}, {"plain", "3"}};
  EXPECT_EQ(rows("a.csv", "text,label\n\"a, b\",1\n\"say \"\"yes\"\"\nand go\",2\n,\nplain,3"), want);
  EXPECT_EQ(
      rows("b.CSV", "\xef\xbb\xbftext,label\r\n\r\n\"a, b\",1\r\n\"say \"\"yes\"\"\nand go\",2\r\n\n,\r\nplain,3\r\n"),
      want)
      << "lines that end in \\r\\n, empty lines, a byte order mark";
  EXPECT_EQ(rows("c.csv", "a \"b\" c,d\n"), (Rows{{"a \"b\" c", "d"}})) << "quotes within a field are letters";
  EXPECT_EQ(rows("d.csv", ""), Rows{});
  EXPECT_EQ(rows("e.csv", "a,\"b\"\r\r\nc,d\r\r\n"), (Rows{{"a", "b"}, {"c", "d"}}))
      << "line ends that were converted twice";
}

// For each row its first and last line, and its fault.
using Lines = std::vector<std::tuple<std::int64_t, std::int64_t, TableFault>>;

TEST_F(TextSources, AfterWhatTheStandardRefusesReadingResumesOnTheNextLine) {
  using enum TableFault;
  const auto lines = [&](const std::string& content) {
    TableReader reader(write("a.csv", content));
    Lines all;
    for (TableRow row; reader.next(row);) all.emplace_back(row.first_line, row.last_line, row.fault);
    return all;
  };
  EXPECT_EQ(lines("\"a\"b,c\nd,e\n"), (Lines{{1, 1, kTextAfterQuote}, {2, 2, kNone}}));
  EXPECT_EQ(lines("\"a,b\nc,d\n\n\"e\" f,g\nh,i"),
            (Lines{{1, 4, kTextAfterQuote}, {2, 2, kNone}, {4, 4, kTextAfterQuote}, {5, 5, kNone}}));
  EXPECT_EQ(lines("a,\"b\nc,d\ne,f"), (Lines{{1, 3, kOpenQuote}, {2, 2, kNone}, {3, 3, kNone}}));
  EXPECT_EQ(lines("\"a\nb\",c\n\"d\"\n"), (Lines{{1, 2, kNone}, {3, 3, kNone}}));
  EXPECT_EQ(lines("a\rb,c\nd\r,e\nf,g\n"), (Lines{{1, 1, kCarriageReturn}, {2, 2, kCarriageReturn}, {3, 3, kNone}}));
  EXPECT_EQ(lines("\"a\"\r\"b\"\n"), (Lines{{1, 1, kCarriageReturn}}));
}

TEST_F(TextSources, TsvHasTabsAndItsQuotesAreLetters) {
  EXPECT_EQ(rows("a.tsv", "sentence\tlabel\n\"no end\t1\na, \"b\"\t0\n"),
            (Rows{{"sentence", "label"}, {"\"no end", "1"}, {"a, \"b\"", "0"}}));
}

TEST_F(TextSources, RowsAreFoundAgainByTheirPositions) {
  std::string content = "text,label\n";
  for (int i = 0; i < 5000; ++i) content += fmt::format("\"row {}\nof many\",{}\n", i, i % 2);  // several blocks
  const std::string path = write("a.csv", content);
  TableReader reader(path);
  TableRow row;
  std::vector<std::int64_t> offsets;
  std::int64_t line = 1;
  reader.next(row);
  for (line = 2; reader.next(row); line += 2) {
    EXPECT_EQ(row.first_line, line);
    offsets.push_back(row.offset);
  }
  ASSERT_EQ(offsets.size(), 5000u);
  for (const std::size_t i : {4999u, 0u, 1234u}) {
    TableReader there(path, table_format(path), offsets[i]);
    ASSERT_TRUE(there.next(row));
    EXPECT_EQ(row.fields, (std::vector<std::string>{fmt::format("row {}\nof many", i), fmt::format("{}", i % 2)}));
  }
}

TEST_F(TextSources, AFieldWithoutEndTakesNoMoreMemoryThanATextMay) {
  TableReader reader(write("a.csv", "text,label\n\"" + std::string(3 * kMaxTextBytes, 'a')));
  TableRow row;
  reader.next(row);
  ASSERT_TRUE(reader.next(row));
  EXPECT_EQ(row.fault, TableFault::kOpenQuote);
  EXPECT_EQ(row.longest, 3 * kMaxTextBytes);
  EXPECT_EQ(row.fields[0].size(), static_cast<std::size_t>(kMaxTextBytes));
  EXPECT_FALSE(reader.next(row));
}

// --- Tables ----------------------------------------------------------------------------------------------------------

const TableColumns kColumns{.text = "text", .label = "label"};

TEST_F(TextSources, TablesOfSplitsShareTheClassesOfTrain) {
  write("train.csv", "id,label,text\n1,pos,good\n2,neg,bad\n3,pos,fine\n");
  write("Test.tsv", "text\tlabel\nso so\tneg\n");
  write("notes.md", "x");
  TextTable table(directory_.path(), list_tables(directory_.path(), kColumns, "import.source"), kColumns);
  const SourceListing& listing = table.listing();
  EXPECT_EQ(listing.class_names, (std::vector<std::string>{"neg", "pos"}));
  ASSERT_EQ(listing.splits.size(), 2u);
  EXPECT_EQ(listing.splits[0].labels, (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(listing.splits[1].labels, std::vector<std::int32_t>{0});
  EXPECT_EQ(listing.splits[0].names[2], "train.csv:4");
  EXPECT_EQ(table.read(listing.splits[0], 2), "fine");
  EXPECT_EQ(table.read(listing.splits[1], 0), "so so");
  EXPECT_EQ(table.read(listing.splits[0], 0), "good");
  EXPECT_EQ(table.read(listing.splits[0], 1), "bad");
}

TEST_F(TextSources, ClassesThatAreWholeNumbersComeInTheirOrder) {
  const std::string path = write("a.csv", "text,label\na,10\nb,9\nc,-1\n");
  EXPECT_EQ(list_tables(path, kColumns, "k").class_names, (std::vector<std::string>{"-1", "9", "10"}));
  const std::string words = write("b.csv", "text,label\na,10\nb,9\nc,x\n");
  EXPECT_EQ(list_tables(words, kColumns, "k").class_names, (std::vector<std::string>{"10", "9", "x"}));
}

TEST_F(TextSources, RowsThatCannotBeUsedAreListedAndSayWhy) {
  const std::string path = write("a.csv", "text,label\ngood,1\nbad,0\nno class,\nthree,1,2\n,1\nr\xe9sum\xe9,1\n\"" +
                                              std::string(kMaxTextBytes + 1, 'a') + "\",0\n\"no end,1\n");
  TextTable table(path, list_tables(path, kColumns, "import.source"), kColumns);
  const SourceSplit& split = table.listing().splits.front();
  ASSERT_EQ(split.size(), 8);
  const auto complaint = [&](std::int64_t i) { return message_of<Error>([&] { table.read(split, i); }); };
  EXPECT_EQ(table.read(split, 1), "bad");
  EXPECT_EQ(complaint(2), "it has no class");
  EXPECT_EQ(complaint(3), "it has 3 fields, but the first row has 2");
  EXPECT_EQ(complaint(4), "it is empty");
  EXPECT_EQ(complaint(5), "it is not UTF-8: byte 0xe9 at 1. Convert it to UTF-8");
  EXPECT_EQ(complaint(6), "it is too long: 1048577 bytes; at most 1048576 are allowed");
  EXPECT_EQ(complaint(7), "a quoted field is not closed before the end of the file (line 9)");
  EXPECT_EQ(split.labels, (std::vector<std::int32_t>{1, 0, -1, -1, 1, 1, -1, -1}));
  EXPECT_EQ(table.read(split, 0), "good");
}

TEST_F(TextSources, TablesThatCannotBeUsedAreRefusedWithTheReason) {
  const auto refusal = [&](const std::string& path) {
    return message_of<RequestError>([&] { list_tables(path, kColumns, "import.source"); });
  };
  EXPECT_EQ(refusal(write("a.csv", "review,sentiment,labels\na,1\n")),
            "'" + (directory_ / "a.csv") +
                "' has no column 'text'. Its first row names: review, sentiment, labels. Give one of these names as "
                "import.text_column; if the first row is not a row of names, insert such a row above it. If it is a "
                "table of numbers, give import.format = table");
  EXPECT_CONTAINS(refusal(write("b.csv", "text,labels\na,1\n")),
                  "has no column 'label'. Its first row names: text, labels. Give one of these names as "
                  "import.label_column, for example 'labels'");
  EXPECT_CONTAINS(refusal(write("c.csv", "")), "is empty. Its first row must name the columns");
  EXPECT_CONTAINS(refusal(write("d.csv", "text,label\n")), "has no rows except the one that names the columns");
  EXPECT_CONTAINS(refusal(write("e.csv", "text,label\na,1\nb,1\n")), "all texts are of one class, '1'");
  EXPECT_CONTAINS(refusal(write("f.csv", "text,label\na,\n")),
                  "names 2 columns: 1 of 1 rows are bad, the first: 'f.csv:2': it has no class");
  EXPECT_CONTAINS(refusal(write("g.csv", "text,label,text\na,1,b\n")), "has several columns named 'text'");
  write("s/train.csv", "text,label\na,1\nb,2\n");
  write("s/test.csv", "text,label\na,3\n");
  EXPECT_CONTAINS(refusal(directory_ / "s"), "has a class '3' that train does not have. Train has 2: 1, 2");
  write("t/test.csv", "text,label\na,3\n");
  EXPECT_CONTAINS(refusal(directory_ / "t"), "there is a table of test but none of train");
  write("u/train.csv", "text,label\na,1\n");
  write("u/train.tsv", "text\tlabel\na\t1\n");
  EXPECT_CONTAINS(refusal(directory_ / "u"), "both belong to split train");
}

TEST_F(TextSources, NamesOfClassesAreTextsOfOneLine) {
  const auto complaint = [&](const std::string& name) { return message_of<Error>([&] { check_class_name(name); }); };
  check_class_name("gute Größe, \xe6\x97\xa5");
  EXPECT_EQ(complaint("  "), "it has no class");
  EXPECT_EQ(complaint("a\nb"), "its class has a control character: byte 0x0a at 1");
  EXPECT_EQ(complaint("caf\xe9"), "its class is not UTF-8: byte 0xe9 at 3. Convert it to UTF-8");
  EXPECT_CONTAINS(complaint(std::string(kMaxClassBytes + 1, 'a')), "its class is too long: 1001 bytes");
}

TEST_F(TextSources, MoreClassesThanAShareOfTheTextsAreRefused) {
  TableColumns columns{.text = "text", .label = "label", .max_class_fraction = 0.25};
  const auto table = [&](int num_classes) {
    std::string content = "text,label\n";
    for (int i = 0; i < 48; ++i) content += fmt::format("a,{}\n", i % num_classes);
    return write("a.csv", content);
  };
  EXPECT_EQ(list_tables(table(12), columns, "k").class_names.size(), 12u);
  EXPECT_CONTAINS(message_of<RequestError>([&] { list_tables(table(13), columns, "k"); }),
                  "the column 'label' has 13 different classes in 48 texts: '0', '1', '2', .... "
                  "import.max_class_fraction = 0.25 allows 12.");
  columns.max_class_fraction = 0;
  EXPECT_EQ(list_tables(table(10), columns, "k").class_names.size(), 10u) << "however few texts";
  EXPECT_CONTAINS(message_of<RequestError>([&] { list_tables(table(11), columns, "k"); }), "allows 10");
  columns.needs_label = false;
  EXPECT_EQ(list_tables(table(11), columns, "k").class_names.size(), 11u) << "to be predicted";
}

TEST_F(TextSources, ManyClassesAreListedInLinearTime) {
  // Returns the processor time in seconds.
  const auto time_of = [&](int num_classes) {
    std::string content = "text,label\n";
    for (int i = 0; i < num_classes; ++i) content += fmt::format("a,id{}\n", i);
    const std::string path = write("a.csv", content);
    const std::clock_t start = std::clock();
    const SourceListing listing = list_tables(path, kColumns, "k");
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_EQ(listing.class_names.size(), static_cast<std::size_t>(num_classes));
    for (const int i : {0, num_classes / 2, num_classes - 1}) {
      const auto label = static_cast<std::size_t>(listing.splits[0].labels[static_cast<std::size_t>(i)]);
      EXPECT_EQ(listing.class_names[label], fmt::format("id{}", i));
    }
    return seconds;
  };
  // With 4 times the classes linear time is 4 times as long, with caches that no longer hold all some more; quadratic
  // time is 16 times as long.
  const double few = time_of(20'000);
  EXPECT_LT(time_of(80'000), 10 * few);
}

TEST_F(TextSources, OfAPredictionNeedNoClasses) {
  const TableColumns columns{.text = "text", .label = "label", .needs_label = false};
  const std::string path = write("a.csv", "text\na\nb\n");
  const SourceListing listing = list_tables(path, columns, "predict.data");
  EXPECT_TRUE(listing.class_names.empty());
  EXPECT_EQ(listing.splits.front().labels, (std::vector<std::int32_t>{-1, -1}));
  const std::string labelled = write("b.csv", "text,label\na,x\nb,\n");
  EXPECT_EQ(list_tables(labelled, columns, "predict.data").splits.front().labels, (std::vector<std::int32_t>{0, -1}));
  CarriedColumns carried;
  list_tables(write("c.csv", "id,label,text,note\n1,x,a,\"n, m\"\nbad\n2,x,b,\n"), columns, "predict.data", &carried);
  EXPECT_EQ(carried.names, (std::vector<std::string>{"id", "note"}));
  ASSERT_EQ(carried.rows.size(), 3);
  EXPECT_EQ(carried.rows[0], ",1,\"n, m\"");
  EXPECT_EQ(carried.rows[1], "") << "a bad row";
  EXPECT_EQ(carried.rows[2], ",2,");
}

TEST_F(TextSources, ATableDevIsOfVal) {
  for (const char* name : {"dev.tsv", "Dev_matched.csv", "val.csv", "VALIDATION.tsv"})
    EXPECT_EQ(split_of_table(name), std::optional<std::size_t>(1)) << name;
  for (const char* name : {"devices.csv", "developers.csv", "unsup.tsv"})
    EXPECT_EQ(split_of_table(name), std::nullopt) << name;
  EXPECT_EQ(split_called("dev"), std::nullopt) << "a folder, which may be a class";
}

// --- Folders ---------------------------------------------------------------------------------------------------------

TEST_F(TextSources, AFolderAsAclImdbIsListedWithoutItsOtherFilesAndItsUnlabelledTexts) {
  for (const char* name : {"README", "imdb.vocab", "train/urls_pos.txt", "train/labeledBow.feat", "train/pos/2_9.txt",
                           "train/pos/10_8.TXT", "train/neg/0_1.txt", "train/neg/notes.md", "train/unsup/0_0.txt",
                           "test/pos/1_10.txt", "test/neg/3_2.txt"})
    write(name, "a text");
  const SourceListing listing = list_class_folders(directory_.path(), kTextFolders);
  EXPECT_EQ(listing.class_names, (std::vector<std::string>{"neg", "pos"}));
  ASSERT_EQ(listing.splits.size(), 2u);
  const SourceSplit& train = listing.splits[0];
  ASSERT_EQ(train.size(), 3);
  EXPECT_EQ(train.names[0], "train/neg/0_1.txt");
  EXPECT_EQ(train.names[1], "train/pos/10_8.TXT");
  EXPECT_EQ(train.names[2], "train/pos/2_9.txt");
  EXPECT_EQ(train.labels, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(listing.splits[1].size(), 2);
}

TEST_F(TextSources, AFolderWithoutTextsIsRefusedInTheirWords) {
  write("a/x.md", "x");
  write("b/x.md", "x");
  EXPECT_CONTAINS(message_of<RequestError>([&] { list_class_folders(directory_.path(), kTextFolders); }),
                  "class folder '" + (directory_ / "a") + "' is empty");
  EXPECT_CONTAINS(message_of<RequestError>([&] { list_any_files(directory_.path(), kTextFolders, "predict.data"); }),
                  "it holds neither files of texts nor shards of a data set");
  fs::create_directories(directory_ / "none");
  EXPECT_CONTAINS(message_of<RequestError>([&] { list_class_folders(directory_ / "none", kTextFolders); }),
                  "it holds no folders. Expected: [SPLIT/]CLASS/TEXT.txt");
}

TEST_F(TextSources, FilesAreReadWhole) {
  write("a/1.txt", "\xef\xbb\xbfGood.\n");
  write("a/2.txt", "");
  write("a/3.txt", std::string(kMaxTextBytes + 1, 'a'));
  TextFiles files(directory_.path(), list_any_files(directory_.path(), kTextFolders, "predict.data"));
  const SourceSplit& split = files.listing().splits.front();
  const auto complaint = [&](std::int64_t i) { return message_of<Error>([&] { files.read(split, i); }); };
  EXPECT_EQ(files.read(split, 0), "Good.\n");
  EXPECT_EQ(complaint(1), "it is empty");
  EXPECT_EQ(complaint(2), "it is too long: 1048577 bytes; at most 1048576 are allowed");
  fs::remove(directory_ / "a/1.txt");
  EXPECT_CONTAINS(complaint(0), "No such file");
}

}  // namespace
}  // namespace convoy
