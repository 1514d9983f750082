/// The picture of a sweep: two axes with marks, lines, and a legend.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "convoy/base/svg.h"
#include "convoy/base/wording.h"

#include "sweep/sweep_files.h"
#include "sweep/sweep_rows.h"
#include "sweep/sweep_table.h"

namespace convoy {

namespace {

constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
// Sizes in pixels.
constexpr double kHeight = 420, kLeft = 80, kPlotWidth = 450, kTop = 74, kBottom = 60;
constexpr double kPlotRight = kLeft + kPlotWidth, kLegend = kPlotRight + 44, kMargin = 12;

struct Point {
  std::size_t x = 0;                              ///< index of the factor's value
  double measured = 0, slowest = 0, fastest = 0;  ///< samples per second
  double predicted = 0;                           ///< samples per second; 0: not predicted
};

struct Line {
  std::string name;  ///< values of the other factors
  std::vector<Point> points;
};

// Returns the values of a factor in the order of the table.
std::vector<std::string> values_of(const SweepTable& table, std::size_t factor) {
  std::vector<std::string> values;
  for (const SweepRow& row : table.rows)
    if (std::find(values.begin(), values.end(), row.values[factor]) == values.end())
      values.push_back(row.values[factor]);
  return values;
}

std::size_t longest_factor(const SweepTable& table) {
  std::size_t longest = 0;
  for (std::size_t f = 0; f < table.factors.size(); ++f)
    if (values_of(table, f).size() >= values_of(table, longest).size()) longest = f;
  return longest;
}

// Returns the name of a factor with its unit.
std::string axis_name(const std::string& factor) {
  static const std::map<std::string, std::string> kUnits = {
      {"global", "samples of a step"},       {"samples_per_rank", "samples of a step per rank"},
      {"micro", "samples of a micro-batch"}, {"micro_batches", "micro-batches of a replica per step"},
      {"ranks", "number of ranks"},          {"replicas", "number of replicas"},
      {"stages", "number of stages"},        {"chunks", "runs of cells per stage"}};
  const auto unit = kUnits.find(factor);
  return unit == kUnits.end() ? factor : fmt::format("{} ({})", factor, unit->second);
}

std::string line_name(const SweepTable& table, const SweepRow& row, std::size_t x_factor) {
  std::string name;
  for (std::size_t f = 0; f < table.factors.size(); ++f)
    if (f != x_factor) name += fmt::format("{}{} {}", name.empty() ? "" : ", ", table.factors[f], row.values[f]);
  return name;
}

Point point_of(const RowResult& result, std::size_t x) {
  const auto samples = static_cast<double>(result.median.batch_global);
  const double predicted = result.median.predicted_seconds;
  return {.x = x,
          .measured = samples / result.median.step_seconds,
          .slowest = samples / result.max_step_seconds,
          .fastest = samples / result.min_step_seconds,
          .predicted = predicted > 0 ? samples / predicted : 0};
}

std::vector<Line> lines_of(const SweepTable& table, const std::vector<RowResult>& results, std::size_t x_factor) {
  const std::vector<std::string> values = values_of(table, x_factor);
  std::vector<Line> lines;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const SweepRow& row = table.rows[i];
    if (results[i].num_rounds == 0) continue;
    const std::string name = line_name(table, row, x_factor);
    auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& other) { return other.name == name; });
    if (line == lines.end()) line = lines.insert(lines.end(), Line{.name = name, .points = {}});
    const auto value = std::find(values.begin(), values.end(), row.values[x_factor]);
    line->points.push_back(point_of(results[i], static_cast<std::size_t>(value - values.begin())));
  }
  for (Line& line : lines)
    std::sort(line.points.begin(), line.points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  return lines;
}

