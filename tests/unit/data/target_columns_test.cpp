/// What a target is follows from its values or from the user's word; what cannot be is refused by name.
#include "data/arrays/target_columns.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/io/array_files.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::bytes_of_numbers;
using test::message_of;
using test::npy;
using Names = std::vector<std::string>;
using Labels = std::vector<std::int32_t>;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

class TargetColumns : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) const {
    test::write_bytes(directory_ / name, std::as_bytes(std::span(content)));
  }
  /// Opens columns of a table.
  std::unique_ptr<SamplePart> table(const std::string& content, const Names& columns) {
    write("t.csv", content);
    tables_.clear();
    return open_part({.files = {ArrayFileKind::kTable, {directory_ / "t.csv"}}, .columns = columns}, tables_, 1 << 20);
  }
  std::unique_ptr<SamplePart> array(const test::NpyText& text, const std::string& values) {
    write("y.npy", npy(text, values));
    return open_part({.files = {ArrayFileKind::kNpy, {directory_ / "y.npy"}}}, tables_, 1 << 20);
  }
  /// `dims`: the extents of a target that is stored with the arrays.
  static TargetListing scan(SamplePart& part, TargetRequest request = TargetRequest::kAuto, double fraction = 0.1,
                            const std::vector<std::int64_t>& dims = {}) {
    TargetScan scan(part, request, fraction, "y", "'t.csv', column 'y'", dims);
    for (std::int64_t row = 0; scan.wants_rows() && part.has(row); ++row) scan.add(row);
    return scan.finish();
  }
  std::string refusal(SamplePart& part, TargetRequest request = TargetRequest::kAuto,
                      const std::vector<std::int64_t>& dims = {}) {
    return message_of<RequestError>([&] { scan(part, request, 0.1, dims); });
  }

  test::TemporaryDirectory directory_;
  OpenTables tables_;
};

TEST_F(TargetColumns, TextsAreClassesInTheOrderOfTheirBytes) {
  const auto part = table("y,z\nred,1\nblue,2\n,3\nred,4\nNone,5\n", {"y"});
  const TargetListing listing = scan(*part);
  EXPECT_EQ(listing.form.kind, TargetKind::kClass);
  EXPECT_EQ(listing.form.names, (Names{"None", "blue", "red"}));
  EXPECT_EQ(listing.labels, (Labels{2, 1, -1, 2, 0}));
  ASSERT_EQ(listing.notes.size(), 1u);
  EXPECT_CONTAINS(listing.notes[0], "is a class of 3 (import.target_kind = class)");
  TargetReader reader(*part, listing.form);
  EXPECT_EQ(reader.read(3).label, 2);
  EXPECT_EQ(reader.read(2).label, -1);
}

TEST_F(TargetColumns, AGuessSaysWhyAndWhatChoosesOtherwise) {
  const auto note_of = [](SamplePart& part) { return scan(part).notes.at(0); };
  EXPECT_CONTAINS(
      note_of(*table("y\n10\n9\n10\n", {"y"})),
      "is a class of 2 (import.target_kind = class); this is a guess: its values are whole numbers. If they "
      "are quantities, give import.target_kind = numbers");
  EXPECT_CONTAINS(note_of(*table("y\n1.5\n9\n10\n", {"y"})),
                  "not all whole numbers. If they are classes, give import.");
  EXPECT_CONTAINS(note_of(*table("y\na|b\nb\n", {"y"})),
                  "a | separates labels. If each text is one class, give import.");
  const auto whole = array({.descr = "<i8", .shape = "(2, 2)"}, bytes_of_numbers<std::int64_t>({1, 0, 0, 1}));
  EXPECT_CONTAINS(note_of(*whole),
                  "its values are all 0 or 1. If they are quantities, give import.target_kind = numbers");
  EXPECT_CONTAINS(note_of(*whole), "numpy.argmax(y, axis=1)");
  const auto floats = array({.descr = "<f4", .shape = "(2, 2)"}, bytes_of_numbers<float>({1, 0, 0, 1}));
  EXPECT_CONTAINS(note_of(*floats),
                  "its values are floats. If each is 0 or 1 for a label, give import.target_kind = labels");
  EXPECT_CONTAINS(note_of(*floats), "numpy.argmax(y, axis=1)");
}

