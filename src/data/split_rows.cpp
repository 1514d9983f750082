/// Draws a random number for each row or group, and takes the smallest.
#include "data/split_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <queue>
#include <tuple>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/base/wording.h"

#include "data/draw_groups.h"

namespace convoy {

namespace {

constexpr const char* kValKey = "import.val_fraction";
constexpr const char* kTestKey = "import.test_fraction";

std::uint64_t draw(std::uint64_t seed, std::uint64_t item, Purpose purpose = Purpose::kValidationSplit) {
  return random_block({.seed = seed, .purpose = purpose, .item = item}, 0)[0];
}

std::uint64_t draw_row(std::uint64_t seed, std::int64_t row, Purpose purpose = Purpose::kValidationSplit) {
  return draw(seed, hash_name(fmt::format("row {}", row)), purpose);
}

using DrawnRow = std::pair<std::uint64_t, std::int64_t>;  ///< a random number, its row

/// The rows of a class with the smallest random numbers: val takes the first, test the next.
struct ClassDraw {
  std::int64_t num_val = 0, num_test = 0;
  std::priority_queue<DrawnRow> smallest = {};  ///< the largest is on top

  std::int64_t size() const { return static_cast<std::int64_t>(smallest.size()); }
  void offer(DrawnRow row) {
    if (size() == num_val + num_test) {
      if (smallest.empty() || row > smallest.top()) return;
      smallest.pop();
    }
    smallest.push(row);
  }
};

class Division {
 public:
  Division(const RowsToSplit& rows, const RowSplitSpec& spec) : rows_(rows), spec_(spec) {
    divided_.splits.assign(static_cast<std::size_t>(rows.num_rows), RowSplit::kTrain);
  }

  DividedRows divide() {
    set(spec_.val_rows, RowSplit::kVal);
    set(spec_.test_rows, RowSplit::kTest);
    if (spec_.val_fraction > 0 || spec_.test_fraction > 0) {
      if (rows_.groups.empty())
        draw_rows();
      else
        draw_groups();
    }
    check();
    return std::move(divided_);
  }

 private:
  RowSplit& split_of(std::int64_t row) { return divided_.splits[static_cast<std::size_t>(row)]; }

  void set(const std::vector<std::int64_t>& rows, RowSplit split) {
    for (const std::int64_t row : rows) split_of(row) = split;
  }

  // Draws the share of each class, for val first.
  void draw_rows() {
    const auto num_classes = static_cast<std::size_t>(rows_.labels.empty() ? 1 : rows_.num_classes);
    const auto class_of = [this](std::int64_t row) {
      return rows_.labels.empty() ? 0 : rows_.labels[static_cast<std::size_t>(row)];
    };
    std::vector<std::int64_t> sizes(num_classes);
    for (std::int64_t row = 0; row < rows_.num_rows; ++row)
      if (is_free(row) && class_of(row) >= 0) ++sizes[static_cast<std::size_t>(class_of(row))];
    SplitCut val, test;
    std::vector<ClassDraw> classes(num_classes);
    for (std::size_t c = 0; c < num_classes; ++c) classes[c] = share_of(sizes[c], val, test);
    for (std::int64_t row = 0; row < rows_.num_rows; ++row)
      if (is_free(row) && class_of(row) >= 0)
        classes[static_cast<std::size_t>(class_of(row))].offer({draw_row(spec_.seed, row), row});
    for (ClassDraw& drawn : classes) {
      for (; drawn.size() > drawn.num_val; drawn.smallest.pop())
        split_of(drawn.smallest.top().second) = RowSplit::kTest;
      for (; !drawn.smallest.empty(); drawn.smallest.pop()) split_of(drawn.smallest.top().second) = RowSplit::kVal;
    }
    note(val.describe(kValKey, spec_.val_fraction, "val"));
    note(test.describe(kTestKey, spec_.test_fraction, "test"));
  }

  bool is_free(std::int64_t row) { return split_of(row) == RowSplit::kTrain; }

