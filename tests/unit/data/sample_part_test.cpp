/// Parts of samples: files that are joined, blocks, rows of tables in any order, and what a user's words mean.
#include "data/arrays/sample_part.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "data/arrays/element_values.h"
#include "data/arrays/row_list.h"
#include "unit/io/array_files.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::bytes_of_numbers;
using test::message_of;
using test::npy;
using Names = std::vector<std::string>;

class SamplePartTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) const {
    std::string path = directory_ / name;
    test::write_bytes(path, std::as_bytes(std::span(content)));
    return path;
  }
  /// Writes an array of int32 (first, first + 1, ...), two per sample.
  std::string write_pairs(const std::string& name, int first, int samples) const {
    std::vector<std::int32_t> numbers;
    for (int i = 0; i < 2 * samples; ++i) numbers.push_back(first + i);
    return write(name, npy({.descr = "<i4", .shape = fmt::format("({}, 2)", samples)}, bytes_of_numbers(numbers)));
  }
  std::unique_ptr<SamplePart> open(ArrayFileKind kind, const Names& paths, const Names& columns = {},
                                   std::int64_t block_bytes = 40) {
    return open_part({.files = {kind, paths}, .columns = columns}, tables_, block_bytes);
  }
  static std::int32_t first_value(SamplePart& part, std::int64_t row) {
    std::int32_t value = 0;
    std::memcpy(&value, part.values(row).data(), sizeof value);
    return value;
  }

  test::TemporaryDirectory directory_;
  OpenTables tables_;
};

TEST_F(SamplePartTest, FilesAreJoinedAndReadInBlocks) {
  const Names paths = {write_pairs("a.npy", 0, 7), write_pairs("b.npy", 14, 1), write_pairs("c.npy", 16, 20)};
  const auto part = open(ArrayFileKind::kNpy, paths);
  EXPECT_EQ(part->num_samples(), 28);
  EXPECT_EQ(part->dims(), (std::vector<std::int64_t>{2}));
  for (std::int64_t row = 0; row < 28; ++row) EXPECT_EQ(first_value(*part, row), 2 * row);
  for (const std::int64_t row : {27, 0, 7, 13, 6, 8}) EXPECT_EQ(first_value(*part, row), 2 * row);
  EXPECT_EQ(part->place(6), "a.npy:6");
  EXPECT_EQ(part->place(7), "b.npy:0");
  EXPECT_EQ(part->place(27), "c.npy:19");
  EXPECT_FALSE(part->has(28));
  EXPECT_CONTAINS(message_of<Error>([&] { part->values(28); }), "has no sample 28");
  const std::string other = write("d.npy", npy({.shape = "(1, 3)"}, std::string(12, '\0')));
  EXPECT_CONTAINS(message_of<RequestError>([&] {
                    open(ArrayFileKind::kNpy, {paths[0], other});
                  }),
                  "a.npy' holds int32 (7, 2), but '" + other + "' holds float32 (1, 3): files that are joined");
}

TEST_F(SamplePartTest, RowsOfJoinedTablesAreReadInAnyOrder) {
  std::string first = "a,b\n", second = "b,a\n";
  for (int i = 0; i < 1000; ++i) first += fmt::format("{},{}\n", i, -i);
  for (int i = 1000; i < 1700; ++i) second += fmt::format("{},{}\n", -i, i);
  const Names paths = {write("1.csv", first), write("2.csv", second)};
  const auto part = open(ArrayFileKind::kTable, paths, {"b", "a"});
  const auto is_right = [&](std::int64_t row) {
    double numbers[2];
    std::memcpy(numbers, part->values(row).data(), sizeof numbers);
    return numbers[0] == -static_cast<double>(row) && numbers[1] == static_cast<double>(row);
  };
  EXPECT_TRUE(part->has(5));
  EXPECT_TRUE(is_right(5));
  for (std::int64_t row = 0; row < 1700; ++row) EXPECT_TRUE(part->has(row) && is_right(row)) << row;
  EXPECT_FALSE(part->has(1700));
  EXPECT_EQ(part->num_samples(), 1700);
  for (const std::int64_t row : {1699, 0, 256, 255, 1000, 999, 1234, 1300}) EXPECT_TRUE(is_right(row)) << row;
  EXPECT_EQ(part->place(0), "1.csv:2");
  EXPECT_EQ(part->place(1234), "2.csv:236");
  EXPECT_EQ(part->text(3, 0), "-3");
  JoinedTable& counted = *tables_.begin()->second;
  JoinedTable other(paths);
  other.set_marks(counted.marks(), counted.num_rows());
  EXPECT_TRUE(other.go_to(1500));
  EXPECT_EQ(other.text(0), "1500");
  EXPECT_FALSE(other.go_to(1700));
  EXPECT_TRUE(other.go_to(17));
  EXPECT_EQ(other.place(), "1.csv:19");
  write("3.csv", "a,c\n1,2\n");
  EXPECT_CONTAINS(message_of<RequestError>([&] {
                    open(ArrayFileKind::kTable, {paths[0], directory_ / "3.csv"}, {"a"});
                  }),
                  "3.csv' has no column 'b'");
}