TEST_F(TargetColumns, IntegersAreClassesInTheirOrder) {
  const auto in_table = table("y\n10\n9\nNA\n10\n-1\n", {"y"});
  EXPECT_EQ(scan(*in_table).form.names, (Names{"-1", "9", "10"}));
  EXPECT_EQ(scan(*in_table).labels, (Labels{2, 1, -1, 2, 0}));
  const auto in_array = array({.descr = "<i8", .shape = "(4,)"}, bytes_of_numbers<std::int64_t>({10, 9, -1, 10}));
  EXPECT_EQ(scan(*in_array).form.names, (Names{"-1", "9", "10"}));
  EXPECT_EQ(scan(*in_array).labels, (Labels{2, 1, 0, 2}));
  const auto booleans = array({.descr = "|b1", .shape = "(3, 1)"}, std::string("\1\0\1", 3));
  EXPECT_EQ(scan(*booleans).labels, (Labels{1, 0, 1}));
}

TEST_F(TargetColumns, FractionsAreNumbers) {
  const auto in_table = table("y\n1\n2.5\nNA\n", {"y"});
  const TargetListing listing = scan(*in_table);
  EXPECT_EQ(listing.form.kind, TargetKind::kNumbers);
  EXPECT_EQ(listing.form.names, (Names{"y"}));
  EXPECT_TRUE(listing.labels.empty());
  TargetReader reader(*in_table, listing.form);
  EXPECT_EQ(reader.read(1).target.front(), 2.5);
  EXPECT_TRUE(std::isnan(reader.read(2).target.front()));
  const auto floats = array({.descr = "<f8", .shape = "(2, 2)"}, bytes_of_numbers<double>({1, 0, 1, 0.1}));
  EXPECT_EQ(scan(*floats).form.names, (Names{"y_0", "y_1"}));
  TargetReader matrix(*floats, scan(*floats).form);
  EXPECT_EQ(matrix.read(1).target[1], 0.1F);
  EXPECT_EQ(matrix.loss().num_changed, 1);
}

TEST_F(TargetColumns, ManyDifferentNumbersAreNotCollected) {
  std::string content = "y\n0.5\n";
  for (int i = 0; i < 5000; ++i) content += fmt::format("{}\n", i);
  const auto part = table(content, {"y"});
  EXPECT_EQ(scan(*part).form.kind, TargetKind::kNumbers);
  EXPECT_EQ(scan(*part, TargetRequest::kClass).form.names.size(), 5001u);
}

TEST_F(TargetColumns, IntegersWithManyValuesAreRefusedUnlessTheUserSaysWhatTheyAre) {
  std::string content = "y\n";
  for (int i = 0; i < 100; ++i) content += fmt::format("{}\n", i % 50);
  const auto part = table(content, {"y"});
  const std::string message = refusal(*part);
  EXPECT_CONTAINS(message, "has 50 different values in 100 samples: '0', '1', '2', ...");
  EXPECT_CONTAINS(message, "give import.target_kind = numbers; if they are classes, import.target_kind = class");
  EXPECT_EQ(scan(*part, TargetRequest::kNumbers).form.kind, TargetKind::kNumbers);
  EXPECT_EQ(scan(*part, TargetRequest::kClass).form.names.size(), 50u);
  EXPECT_EQ(scan(*part, TargetRequest::kAuto, 1).form.names.size(), 50u);
}