// Returns 1, 2 or 5 times a power of ten, so that about five steps reach the top.
double round_step(double top) {
  const double power = std::pow(10.0, std::floor(std::log10(top / 5)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (top / (factor * power) <= 6) return factor * power;
  return 10 * power;
}

class Picture {
 public:
  Picture(std::size_t num_values, double top) : num_values_(num_values), step_(round_step(top)) {
    top_ = step_ * std::ceil(top / step_);
  }

  void axes(const std::vector<std::string>& values, const std::string& x_name, const std::string& y_name) {
    for (double y = 0; y <= top_ * 1.0001; y += step_) {
      rule(kLeft, y_of(y), kPlotRight, y_of(y), "#dddddd");
      text(kLeft - 8, y_of(y) + 4, plain_number(y), "end");
    }
    for (std::size_t i = 0; i < values.size(); ++i) text(x_of(i), kHeight - kBottom + 18, values[i], "middle");
    text(kLeft + kPlotWidth / 2, kHeight - 18, x_name, "middle");
    text(kMargin, kTop - 14, y_name, "start");
  }

  void line(const Line& line, const char* colour, std::size_t index) {
    std::string measured, predicted;
    for (const Point& p : line.points) {
      measured += fmt::format("{:.1f},{:.1f} ", x_of(p.x), y_of(p.measured));
      if (p.predicted > 0) predicted += fmt::format("{:.1f},{:.1f} ", x_of(p.x), y_of(p.predicted));
      rule(x_of(p.x), y_of(p.slowest), x_of(p.x), y_of(p.fastest), colour);
      svg_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", x_of(p.x), y_of(p.measured),
                          colour);
    }
    polyline(measured, colour, "");
    polyline(predicted, colour, " stroke-dasharray=\"5 4\"");
    const double y = kTop + 18 * static_cast<double>(index);
    rule(kPlotRight + 14, y, kPlotRight + 38, y, colour);
    text(kLegend, y + 4, line.name, "start");
  }

  void title(const std::string& title, const std::string& explanation) {
    text(kLeft, 20, title, "start");
    text(kLeft, 38, explanation, "start");
  }

  std::string svg() const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" "
        "fill=\"white\"/>\n{2}</svg>\n",
        width_, height_, svg_);
  }

 private:
  double x_of(std::size_t i) const {
    return kLeft + kPlotWidth * (static_cast<double>(i) + 0.5) / static_cast<double>(num_values_);
  }
  double y_of(double value) const { return kHeight - kBottom - (kHeight - kTop - kBottom) * value / top_; }

  void rule(double x1, double y1, double x2, double y2, const char* colour) {
    svg_ += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2, colour);
  }
  void polyline(const std::string& points, const char* colour, const char* dash) {
    svg_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"{}/>\n", points, colour, dash);
  }
  void text(double x, double y, const std::string& text, const std::string& anchor) {
    if (anchor == "start") width_ = std::max(width_, x + svg_text_width(text) + kMargin);
    height_ = std::max(height_, y + kMargin);
    svg_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, svg_escaped(text));
  }

  std::size_t num_values_;
  double step_, top_ = 1;
  double width_ = kPlotRight + kMargin, height_ = kHeight;  ///< large enough for the title and the names of lines
  std::string svg_;
};

}  // namespace

std::string draw_sweep(const SweepHead& head, const SweepTable& table, const std::vector<RowResult>& results) {
  const std::size_t x_factor = longest_factor(table);
  const std::vector<std::string> values = values_of(table, x_factor);
  const std::vector<Line> lines = lines_of(table, results, x_factor);
  double top = 0;
  for (const Line& line : lines)
    for (const Point& p : line.points) top = std::max({top, p.fastest, p.predicted});
  Picture picture(values.size(), top > 0 ? top : 1);
  picture.title(
      fmt::format("{}, {}: {}", head.network, head.work == SweepWork::kTrain ? "training" : "prediction", head.machine),
      fmt::format("dots: measured, median of {}; bars: from the slowest to the fastest round; dashed: predicted",
                  counted(head.num_rounds, "round")));
  picture.axes(values, axis_name(table.factors[x_factor]), head.sample + "s per second");
  for (std::size_t i = 0; i < lines.size(); ++i) picture.line(lines[i], kColours[i % kColours.size()], i);
  return picture.svg();
}

}  // namespace convoy
