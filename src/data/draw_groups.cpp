/// Adds group after group to the part whose shares it brings nearest to what is wanted.
#include "data/draw_groups.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>

namespace convoy {

namespace {

constexpr int kMaxPasses = 10;      // of improving a draw
constexpr double kGain = 1e-12;     // smaller changes of a sum of squared shares are rounding
constexpr std::int32_t kRows = -1;  // means all rows, among the classes

double square(double x) {
  return x * x;
}

std::int64_t count_of(const std::unordered_map<std::int32_t, std::int64_t>& counts, std::int32_t label) {
  const auto found = counts.find(label);
  return found == counts.end() ? 0 : found->second;
}

// Returns the number of the fold that has the smallest share of what is in the group, among those that may take it.
class FoldShares {
 public:
  FoldShares(const std::vector<RowGroup>& groups, std::int64_t num_folds) : num_rows_(num_folds + 1) {
    for (const RowGroup& group : groups) {
      sizes_[kRows] += group.size;
      for (const ClassCount& c : group.classes) sizes_[c.label] += c.count;
    }
    num_empty_ = num_folds;
  }

  // Counts the group and sets its part. `num_left`: number of groups that have no fold yet, with this one.
  void deal(RowGroup& group, std::int64_t num_left) {
    std::tuple<double, std::int64_t, std::size_t> best{1e300, 0, 0};
    for (std::size_t fold = 1; fold < num_rows_.size(); ++fold)
      if (num_left > num_empty_ || num_rows_[fold] == 0)
        best = std::min(best, {overlap(group, fold), num_rows_[fold], fold});
    const std::size_t fold = std::get<2>(best);
    if (num_rows_[fold] == 0) --num_empty_;
    num_rows_[fold] += group.size;
    for (const ClassCount& c : group.classes) counts_[key(fold, c.label)] += c.count;
    group.part = static_cast<std::uint16_t>(fold);
  }

 private:
  static std::uint64_t key(std::size_t fold, std::int32_t label) {
    return std::uint64_t{fold} << 32U | static_cast<std::uint32_t>(label);
  }

  // Half of what the group adds to the fold's sum of squared shares, but for a summand that all folds have.
  double overlap(const RowGroup& group, std::size_t fold) const {
    double sum = static_cast<double>(group.size) * static_cast<double>(num_rows_[fold]) /
                 square(static_cast<double>(sizes_.at(kRows)));
    for (const ClassCount& c : group.classes)
      if (const auto found = counts_.find(key(fold, c.label)); found != counts_.end())
        sum += static_cast<double>(c.count) * static_cast<double>(found->second) /
               square(static_cast<double>(sizes_.at(c.label)));
    return sum;
  }