// The end of the file was read last.
TEST_F(SamplePartTest, TheLastRowOfATableIsFoundAgainAfterItsEnd) {
  JoinedTable table({write("one.csv", "a,b\n5,6\n\n")});
  table.count();
  EXPECT_EQ(table.num_rows(), 1);
  EXPECT_FALSE(table.go_to(1));
  ASSERT_TRUE(table.go_to(0));
  EXPECT_EQ(table.place(), "one.csv:2");
  EXPECT_EQ(table.text(1), "6");
}

TEST_F(SamplePartTest, NamesAreTextsOrWholeNumbers) {
  const std::string bytes("abc\0de", 6);
  const auto texts = open(ArrayFileKind::kNpy, {write("t.npy", npy({.descr = "|S2", .shape = "(3,)"}, bytes))});
  EXPECT_FALSE(texts->type());
  EXPECT_EQ(texts->text(1, 0), "c");
  EXPECT_EQ(open(ArrayFileKind::kNpy, {write_pairs("i.npy", -3, 2)})->text(0, 1), "-2");
  const auto floats = open(ArrayFileKind::kNpy, {write("f.npy", npy({.shape = "(1,)"}, std::string(4, '\0')))});
  EXPECT_CONTAINS(message_of<Error>([&] { floats->text(0, 0); }), "float32 numbers, which are no names");
}

// --- What a user's words mean ----------------------------------------------------------------------------------------

TEST_F(SamplePartTest, PartsOfInputsAreDivided) {
  const auto parts = parse_parts(" spectrum: x, all.npz:p,image: sub/y.h5:/data/y ", "import.inputs");
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].name, "spectrum");
  EXPECT_EQ(parts[0].where, "x");
  EXPECT_EQ(parts[1].name, "");
  EXPECT_EQ(parts[1].where, "all.npz:p");
  EXPECT_EQ(parts[2].name, "image");
  EXPECT_EQ(parts[2].where, "sub/y.h5:/data/y");
  EXPECT_TRUE(parse_parts("  ", "import.inputs").empty());
  EXPECT_CONTAINS(message_of<RequestError>([] { parse_parts("a: x,", "import.inputs"); }), "an input is empty");
  EXPECT_CONTAINS(message_of<RequestError>([] { parse_parts(": x", "import.inputs"); }), "no name is before the colon");
}

TEST_F(SamplePartTest, ColumnsAreFoundByNameAndByWildcards) {
  const ArrayFinder finder(write("w.csv", "id,acid 1,acid 2,sugar,a|b\nx,1,2,3,4\n"), "import.source");
  const PartLocation sugar = finder.find("sugar", "import.target");
  EXPECT_EQ(sugar.columns, (Names{"sugar"}));
  EXPECT_EQ(finder.find("acid ?|sugar", "k").columns, (Names{"acid 1", "acid 2", "sugar"}));
  EXPECT_EQ(finder.find("a|b", "k").columns, (Names{"a|b"}));
  EXPECT_EQ(finder.find("-id|-acid ?", "k").columns, (Names{"sugar", "a|b"}));
  EXPECT_EQ(finder.find("acid*|-acid 1", "k").columns, (Names{"acid 2"}));
  EXPECT_EQ(finder.find("-acid*", "k").columns, (Names{"id", "sugar", "a|b"}));
  EXPECT_CONTAINS(message_of<RequestError>([&] { finder.find("-id|-acidd 1", "k"); }), "Nearest: acid 1");
  const PartLocation taken[] = {sugar, finder.find("id", "k")};
  EXPECT_EQ(finder.find("*", "k", taken).columns, (Names{"acid 1", "acid 2", "a|b"}));
  EXPECT_EQ(finder.find_input({}, "k", taken).columns, (Names{"acid 1", "acid 2", "a|b"}));
  EXPECT_EQ(finder.find_input({.columns = {"sugar", "id"}}, "k", {}).columns, (Names{"sugar", "id"}));
  const auto refusal = [&](const std::string& where) {
    return message_of<RequestError>([&] { finder.find(where, "import.target"); });
  };
  EXPECT_CONTAINS(refusal("suger"),
                  "has no column of this name. It has: id, acid 1, acid 2, sugar, a|b. Nearest: sugar");
  EXPECT_CONTAINS(refusal("sugar|suger"), "has no column 'suger'. Nearest: sugar");
  EXPECT_CONTAINS(refusal("sugar|z*"), "has no column 'z*'");
}

