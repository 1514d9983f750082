/// Draws the means of equal parts, scaled between the smallest and the largest mean.
#include "dashboard/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

namespace convoy {

namespace {

constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kSigns = {"_", ".", ",", "-", "~", "+", "*", "#"};

std::vector<double> means(std::span<const double> values, std::size_t parts) {
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite), [](double value) { return std::isfinite(value); });
  parts = std::min(parts, finite.size());
  std::vector<double> result;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = part * finite.size() / parts, end = (part + 1) * finite.size() / parts;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += finite[i];
    result.push_back(sum / static_cast<double>(end - begin));
  }
  return result;
}

}  // namespace

std::string sparkline(std::span<const double> values, int columns, bool unicode) {
  const std::vector<double> parts = means(values, static_cast<std::size_t>(std::max(columns, 0)));
  if (parts.empty()) return "";
  const auto [low, high] = std::ranges::minmax(parts);
  std::string line;
  for (const double value : parts) {
    const double height = high > low ? (value - low) / (high - low) : 0.5;
    const auto level = static_cast<std::size_t>(std::min(7.0, 8 * height));
    line += unicode ? kBlocks[level] : kSigns[level];
  }
  return line;
}

}  // namespace convoy
