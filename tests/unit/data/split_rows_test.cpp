/// Rows are divided by lists or by drawn shares: class by class, whole groups at a time, and independently of rows that
/// are added.
#include "data/split_rows.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/random.h"

#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;
using Rows = std::vector<std::int64_t>;

Rows rows_of(const DividedRows& divided, RowSplit split) {
  Rows rows;
  for (std::size_t i = 0; i < divided.splits.size(); ++i)
    if (divided.splits[i] == split) rows.push_back(static_cast<std::int64_t>(i));
  return rows;
}

/// 100 rows of class 0, 40 of class 1, one of class 2 and two of none.
std::vector<std::int32_t> made_labels() {
  std::vector<std::int32_t> labels(100, 0);
  labels.insert(labels.end(), 40, 1);
  labels.insert(labels.end(), {2, -1, -1});
  return labels;
}

/// 30 groups: group g has g % 7 + 1 rows, whose order is mixed.
std::vector<std::uint64_t> made_groups() {
  std::vector<std::uint64_t> groups;
  for (std::uint64_t g = 0; g < 30; ++g) groups.insert(groups.end(), g % 7 + 1, hash_name(std::string(g + 1, 'g')));
  for (std::size_t i = groups.size() - 1; i > 0; --i) std::swap(groups[i], groups[i * 37 % (i + 1)]);
  return groups;
}

TEST(DivideRows, TakesItsShareOfEachClass) {
  const std::vector<std::int32_t> labels = made_labels();
  const RowsToSplit rows{.num_rows = 143, .num_classes = 3, .labels = labels};
  const DividedRows divided = divide_rows(rows, {.val_fraction = 0.1, .test_fraction = 0.25, .seed = 7});
  std::map<RowSplit, std::map<std::int32_t, int>> counts;
  for (std::size_t i = 0; i < labels.size(); ++i) ++counts[divided.splits[i]][labels[i]];
  EXPECT_EQ(counts[RowSplit::kVal], (std::map<std::int32_t, int>{{0, 10}, {1, 4}}));
  EXPECT_EQ(counts[RowSplit::kTest], (std::map<std::int32_t, int>{{0, 25}, {1, 10}}));
  EXPECT_EQ(counts[RowSplit::kTrain], (std::map<std::int32_t, int>{{-1, 2}, {0, 65}, {1, 26}, {2, 1}}));
  ASSERT_EQ(divided.notes.size(), 2u);
  EXPECT_EQ(
      divided.notes[0],
      "import.val_fraction = 0.1: 14 of 141 samples of train go to split val (9.9 %); none from 1 class with only "
      "1 sample");
}

TEST(DivideRows, ValIsTheSeedsAndNotTheShareOfTestsOrOfOtherClasses) {
  const std::vector<std::int32_t> labels = made_labels();
  const RowsToSplit rows{.num_rows = 143, .num_classes = 3, .labels = labels};
  const Rows val = rows_of(divide_rows(rows, {.val_fraction = 0.2, .seed = 7}), RowSplit::kVal);
  EXPECT_EQ(val.size(), 28u);
  EXPECT_EQ(val, rows_of(divide_rows(rows, {.val_fraction = 0.2, .test_fraction = 0.3, .seed = 7}), RowSplit::kVal));
  EXPECT_NE(val, rows_of(divide_rows(rows, {.val_fraction = 0.2, .seed = 8}), RowSplit::kVal));
  std::vector<std::int32_t> more = labels;
  more.insert(more.end(), 60, 1);
  const Rows other =
      rows_of(divide_rows({.num_rows = 203, .num_classes = 3, .labels = more}, {.val_fraction = 0.2, .seed = 7}),
              RowSplit::kVal);
  EXPECT_TRUE(std::equal(val.begin(), val.begin() + 20, other.begin())) << "rows of class 0";
}