TEST_F(TargetColumns, ZerosAndOnesOfSeveralColumnsAreLabels) {
  const auto part = table("a,b,c\n0,1,x\n1,1,y\nNA,0,z\n", {"b", "a"});
  const TargetListing listing = scan(*part);
  EXPECT_EQ(listing.form.kind, TargetKind::kLabels);
  EXPECT_EQ(listing.form.names, (Names{"b", "a"}));
  TargetReader reader(*part, listing.form);
  EXPECT_EQ(reader.read(0).target[0], 1);
  EXPECT_TRUE(std::isnan(reader.read(2).target[1]));
  const auto matrix = array({.descr = "|u1", .shape = "(2, 3)"}, std::string("\1\0\1\0\0\1", 6));
  EXPECT_EQ(scan(*matrix).form.kind, TargetKind::kLabels);
  EXPECT_EQ(scan(*matrix).form.names, (Names{"y_0", "y_1", "y_2"}));
  const auto others = array({.descr = "<i4", .shape = "(2, 2)"}, bytes_of_numbers<std::int32_t>({1, 0, 2, 1}));
  EXPECT_EQ(scan(*others).form.kind, TargetKind::kNumbers);
  TargetReader wrong(*others, scan(*others, TargetRequest::kLabels).form);
  EXPECT_CONTAINS(message_of<RequestError>([&] { wrong.read(1); }), "y.npy:1: label 'y_0' is 2, and not 0 or 1");
}

TEST_F(TargetColumns, ListsOfLabelsAreDivided) {
  const auto part = table("y\ncat|dog\n\ndog\n\"\"\nbird|cat\n", {"y"});
  const TargetListing listing = scan(*part);
  EXPECT_EQ(listing.form.kind, TargetKind::kLabels);
  EXPECT_TRUE(listing.form.are_lists);
  EXPECT_EQ(listing.form.names, (Names{"bird", "cat", "dog"}));
  TargetReader reader(*part, listing.form);
  const auto read = [&](std::int64_t row) {
    const auto values = reader.read(row).target;
    return std::vector<float>(values.begin(), values.end());
  };
  EXPECT_EQ(read(0), (std::vector<float>{0, 1, 1}));
  EXPECT_EQ(read(2), (std::vector<float>{0, 0, 0}));
  const auto other = table("y\ncow\n", {"y"});
  TargetReader unknown(*other, listing.form);
  EXPECT_CONTAINS(message_of<RequestError>([&] { unknown.read(0); }), "t.csv:2: the label 'cow' is none of train");
  const auto binary = table("y\n1\n0\n", {"y"});
  EXPECT_EQ(scan(*binary, TargetRequest::kLabels).form.names, (Names{"y"}));
  EXPECT_FALSE(scan(*binary, TargetRequest::kLabels).form.are_lists);
}

TEST_F(TargetColumns, BlanksAndMissingWordsAreNoLabels) {
  const auto part = table("y\nrain | wind\n wind|rain\nNA\nRain\n", {"y"});
  const TargetListing listing = scan(*part);
  EXPECT_EQ(listing.form.names, (Names{"Rain", "rain", "wind"}));
  EXPECT_CONTAINS(fmt::format("{}", fmt::join(listing.notes, "; ")),
                  "'Rain', 'rain' differ only in capitals or spaces");
  TargetReader reader(*part, listing.form);
  EXPECT_EQ(reader.read(0).target[2], 1);
  EXPECT_EQ(reader.read(1).target[1], 1);
  EXPECT_TRUE(std::isnan(reader.read(2).target[0]));
  const auto binary = table("y\n1\nNA\n0\n", {"y"});
  const TargetForm form = scan(*binary, TargetRequest::kLabels).form;
  EXPECT_EQ(form.names, (Names{"y"}));
  EXPECT_FALSE(form.are_lists);
  TargetReader one(*binary, form);
  EXPECT_TRUE(std::isnan(one.read(1).target[0]));
}