TEST_F(SamplePartTest, ArraysAreFoundInArchivesAndFolders) {
  const std::string pair = npy({.shape = "(1, 2)"}, std::string(8, '\0'));
  test::write_zip(directory_ / "all.npz", {{"x.npy", pair}, {"p.npy", pair}, {"y.npy", pair}}, false);
  const ArrayFinder archive(directory_ / "all.npz", "import.source");
  const PartLocation y = archive.find("y", "import.target");
  EXPECT_EQ(y.array, "y");
  EXPECT_EQ(archive.find_input({.name = "p"}, "k", {}).array, "p");
  EXPECT_EQ(archive.find_input({.where = "all.npz:p"}, "k", {}).array, "p");
  const PartLocation others[] = {y, archive.find("p", "k")};
  EXPECT_EQ(archive.find_input({}, "k", others).array, "x");
  EXPECT_CONTAINS(message_of<RequestError>([&] { archive.find_input({}, "import.inputs", std::span(&y, 1)); }),
                  "has several arrays. Name those that the network may read, as in import.inputs = \"x: x, p: p\"");
  EXPECT_CONTAINS(message_of<RequestError>([&] { archive.find("all.npz:z", "k"); }),
                  "has no array 'z'. It has: x, p, y");

  write_pairs("data/x.npy", 0, 3);
  write_pairs("data/y.npy", 0, 3);
  write_pairs("data/parts/1.npy", 0, 3);
  write_pairs("data/parts/2.npy", 0, 3);
  const ArrayFinder folder(directory_ / "data", "import.source");
  const PartLocation target = folder.find("y.npy", "import.target");
  EXPECT_EQ(target.files.paths, (Names{directory_ / "data/y.npy"}));
  EXPECT_EQ(folder.find("parts", "k").files.paths,
            (Names{directory_ / "data/parts/1.npy", directory_ / "data/parts/2.npy"}));
  EXPECT_EQ(folder.find_input({.name = "x"}, "k", std::span(&target, 1)).files.paths,
            (Names{directory_ / "data/x.npy"}));
  EXPECT_CONTAINS(message_of<RequestError>([&] { folder.find_input({}, "import.inputs", std::span(&target, 1)); }),
                  "it holds several files: x.npy, parts. Name those that are inputs");
  EXPECT_CONTAINS(message_of<RequestError>([&] { folder.find("z.npy", "import.target"); }),
                  "import.target = z.npy: there is no such file");
  const ArrayFinder file(directory_ / "data/x.npy", "import.source");
  EXPECT_EQ(file.find("y.npy", "k").files.paths, (Names{directory_ / "data/y.npy"}));
  EXPECT_EQ(file.find(directory_ / "data/parts/1.npy", "k").files.paths, (Names{directory_ / "data/parts/1.npy"}));
  EXPECT_CONTAINS(message_of<RequestError>([&] { file.find("y.npy:y", "k"); }), "holds one array, which has no name");
}

TEST_F(SamplePartTest, OtherFilesAreNamed) {
  const auto refusal = [this](const std::string& path) {
    return message_of<RequestError>([&] { ArrayFinder(path, "import.source").find_input({}, "import.inputs", {}); });
  };
  EXPECT_CONTAINS(refusal(directory_ / "absent.npy"), "absent.npy: there is no such file or folder");
  EXPECT_CONTAINS(refusal(write("x.png", "\x89PNG\r\n\x1a\n")),
                  "is a picture. A folder of pictures is imported with the numbers of its files");
  EXPECT_CONTAINS(refusal(write("x.mat", "MATLAB 5.0 MAT-file")), "is a MATLAB file, and holds no arrays");
  write("mixed/a.csv", "a\n1\n");
  write("mixed/b.csv", "a\n1\n");
  write_pairs("mixed/c.npy", 0, 1);
  const ArrayFinder finder(directory_.path(), "import.source");
  EXPECT_CONTAINS(message_of<RequestError>([&] { finder.find("mixed", "k"); }), "holds files of several kinds");
}