TEST(DivideRows, WithoutClassesAllRowsAreAlike) {
  const DividedRows divided = divide_rows({.num_rows = 1000}, {.val_fraction = 0.1, .test_fraction = 0.2, .seed = 3});
  EXPECT_EQ(rows_of(divided, RowSplit::kVal).size(), 100u);
  EXPECT_EQ(rows_of(divided, RowSplit::kTest).size(), 200u);
  EXPECT_TRUE(divided.notes.empty());
  const Rows val = rows_of(divided, RowSplit::kVal);
  EXPECT_GT(std::ranges::count_if(val, [](std::int64_t row) { return row >= 500; }), 30) << "they are not the first";
}

TEST(DivideRows, ListsAreFollowedAndTheRestIsDrawn) {
  const RowSplitSpec spec{.val_fraction = 0.25, .test_rows = {0, 5, 9}, .seed = 1};
  const DividedRows divided = divide_rows({.num_rows = 11}, spec);
  EXPECT_EQ(rows_of(divided, RowSplit::kTest), (Rows{0, 5, 9}));
  EXPECT_EQ(rows_of(divided, RowSplit::kVal).size(), 2u);
  EXPECT_EQ(rows_of(divided, RowSplit::kTrain).size(), 6u);
}

TEST(DivideRows, AGroupIsInOneSplit) {
  const std::vector<std::uint64_t> groups = made_groups();
  const RowsToSplit rows{.num_rows = std::ssize(groups), .groups = groups};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const DividedRows divided = divide_rows(rows, {.val_fraction = 0.2, .test_fraction = 0.1, .seed = seed});
    EXPECT_EQ(find_shared_group(groups, divided.splits), std::nullopt);
    const auto wanted = 0.2 * static_cast<double>(groups.size());
    EXPECT_NEAR(static_cast<double>(rows_of(divided, RowSplit::kVal).size()), wanted, 3.5);
    EXPECT_FALSE(rows_of(divided, RowSplit::kTest).empty());
    ASSERT_EQ(divided.notes.size(), 2u);
    EXPECT_CONTAINS(divided.notes[0], "of 30 groups with ");
  }
}

TEST(DivideRows, GroupsAreDrawnByTheirNamesAndNotByTheOrderOfTheRows) {
  const std::vector<std::uint64_t> groups = made_groups();
  std::vector<std::uint64_t> reversed(groups.rbegin(), groups.rend());
  const auto val_of = [](const std::vector<std::uint64_t>& all) {
    const DividedRows divided =
        divide_rows({.num_rows = std::ssize(all), .groups = all}, {.val_fraction = 0.2, .seed = 5});
    std::set<std::uint64_t> val;
    for (const std::int64_t row : rows_of(divided, RowSplit::kVal)) val.insert(all[static_cast<std::size_t>(row)]);
    return val;
  };
  EXPECT_EQ(val_of(groups), val_of(reversed));
}

TEST(DivideRows, AGroupLargerThanItsShareIsLeftInTrain) {
  std::vector<std::uint64_t> groups(90, 1);
  for (std::uint64_t i = 0; i < 10; ++i) groups.push_back(2 + i % 2);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const DividedRows divided = divide_rows({.num_rows = 100, .groups = groups}, {.val_fraction = 0.05, .seed = seed});
    EXPECT_EQ(rows_of(divided, RowSplit::kVal).size(), 5u);
  }
}

/// 60 patients with 5 rows each; those of patient p are of class 2 if p is 7, 21 or 40, else of class 1 in a fifth of
/// the patients, else of class 0.
struct Patients {
  std::vector<std::uint64_t> groups;
  std::vector<std::int32_t> labels;

  Patients() {
    for (std::uint64_t p = 0; p < 60; ++p) {
      groups.insert(groups.end(), 5, hash_name(std::string(p + 1, 'p')));
      labels.insert(labels.end(), 5, p == 7 || p == 21 || p == 40 ? 2 : p % 5 == 0 ? 1 : 0);
    }
  }
  RowsToSplit rows() const {
    return {.num_rows = std::ssize(groups), .num_classes = 3, .labels = labels, .groups = groups};
  }
};

