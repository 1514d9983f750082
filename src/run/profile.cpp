/// Computes shares of the step's time, and compares speeds with that of a large matrix product.
#include "run/profile.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/core.h>

#include "convoy/base/wording.h"

namespace convoy {

namespace {

constexpr double kMinPercent = 0.05;  // percent of the step; smaller shares are not shown

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

std::string name_of(const ProfileRow& row) {
  return row.work ? fmt::format("{}, {}", row.layer.operation, name_of(*row.work)) : row.layer.operation;
}

std::string shown_speed(double flop_a_second, const Profile& profile) {
  if (flop_a_second == 0) return "";
  std::string text = fmt::format("{:>8.0f} GFLOP/s", flop_a_second * 1e-9);
  if (profile.product_flop_a_second > 0)
    text += fmt::format("{:>5.0f} %", percent(flop_a_second, profile.product_flop_a_second));
  return text;
}

}  // namespace

std::string to_csv(const Profile& profile) {
  std::string text =
      "stage,cell,operation,name,weight_shape,x,y,work,calls,milliseconds,share_percent,gflop,gflop_per_second,"
      "percent_of_product\n";
  for (const ProfileRow& row : profile.rows) {
    const double speed = row.seconds > 0 ? row.flop / row.seconds : 0;
    const LayerInfo& layer = row.layer;
    text += fmt::format("{},{},{},{},{},{},{},{},{:g},{:.4f},{:.2f},{:.4f},{:.1f},{:.1f}\n", row.stage, row.cell,
                        layer.operation, layer.name, layer.weight_shape, row.work ? to_string(layer.x) : "",
                        row.work ? to_string(layer.y) : "", row.work ? name_of(*row.work) : "", row.calls,
                        1e3 * row.seconds, percent(row.seconds, profile.step_seconds), 1e-9 * row.flop, 1e-9 * speed,
                        percent(speed, profile.product_flop_a_second));
  }
  return text;
}

std::vector<ProfileSum> sums_of(const Profile& profile) {
  std::map<std::string, ProfileSum> by_name;
  std::map<std::string, double> flop;
  for (const ProfileRow& row : profile.rows) {
    const std::string name = name_of(row);
    by_name[name].name = name;
    by_name[name].seconds += row.seconds;
    flop[name] += row.flop;
  }
  std::vector<ProfileSum> sums;
  for (auto& [name, sum] : by_name) {
    if (sum.seconds > 0) sum.flop_a_second = flop[name] / sum.seconds;
    sum.seconds /= static_cast<double>(profile.num_stages);
    sums.push_back(sum);
  }
  std::ranges::stable_sort(sums, std::greater(), &ProfileSum::seconds);
  return sums;
}

std::string summary_of(const Profile& profile) {
  std::string text = fmt::format("profile of {}: {} ms each, of these",
                                 counted_range(profile.first_step, profile.first_step + profile.num_steps - 1, "step"),
                                 plain_number(1e3 * profile.step_seconds));
  std::vector<ProfileSum> sums = sums_of(profile);
  std::erase_if(sums, [&](const ProfileSum& sum) { return percent(sum.seconds, profile.step_seconds) < kMinPercent; });
  std::size_t width = 40;
  for (const ProfileSum& sum : sums) width = std::max(width, sum.name.size() + 1);
  for (const ProfileSum& sum : sums)
    text += fmt::format("\n  {:<{}}{:>10.2f} ms{:>6.1f} %{}", sum.name, width, 1e3 * sum.seconds,
                        percent(sum.seconds, profile.step_seconds), shown_speed(sum.flop_a_second, profile));
  if (profile.product_flop_a_second > 0)
    text += fmt::format("\n  last column: percent of the speed of a large matrix product on a rank, {:.0f} GFLOP/s",
                        1e-9 * profile.product_flop_a_second);
  return text;
}

}  // namespace convoy