  std::unordered_map<std::int32_t, std::int64_t> sizes_;    // rows of each class
  std::unordered_map<std::uint64_t, std::int64_t> counts_;  // rows of each class in each fold
  std::vector<std::int64_t> num_rows_;                      // of each fold, from 1
  std::int64_t num_empty_ = 0;
};

// Without classes: each group goes to the fold with the fewest rows.
void deal_by_size(std::vector<RowGroup>& groups, std::int64_t num_folds) {
  using Fold = std::pair<std::int64_t, std::uint16_t>;  // number of its rows, its number
  std::priority_queue<Fold, std::vector<Fold>, std::greater<>> folds;
  for (std::int64_t fold = 1; fold <= num_folds; ++fold) folds.emplace(0, static_cast<std::uint16_t>(fold));
  for (RowGroup& group : groups) {
    const auto [count, fold] = folds.top();
    folds.pop();
    group.part = fold;
    folds.emplace(count + group.size, fold);
  }
}

}  // namespace

std::vector<RowGroup> list_groups(std::span<const std::uint64_t> groups, std::span<const std::int32_t> labels,
                                  std::uint64_t seed, Purpose purpose) {
  std::vector<std::pair<std::uint64_t, std::int32_t>> rows(groups.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {groups[i], labels.empty() ? -1 : labels[i]};
  std::ranges::sort(rows);
  std::vector<RowGroup> listed;
  for (const auto& [number, label] : rows) {
    if (listed.empty() || listed.back().number != number)
      listed.push_back(
          {.drawn = random_block({.seed = seed, .purpose = purpose, .item = number}, 0)[0], .number = number});
    RowGroup& group = listed.back();
    ++group.size;
    if (label < 0) continue;
    if (group.classes.empty() || group.classes.back().label != label) group.classes.push_back({label, 0});
    ++group.classes.back().count;
  }
  return listed;
}

const RowGroup& group_with(const std::vector<RowGroup>& ascending, std::uint64_t number) {
  return *std::ranges::lower_bound(ascending, number, {}, &RowGroup::number);
}

GroupDraw::GroupDraw(std::vector<RowGroup>& groups) : groups_(groups), num_left_(std::ssize(groups)) {
  for (const RowGroup& group : groups) {
    num_rows_ += group.size;
    for (const ClassCount& c : group.classes) sizes_[c.label] += c.count;
  }
  left_ = sizes_;
}

// Returns what adding the group to the part (sign 1), or taking it away (-1), adds to the sum of the squared distances
// of shares from the wanted share: of all rows, and of the rows of each class.
double GroupDraw::change(const RowGroup& group, int sign) const {
  const auto summand = [&](std::int64_t count, std::int64_t taken, std::int64_t of) {
    const double moved = sign * static_cast<double>(count), all = static_cast<double>(of);
    return moved * (moved + 2 * (static_cast<double>(taken) - fraction_ * all)) / square(all);
  };
  double sum = summand(group.size, num_taken_rows_, num_rows_);
  for (const ClassCount& c : group.classes) sum += summand(c.count, count_of(taken_, c.label), sizes_.at(c.label));
  return sum;
}

// Moves a group between part 0 and the part that is drawn.
void GroupDraw::move(RowGroup& group, std::uint16_t part) {
  const int sign = part == 0 ? -1 : 1;
  group.part = part;
  num_left_ -= sign;
  num_taken_rows_ += sign * group.size;
  for (const ClassCount& c : group.classes) {
    taken_[c.label] += sign * c.count;
    left_[c.label] -= sign * c.count;
  }
}

// Whether the group has all of a class that these rows have.
bool GroupDraw::is_last(const RowGroup& group, const Counts& rows) const {
  return std::ranges::any_of(group.classes, [&](const ClassCount& c) { return count_of(rows, c.label) == c.count; });
}

GroupDraw::Taken GroupDraw::take(double fraction, std::uint16_t part) {
  fraction_ = fraction;
  part_ = part;
  taken_.clear();
  num_taken_rows_ = 0;
  const auto may_go = [&](const RowGroup& group) { return group.part == 0 && num_left_ > 1 && !is_last(group, left_); };
  for (RowGroup& group : groups_)
    if (may_go(group) && change(group, 1) <= 0) move(group, part);
  take_missing_classes();
  improve();
  if (num_taken_rows_ == 0) {
    RowGroup* smallest = nullptr;
    for (RowGroup& group : groups_)
      if (may_go(group) && (smallest == nullptr || group.size < smallest->size)) smallest = &group;
    if (smallest != nullptr) move(*smallest, part);
  }
  return {std::ranges::count(groups_, part, &RowGroup::part), num_taken_rows_};
}

// Takes, for each class that the part has not, the group with it that brings the shares nearest.
void GroupDraw::take_missing_classes() {
  std::vector<std::pair<std::int32_t, RowGroup*>> holders;
  for (RowGroup& group : groups_)
    for (const ClassCount& c : group.classes)
      if (group.part == 0 && count_of(taken_, c.label) == 0) holders.emplace_back(c.label, &group);
  std::ranges::stable_sort(holders, {}, [](const auto& holder) { return holder.first; });
  const auto max_rows = 2 * fraction_ * static_cast<double>(num_rows_);
  for (std::size_t begin = 0, end = 0; begin < holders.size(); begin = end) {
    const std::int32_t label = holders[begin].first;
    RowGroup* best = nullptr;
    for (end = begin; end < holders.size() && holders[end].first == label; ++end) {
      RowGroup& group = *holders[end].second;
      if (group.part != 0 || is_last(group, left_)) continue;
      if (static_cast<double>(num_taken_rows_ + group.size) > max_rows) continue;
      if (best == nullptr || change(group, 1) < change(*best, 1)) best = &group;
    }
    if (best != nullptr && count_of(taken_, label) == 0) move(*best, part_);
  }
}

// Moves single groups to the other side as long as that brings the shares nearer and no side loses a class.
void GroupDraw::improve() {
  bool has_moved = !sizes_.empty();
  for (int pass = 0; pass < kMaxPasses && has_moved; ++pass) {
    has_moved = false;
    for (RowGroup& group : groups_) {
      const bool is_taken = group.part == part_;
      if ((!is_taken && group.part != 0) || is_last(group, is_taken ? taken_ : left_)) continue;
      if (is_taken ? num_taken_rows_ == group.size : num_left_ == 1) continue;
      if (change(group, is_taken ? -1 : 1) >= -kGain) continue;
      move(group, is_taken ? std::uint16_t{0} : part_);
      has_moved = true;
    }
  }
}

void deal_groups(std::vector<RowGroup>& groups, std::int64_t num_folds) {
  std::ranges::sort(groups, {}, [](const RowGroup& g) { return std::tuple(-g.size, g.drawn, g.number); });
  const bool has_classes = std::ranges::any_of(groups, [](const RowGroup& group) { return !group.classes.empty(); });
  if (!has_classes || std::ssize(groups) == num_folds) {
    deal_by_size(groups, num_folds);
  } else {
    FoldShares folds(groups, num_folds);
    std::int64_t num_left = std::ssize(groups);
    for (RowGroup& group : groups) folds.deal(group, num_left--);
  }
  std::ranges::sort(groups, {}, &RowGroup::number);
}

}  // namespace convoy