TEST(DivideRows, GroupsAreDrawnWithTheirSharesOfTheClasses) {
  const Patients patients;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const DividedRows divided = divide_rows(patients.rows(), {.val_fraction = 0.2, .test_fraction = 0.2, .seed = seed});
    EXPECT_EQ(find_shared_group(patients.groups, divided.splits), std::nullopt);
    std::map<RowSplit, std::map<std::int32_t, int>> counts;
    for (std::size_t i = 0; i < patients.labels.size(); ++i) ++counts[divided.splits[i]][patients.labels[i]];
    for (const RowSplit split : {RowSplit::kTrain, RowSplit::kVal, RowSplit::kTest})
      EXPECT_EQ(counts[split][2], 5) << "seed " << seed << ": each split has one of the three patients of class 2";
    for (const RowSplit split : {RowSplit::kVal, RowSplit::kTest}) {
      EXPECT_NEAR(counts[split][0], 0.2 * 230, 5) << "seed " << seed;  // nearest, but for one patient
      EXPECT_NEAR(counts[split][1], 0.2 * 55, 5) << "seed " << seed;
    }
  }
}

TEST(DivideRows, AClassOfOneGroupStaysInTrain) {
  Patients patients;
  for (std::size_t i = 0; i < patients.labels.size(); ++i)
    if (i / 5 == 21 || i / 5 == 40) patients.labels[i] = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const DividedRows divided = divide_rows(patients.rows(), {.val_fraction = 0.4, .test_fraction = 0.4, .seed = seed});
    EXPECT_EQ(divided.splits[7u * 5], RowSplit::kTrain) << "seed " << seed;
  }
  const std::vector<ClassOfOneGroup> found = find_classes_of_one_group(patients.rows());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].label, 2);
  EXPECT_EQ(found[0].row, 35);
  EXPECT_TRUE(find_classes_of_one_group(Patients().rows()).empty());
}

TEST(DivideRows, WhatCannotBeIsRefused) {
  const std::vector<std::uint64_t> groups(10, 1);
  const auto refusal = [](const RowsToSplit& rows, const RowSplitSpec& spec) {
    return message_of<RequestError>([&] { divide_rows(rows, spec); });
  };
  EXPECT_CONTAINS(refusal({.num_rows = 10, .groups = groups}, {.val_fraction = 0.5}),
                  "import.val_fraction = 0.5: there are too few groups");
  EXPECT_CONTAINS(refusal({.num_rows = 1}, {.val_fraction = 0.5}), "no class of train has enough samples");
  EXPECT_CONTAINS(refusal({.num_rows = 2}, {.val_fraction = 0.5, .test_fraction = 0.1}),
                  "import.test_fraction = 0.1: no class of train has enough samples");
  EXPECT_CONTAINS(refusal({.num_rows = 2}, {.val_rows = {0}, .test_rows = {1}}), "leave no sample to train");
}

// Returns the smallest and the largest number of rows of a fold.
template <typename IsCounted>
std::pair<std::ptrdiff_t, std::ptrdiff_t> sizes_of(const std::vector<std::uint16_t>& folds, int num_folds,
                                                   const IsCounted& is_counted) {
  std::vector<std::ptrdiff_t> sizes(static_cast<std::size_t>(num_folds));
  for (std::size_t i = 0; i < folds.size(); ++i)
    if (is_counted(i)) ++sizes.at(folds[i] - 1u);
  return {std::ranges::min(sizes), std::ranges::max(sizes)};
}

TEST(DealFolds, HaveTheSameShareOfEachClass) {
  const std::vector<std::int32_t> labels = made_labels();
  for (const int num_folds : {2, 5, 7, 143}) {
    const auto folds = deal_folds({.num_rows = 143, .labels = labels}, num_folds, 7);
    ASSERT_EQ(folds.size(), 143u);
    const auto [min, max] = sizes_of(folds, num_folds, [](std::size_t) { return true; });
    EXPECT_GE(min, 143 / num_folds);
    EXPECT_LE(max - min, 1);
    for (const std::int32_t label : {-1, 0, 1, 2}) {
      const auto [fewest, most] = sizes_of(folds, num_folds, [&](std::size_t i) { return labels[i] == label; });
      EXPECT_LE(most - fewest, 1) << num_folds << " folds, class " << label;
    }
  }
}