TEST_F(TargetColumns, WholeFloatsMayBeClasses) {
  const auto part = array({.descr = "<f4", .shape = "(4,)"}, bytes_of_numbers<float>({1, 0, kMissing, 1}));
  const TargetListing listing = scan(*part, TargetRequest::kClass);
  EXPECT_EQ(listing.form.names, (Names{"0", "1"}));
  EXPECT_EQ(listing.labels, (Labels{1, 0, -1, 1}));
  const auto fraction = array({.descr = "<f4", .shape = "(2,)"}, bytes_of_numbers<float>({1, 0.5}));
  EXPECT_CONTAINS(refusal(*fraction, TargetRequest::kClass), "y.npy:1: the class is 0.5, which is no whole number");
}

TEST_F(TargetColumns, WhatCannotBeIsRefusedByName) {
  const std::string two(8, '\0');
  EXPECT_CONTAINS(refusal(*array({.descr = "<f4", .shape = "(1, 2)"}, two), TargetRequest::kClass), "numpy.argmax");
  EXPECT_CONTAINS(refusal(*array({.descr = "<U1", .shape = "(2,)"}, bytes_of_numbers<std::int32_t>({'a', 'b'})),
                          TargetRequest::kNumbers),
                  "import.target_kind = numbers, but 't.csv', column 'y' holds texts");
  EXPECT_CONTAINS(
      refusal(*array({.descr = "|u1", .shape = "(1, 1025)"}, std::string(1025, '\0')), TargetRequest::kLabels, {1025}),
      "has 1025 values for each sample. Allowed: 1 to 1024, and more with import.target_kind = numbers");
  EXPECT_CONTAINS(refusal(*table("y\nred\nred\n", {"y"})), "has a single class, 'red'");
  EXPECT_CONTAINS(refusal(*table("y,z\n,1\n,2\n", {"y"})), "has no class");
  EXPECT_CONTAINS(refusal(*table("y\nred\n\"a\tb\"\n", {"y"})), "cannot be a class");
  const auto far = table("y\n1\n1e60\n", {"y"});
  TargetReader reader(*far, {.kind = TargetKind::kNumbers, .names = {"y"}});
  EXPECT_CONTAINS(message_of<RequestError>([&] { reader.read(1); }), "t.csv:3: the target is 1e+60, which is beyond");
}

TEST_F(TargetColumns, FloatsWithPixelsAreAFieldAndItsChannelsHaveNames) {
  const auto floats = array({.descr = "<f8", .shape = "(1, 2, 1, 3)"}, std::string(48, '\0'));
  const TargetListing listing = scan(*floats, TargetRequest::kAuto, 0.1, {1, 3, 2});
  EXPECT_EQ(listing.form.kind, TargetKind::kNumbers);
  EXPECT_EQ(listing.form.names, (Names{"y_0", "y_1"}));
  EXPECT_CONTAINS(refusal(*floats, TargetRequest::kAuto, {2, 1, 3, 1}),
                  "has the shape (2, 1, 3), a volume. This is not");
  const auto many = array({.shape = "(1, 131073)"}, std::string(4 * 131'073, '\0'));
  EXPECT_CONTAINS(refusal(*many, TargetRequest::kAuto, {131'073}),
                  "has 131073 values for each sample. Allowed: 1 to 131072");
  const auto bytes = array({.descr = "|u1", .shape = "(1, 2, 3)"}, std::string(6, '\0'));
  EXPECT_EQ(scan(*bytes, TargetRequest::kNumbers, 0.1, {2, 3, 1}).form.names, (Names{"y"}));
  for (const TargetRequest request : {TargetRequest::kAuto, TargetRequest::kClass, TargetRequest::kLabels})
    EXPECT_CONTAINS(
        refusal(*bytes, request, {2, 3, 1}),
        "has the shape (2, 3), a class or labels at each pixel. This is not possible yet. If the values are "
        "quantities, give import.target_kind = numbers");
}

}  // namespace
}  // namespace convoy
