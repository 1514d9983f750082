/// Bits are compared, not values: -0 is not 0, and a NaN is what its bits say.
#include "run/compare_tensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/wording.h"

namespace convoy {

namespace {

constexpr std::size_t kMaxShown = 5;

std::vector<std::int64_t> indices_of(std::int64_t index, const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> indices(dims.size());
  for (std::size_t d = dims.size(); d-- > 0; index /= dims[d]) indices[d] = index % dims[d];
  return indices;
}

// Whether the difference is larger; one that is not a number is larger than any.
bool exceeds(double difference, double largest) {
  return !(difference <= largest) && !std::isnan(largest);
}

TensorDifference compare_values(const io::NamedTensor& a, const io::NamedTensor& b) {
  TensorDifference difference{.name = a.name, .num_values = std::ssize(a.values)};
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const float x = a.values[i], y = b.values[i];
    if (std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y)) continue;
    const double distance = std::abs(double{x} - double{y});
    if (++difference.num_differing > 1 && !exceeds(distance, difference.largest)) continue;
    difference.largest = distance;
    difference.where = indices_of(static_cast<std::int64_t>(i), a.dims);
    difference.a = x;
    difference.b = y;
  }
  return difference;
}

std::string describe(const TensorDifference& difference) {
  return fmt::format("{}: {} of {} values differ, by up to {:.3g}: {:.9g} and {:.9g} at [{}]", difference.name,
                     difference.num_differing, difference.num_values, difference.largest, difference.a, difference.b,
                     fmt::join(difference.where, ", "));
}

void append_names(std::string& text, const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  const std::vector<std::string> shown(names.begin(), names.begin() + std::min(names.size(), kMaxShown));
  text += fmt::format("    {} {}: {}{}\n", names.size(), what, fmt::join(shown, ", "),
                      shown.size() < names.size() ? ", ..." : "");
}

}  // namespace

TensorsComparison compare_tensors(const std::vector<io::NamedTensor>& a, const std::vector<io::NamedTensor>& b) {
  std::map<std::string, std::pair<const io::NamedTensor*, const io::NamedTensor*>> pairs;
  for (const io::NamedTensor& tensor : a) pairs[tensor.name].first = &tensor;
  for (const io::NamedTensor& tensor : b) pairs[tensor.name].second = &tensor;
  TensorsComparison comparison;
  for (const auto& [name, pair] : pairs) {
    const auto [of_a, of_b] = pair;
    if (of_b == nullptr) {
      comparison.only_a.push_back(name);
    } else if (of_a == nullptr) {
      comparison.only_b.push_back(name);
    } else if (of_a->dims != of_b->dims) {
      comparison.different_shapes.push_back(
          fmt::format("{}: {} and {}", name, fmt::join(of_a->dims, "x"), fmt::join(of_b->dims, "x")));
    } else {
      ++comparison.num_tensors;
      TensorDifference difference = compare_values(*of_a, *of_b);
      if (difference.num_differing > 0) comparison.differences.push_back(std::move(difference));
    }
  }
  return comparison;
}

std::string describe(const TensorsComparison& comparison) {
  if (comparison.equal()) return fmt::format("equal ({})\n", counted(comparison.num_tensors, "tensor"));
  std::string text =
      fmt::format("{} of {} {}\n", comparison.differences.size(), counted(comparison.num_tensors, "tensor"),
                  comparison.differences.size() == 1 ? "differs" : "differ");
  for (std::size_t i = 0; i < std::min(comparison.differences.size(), kMaxShown); ++i)
    text += fmt::format("    {}\n", describe(comparison.differences[i]));
  if (comparison.differences.size() > kMaxShown) text += "    ...\n";
  append_names(text, "only in the first", comparison.only_a);
  append_names(text, "only in the second", comparison.only_b);
  append_names(text, "of different shapes", comparison.different_shapes);
  return text;
}

}  // namespace convoy