  ClassDraw share_of(std::int64_t size, SplitCut& val, SplitCut& test) const {
    ClassDraw drawn;
    if (size == 0) return drawn;
    if (spec_.val_fraction > 0) drawn.num_val = val.take(spec_.val_fraction, size, size);
    if (spec_.test_fraction > 0) drawn.num_test = test.take(spec_.test_fraction, size - drawn.num_val, size);
    return drawn;
  }

  // Takes whole groups in the order of their random numbers. Splits are the parts of the groups.
  void draw_groups() {
    std::vector<std::uint64_t> numbers;
    std::vector<std::int32_t> labels;
    for (std::int64_t row = 0; row < rows_.num_rows; ++row) {
      if (!is_free(row)) continue;
      numbers.push_back(rows_.groups[static_cast<std::size_t>(row)]);
      if (!rows_.labels.empty()) labels.push_back(rows_.labels[static_cast<std::size_t>(row)]);
    }
    std::vector<RowGroup> groups = list_groups(numbers, labels, spec_.seed, Purpose::kValidationSplit);
    std::ranges::sort(groups, {}, [](const RowGroup& group) { return std::pair(group.drawn, group.number); });
    GroupDraw draw(groups);
    const auto take = [&](double fraction, RowSplit split, const char* key) {
      if (fraction == 0) return;
      const auto [num_groups, num_rows] = draw.take(fraction, static_cast<std::uint16_t>(split));
      const auto of = std::ssize(numbers);
      note(fmt::format("{} = {}: {} of {} with {} of {} samples become split {} ({:.1f} %)", key, fraction, num_groups,
                       counted(std::ssize(groups), "group"), num_rows, of, split == RowSplit::kVal ? "val" : "test",
                       100.0 * static_cast<double>(num_rows) / static_cast<double>(of)));
    };
    take(spec_.val_fraction, RowSplit::kVal, kValKey);
    take(spec_.test_fraction, RowSplit::kTest, kTestKey);
    std::ranges::sort(groups, {}, &RowGroup::number);
    for (std::int64_t row = 0; row < rows_.num_rows; ++row)
      if (is_free(row))
        split_of(row) = static_cast<RowSplit>(group_with(groups, rows_.groups[static_cast<std::size_t>(row)]).part);
  }

  void note(std::string text) {
    if (!text.empty()) divided_.notes.push_back(std::move(text));
  }

  void check() const {
    const auto has = [this](RowSplit split) {
      return std::ranges::find(divided_.splits, split) != divided_.splits.end();
    };
    const char* const of = rows_.groups.empty() ? "no class of train has enough samples" : "there are too few groups";
    if (spec_.val_fraction > 0 && !has(RowSplit::kVal)) refuse("{} = {}: {}", kValKey, spec_.val_fraction, of);
    if (spec_.test_fraction > 0 && !has(RowSplit::kTest)) refuse("{} = {}: {}", kTestKey, spec_.test_fraction, of);
    if (!has(RowSplit::kTrain)) refuse("import.val_rows and import.test_rows leave no sample to train");
  }