TEST(DealFolds, AreDrawnFromTheSeed) {
  const auto folds = deal_folds({.num_rows = 1000}, 10, 7);
  EXPECT_EQ(folds, deal_folds({.num_rows = 1000}, 10, 7));
  EXPECT_NE(folds, deal_folds({.num_rows = 1000}, 10, 8));
  // In a random order, 900 of the 999 pairs of neighbours are of two folds, with a deviation of 9.5.
  int num_changes = 0;
  for (std::size_t i = 1; i < folds.size(); ++i) num_changes += folds[i] != folds[i - 1] ? 1 : 0;
  EXPECT_NEAR(num_changes, 900, 48);
}

TEST(DealFolds, AGroupIsInOneFoldAndSizesAreNearlyEqual) {
  const std::vector<std::uint64_t> groups = made_groups();
  const std::vector<std::uint64_t> reversed(groups.rbegin(), groups.rend());
  for (const int num_folds : {2, 5, 30}) {
    const auto folds = deal_folds({.num_rows = std::ssize(groups), .groups = groups}, num_folds, 3);
    std::map<std::uint64_t, std::set<int>> folds_of_groups;
    for (std::size_t i = 0; i < groups.size(); ++i) folds_of_groups[groups[i]].insert(folds[i]);
    for (const auto& [group, its_folds] : folds_of_groups) EXPECT_EQ(its_folds.size(), 1u);
    const auto [min, max] = sizes_of(folds, num_folds, [](std::size_t) { return true; });
    EXPECT_GE(min, 1);
    if (num_folds < 30) {
      EXPECT_LE(max - min, 1) << "there are small groups, which come last";
    }
    const auto others = deal_folds({.num_rows = std::ssize(groups), .groups = reversed}, num_folds, 3);
    EXPECT_TRUE(std::equal(folds.begin(), folds.end(), others.rbegin())) << "the order of the rows does not matter";
  }
}

TEST(DealFolds, OfGroupsHaveTheSameShareOfEachClass) {
  const Patients patients;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto folds = deal_folds(patients.rows(), 3, seed);
    for (const std::int32_t label : {0, 1, 2}) {
      const auto [fewest, most] = sizes_of(folds, 3, [&](std::size_t i) { return patients.labels[i] == label; });
      EXPECT_LE(most - fewest, 5) << "seed " << seed << ", class " << label << ": they differ by one patient";
      EXPECT_GT(fewest, 0);
    }
    std::map<std::uint64_t, std::set<int>> folds_of_groups;
    for (std::size_t i = 0; i < folds.size(); ++i) folds_of_groups[patients.groups[i]].insert(folds[i]);
    for (const auto& [group, its_folds] : folds_of_groups) EXPECT_EQ(its_folds.size(), 1u);
  }
}

TEST(DealFolds, MoreFoldsThanRowsOrGroupsAreRefused) {
  const std::vector<std::uint64_t> groups = {1, 2, 3, 1, 2, 3};
  const auto refusal = [](const RowsToSplit& rows, std::int64_t num_folds) {
    return message_of<RequestError>([&] { deal_folds(rows, num_folds, 1); });
  };
  EXPECT_EQ(refusal({.num_rows = 6, .groups = groups}, 4),
            "import.folds = 4, but split train has only 3 groups. Allowed: 2 to 3");
  EXPECT_EQ(refusal({.num_rows = 6}, 7), "import.folds = 7, but split train has only 6 samples. Allowed: 2 to 6");
  EXPECT_EQ(refusal({.num_rows = 1}, 2), "import.folds = 2, but split train has only 1 sample. Leave import.folds out");
}

TEST(FindSharedGroup, NamesTwoOfItsRows) {
  using enum RowSplit;
  const std::vector<std::uint64_t> groups = {7, 3, 7, 3, 3};
  EXPECT_EQ(find_shared_group(groups, std::vector{kTrain, kVal, kTrain, kVal, kVal}), std::nullopt);
  EXPECT_EQ(find_shared_group(groups, std::vector{kTrain, kVal, kTrain, kVal, kTest}),
            (std::pair<std::int64_t, std::int64_t>(3, 4)));
}

}  // namespace
}  // namespace convoy