// --- Loops over values -----------------------------------------------------------------------------------------------

TEST(ElementValues, RoundingTellsWhatIsLost) {
  const double values[] = {
      0.5, 0.1, 16'777'217, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
      -0.0};
  std::vector<float> rounded(7);
  LossOfPrecision loss;
  EXPECT_EQ(round_to_float32(values, rounded, loss), 3);
  EXPECT_EQ(loss.num_values, 7);
  EXPECT_EQ(loss.num_changed, 2);
  EXPECT_EQ(loss.num_whole_changed, 1);
  EXPECT_NEAR(loss.largest, 1 / 16'777'217.0, 1e-12);
  EXPECT_EQ(rounded[1], 0.1F);
  EXPECT_TRUE(std::isinf(rounded[4]) && std::isnan(rounded[5]));
}

TEST(ElementValues, ValuesThatAreNotFiniteAreFound) {
  std::vector<float> values(200, 1);
  EXPECT_EQ(find_not_finite(ElementType::kFloat32, std::as_bytes(std::span(values))), -1);
  values[130] = std::numeric_limits<float>::infinity();
  values[199] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(find_not_finite(ElementType::kFloat32, std::as_bytes(std::span(values))), 130);
  EXPECT_EQ(find_not_finite(ElementType::kFloat32, std::as_bytes(std::span(values)), 131), 199);
  const std::vector<std::uint16_t> halves = {0x7bff, 0xfc00};
  EXPECT_EQ(find_not_finite(ElementType::kFloat16, std::as_bytes(std::span(halves))), 1);
  EXPECT_EQ(find_not_finite(ElementType::kInt32, std::as_bytes(std::span(halves))), -1);
}

TEST(ElementValues, ChannelsBecomeTheLastAxis) {
  for (const std::int64_t channels : {1, 3, 70}) {
    constexpr std::int64_t kPixels = 150;
    std::vector<std::int32_t> from, to(static_cast<std::size_t>(channels * kPixels));
    for (std::int64_t i = 0; i < channels * kPixels; ++i) from.push_back(static_cast<std::int32_t>(i));
    move_channels_last(channels, 4, std::as_bytes(std::span(from)), std::as_writable_bytes(std::span(to)));
    for (std::int64_t p = 0; p < kPixels; ++p)
      for (std::int64_t c = 0; c < channels; ++c)
        ASSERT_EQ(to[static_cast<std::size_t>(p * channels + c)], c * kPixels + p);
  }
}

// --- Lists of rows ---------------------------------------------------------------------------------------------------

TEST_F(SamplePartTest, ListsOfRowsAreReadFromArraysAndTexts) {
  const std::vector<std::int64_t> wanted = {0, 3, 9};
  const std::string array =
      write("r.npy", npy({.descr = "<i8", .shape = "(3,)"}, bytes_of_numbers<std::int64_t>({9, 0, 3})));
  EXPECT_EQ(read_row_list(array, "import.val_rows", 10), wanted);
  EXPECT_EQ(read_row_list(write("r.txt", "3\n9\n\n0\n"), "import.val_rows", 10), wanted);
  EXPECT_EQ(read_row_list(write("r.txt", "3.000000000000000000e+00\n0.0\n9"), "import.val_rows", 10), wanted);
  const auto refusal = [this](const std::string& text) {
    return message_of<RequestError>([&] { read_row_list(write("r.txt", text), "import.val_rows", 10); });
  };
  EXPECT_CONTAINS(refusal("10\n"), "r.txt: 10 is no row. Allowed: 0 to 9");
  EXPECT_CONTAINS(refusal("-1\n"), "-1 is no row");
  EXPECT_CONTAINS(refusal("1.5\n"), "1.5 is no row");
  EXPECT_CONTAINS(refusal("1\n1\n"), "row 1 is there twice");
  EXPECT_CONTAINS(refusal("1\nx\n"), "line 2: 'x' is not a number");
  EXPECT_CONTAINS(refusal(""), "it has no numbers");
  EXPECT_CONTAINS(message_of<RequestError>([&] { read_row_list(directory_ / "absent", "import.val_rows", 3); }),
                  "absent");
}

}  // namespace
}  // namespace convoy