  const RowsToSplit& rows_;
  const RowSplitSpec& spec_;
  DividedRows divided_;
};

void check_folds(std::int64_t num_folds, std::int64_t count, const char* what) {
  if (count >= num_folds) return;
  refuse("import.folds = {}, but split train has only {}. {}", num_folds, counted(count, what),
         count < 2 ? "Leave import.folds out" : fmt::format("Allowed: 2 to {}", count));
}

std::vector<std::uint16_t> deal_folds_of_groups(const RowsToSplit& rows, std::int64_t num_folds, std::uint64_t seed) {
  std::vector<RowGroup> groups = list_groups(rows.groups, rows.labels, seed, Purpose::kFold);
  check_folds(num_folds, std::ssize(groups), "group");
  deal_groups(groups, num_folds);
  std::vector<std::uint16_t> dealt;
  for (const std::uint64_t number : rows.groups) dealt.push_back(group_with(groups, number).part);
  return dealt;
}

}  // namespace

std::int64_t SplitCut::take(double fraction, std::int64_t count, std::int64_t of) {
  num_samples += of;
  if (count < 2) {
    ++num_single;
    return 0;
  }
  const auto wanted = std::llround(fraction * static_cast<double>(of));
  const auto taken = std::clamp<std::int64_t>(wanted, 1, count - 1);
  if (taken > wanted) ++num_raised;
  if (taken < wanted) ++num_lowered;
  num_moved += taken;
  return taken;
}

std::string SplitCut::describe(const char* key, double fraction, const char* split) const {
  if (num_raised + num_lowered + num_single == 0) return "";
  std::string text =
      fmt::format("{} = {}: {} of {} samples of train go to split {} ({:.1f} %)", key, fraction, num_moved, num_samples,
                  split, 100.0 * static_cast<double>(num_moved) / static_cast<double>(num_samples));
  const auto add = [&](const char* how_many, std::int64_t count, const char* which) {
    if (count > 0) text += fmt::format("; {} from {} class{} {}", how_many, count, count == 1 ? "" : "es", which);
  };
  add("1 sample each", num_raised, "whose share would round to 0");
  add("all samples but 1 each", num_lowered, "whose share would round to all");
  add("none", num_single, "with only 1 sample");
  return text;
}

DividedRows divide_rows(const RowsToSplit& rows, const RowSplitSpec& spec) {
  return Division(rows, spec).divide();
}

std::vector<std::uint16_t> deal_folds(const RowsToSplit& rows, std::int64_t num_folds, std::uint64_t seed) {
  if (!rows.groups.empty()) return deal_folds_of_groups(rows, num_folds, seed);
  check_folds(num_folds, rows.num_rows, "sample");
  std::vector<std::tuple<std::int32_t, std::uint64_t, std::int64_t>> order;  // class, random number, row
  for (std::int64_t row = 0; row < rows.num_rows; ++row)
    order.emplace_back(rows.labels.empty() ? 0 : rows.labels[static_cast<std::size_t>(row)],
                       draw_row(seed, row, Purpose::kFold), row);
  std::ranges::sort(order);
  std::vector<std::uint16_t> dealt(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    dealt[static_cast<std::size_t>(std::get<2>(order[i]))] =
        static_cast<std::uint16_t>(i % static_cast<std::size_t>(num_folds) + 1);
  return dealt;
}

std::vector<ClassOfOneGroup> find_classes_of_one_group(const RowsToSplit& rows) {
  std::vector<std::int64_t> firsts(static_cast<std::size_t>(rows.num_classes), -1);  // a row of each class
  std::vector<bool> is_spread(firsts.size());
  for (std::size_t row = 0; row < rows.groups.size() && !rows.labels.empty(); ++row) {
    if (rows.labels[row] < 0) continue;
    const auto label = static_cast<std::size_t>(rows.labels[row]);
    if (firsts[label] < 0) firsts[label] = static_cast<std::int64_t>(row);
    if (rows.groups[static_cast<std::size_t>(firsts[label])] != rows.groups[row]) is_spread[label] = true;
  }
  std::vector<ClassOfOneGroup> found;
  for (std::size_t label = 0; label < firsts.size(); ++label)
    if (firsts[label] >= 0 && !is_spread[label]) found.push_back({static_cast<std::int32_t>(label), firsts[label]});
  return found;
}

std::optional<std::pair<std::int64_t, std::int64_t>> find_shared_group(std::span<const std::uint64_t> groups,
                                                                       std::span<const RowSplit> splits) {
  std::vector<std::int64_t> rows(groups.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
  const auto group_of = [&](std::int64_t row) { return groups[static_cast<std::size_t>(row)]; };
  const auto split_of = [&](std::int64_t row) { return splits[static_cast<std::size_t>(row)]; };
  std::ranges::sort(rows, {}, [&](std::int64_t row) { return std::pair(group_of(row), row); });
  const auto shared = std::ranges::adjacent_find(
      rows, [&](std::int64_t a, std::int64_t b) { return group_of(a) == group_of(b) && split_of(a) != split_of(b); });
  if (shared == rows.end()) return std::nullopt;
  return std::pair(*shared, *std::next(shared));
}

}  // namespace convoy
