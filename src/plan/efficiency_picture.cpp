/// See efficiency_picture.h.
#include "plan/efficiency_picture.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/core.h>

#include "convoy/base/svg.h"

namespace convoy {

namespace {

// Sizes in pixels.
constexpr double kLeft = 56, kTop = 44, kHeight = 240, kBarWidth = 44, kPitch = 84, kLegendWidth = 150, kBelow = 56,
                 kMargin = 12;
constexpr std::array<const char*, kStepParts.size()> kColours = {"#009e73", "#e69f00", "#56b4e9", "#0072b2",
                                                                 "#d55e00", "#cc79a7", "#f0e442"};

std::string text_at(double x, double y, const std::string& text, const char* anchor = "middle") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, text);
}

std::string rectangle(double x, double y, double width, double height, const char* colour) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y, width,
                     height, colour);
}

std::string draw_axis(double right) {
  std::string svg;
  for (int percent = 0; percent <= 100; percent += 25) {
    const double y = kTop + kHeight * (1 - percent / 100.0);
    svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#cccccc\"/>\n", kLeft, y,
                       right, y);
    svg += text_at(kLeft - 6, y + 4, fmt::format("{} %", percent), "end");
  }
  return svg;
}

// The parts are stacked from the bottom up, in the order of kStepParts.
std::string draw_bar(const LayoutComparison& comparison, double x) {
  const Prediction& best = comparison.predictions.front();
  std::string svg;
  double y = kTop + kHeight;
  for (std::size_t i = 0; i < kStepParts.size(); ++i) {
    const double height = kHeight * (best.parts.*kStepParts[i].seconds / best.step_seconds());
    y -= height;
    if (height > 0) svg += rectangle(x, y, kBarWidth, height, kColours[i]);
  }
  const double middle = x + kBarWidth / 2;
  if (const double share = efficiency(comparison); share > 0)
    svg += text_at(middle, kTop - 6, fmt::format("{:.1f} %", 100 * share));
  const Layout& layout = best.layout;
  svg += text_at(middle, kTop + kHeight + 16, fmt::format("{}", comparison.ranks));
  svg += text_at(middle, kTop + kHeight + 32, fmt::format("{} x {}", layout.grid.stages, layout.grid.replicas));
  return svg;
}

// The legend names the parts that at least one bar has.
std::string draw_legend(const std::vector<const LayoutComparison*>& shown, double x) {
  std::string svg;
  double y = kTop + kHeight - 12;
  for (std::size_t i = 0; i < kStepParts.size(); ++i) {
    bool is_there = false;
    for (const LayoutComparison* comparison : shown)
      is_there = is_there || comparison->predictions.front().parts.*kStepParts[i].seconds > 0;
    if (!is_there) continue;
    svg += rectangle(x, y, 12, 12, kColours[i]) + text_at(x + 18, y + 11, kStepParts[i].name, "start");
    y -= 20;
  }
  return svg;
}

}  // namespace

std::string draw_efficiency(const std::vector<LayoutComparison>& comparisons) {
  std::vector<const LayoutComparison*> shown;
  for (const LayoutComparison& comparison : comparisons)
    if (!comparison.predictions.empty()) shown.push_back(&comparison);
  const double right = kLeft + kPitch * static_cast<double>(shown.size());
  const std::string title = "Time of a step of the fastest layout, by what its ranks do; above each bar: efficiency";
  const double width = std::max(right + kLegendWidth, kLeft + svg_text_width(title) + kMargin),
               height = kTop + kHeight + kBelow;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  svg += text_at(kLeft, 18, title, "start");
  svg += draw_axis(right);
  for (std::size_t i = 0; i < shown.size(); ++i)
    svg += draw_bar(*shown[i], kLeft + kPitch * static_cast<double>(i) + (kPitch - kBarWidth) / 2);
  svg += draw_legend(shown, right + 12);
  svg += text_at(kLeft, height - 8, "ranks; below: stages x replicas", "start");
  return svg + "</svg>\n";
}

}  // namespace convoy
