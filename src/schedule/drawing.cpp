/// Writes SVG: one path per colour and row, so that a step of thousands of instructions stays a small file.
#include "convoy/schedule/drawing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "convoy/base/svg.h"
#include "convoy/base/wording.h"

namespace convoy {

namespace {

// --- Activities and their colours --------------------------------------------------------------------------------

enum class Activity { kForward, kBackward, kBackwardWeight, kUpdate, kData, kCommunication, kBubble, kStraggler };

struct Ink {
  Activity activity;
  const char* css_class;
  const char* colour;
  const char* name;
};

// The palette of Okabe & Ito; a bubble is grey because it matters least.
constexpr std::array kInks = {
    Ink{Activity::kForward, "f", "#56b4e9", "forward"},
    Ink{Activity::kBackward, "b", "#e69f00", "backward"},
    Ink{Activity::kBackwardWeight, "bw", "#0072b2", "weight gradient"},
    Ink{Activity::kUpdate, "u", "#009e73", "reduce and update"},
    Ink{Activity::kCommunication, "c", "#cc79a7", "send; wait for message"},
    Ink{Activity::kData, "d", "#f0e442", "load; wait for loader"},
    Ink{Activity::kStraggler, "s", "#d55e00", "wait for straggler"},
    Ink{Activity::kBubble, "w", "#c8ccd0", "bubble"},
};

Activity activity_of(Op op) {
  switch (op) {
    case Op::kLoad:
      return Activity::kData;
    case Op::kForward:
    case Op::kLoss:
      return Activity::kForward;
    case Op::kBackward:
    case Op::kBackwardInput:
      return Activity::kBackward;
    case Op::kBackwardWeight:
      return Activity::kBackwardWeight;
    case Op::kRecvActivation:
    case Op::kSendActivation:
    case Op::kRecvGradient:
    case Op::kSendGradient:
      return Activity::kCommunication;
    default:  // instructions of buckets, and AgreeOnUpdate
      return Activity::kUpdate;
  }
}

// The activities of waits, in the order of IdleCause.
constexpr Activity kIdle[] = {Activity::kBubble, Activity::kStraggler, Activity::kCommunication, Activity::kData};

/// A part of a row. begin and end are in pixels; top and bottom are shares of the box's height, counted from its top.
struct Piece {
  Activity activity = Activity::kBubble;
  double begin = 0, end = 0;
  double top = 0, bottom = 1;
  std::int64_t micro_batch = -1;  ///< the number to write in the box; -1: none

  double width() const { return end - begin; }
};

// --- Sizes, in pixels ----------------------------------------------------------------------------------------------

constexpr double kLeft = 86, kPlotWidth = 1090, kRight = 24, kTop = 16;
constexpr double kRowHeight = 26, kBoxHeight = 20, kLineHeight = 6;  // kLineHeight: a wait, at the foot of the row
constexpr double kTitleHeight = 26, kNoteHeight = 17, kPanelGap = 14, kAxisHeight = 44, kLegendHeight = 26;
constexpr double kSeam = 0.7;      // gap between boxes
constexpr double kMinWidth = 1.6;  // narrower pieces are merged with their neighbours into a stack
constexpr double kRunWidth = 6;    // largest width of a stack
constexpr double kMinShare = 0.1;  // kinds with a smaller share of a stack are left out
constexpr double kDigitWidth = 6.4, kDigitMargin = 3;
constexpr double kNumberWidth = 40;  // a number of the axis, with space around it
constexpr std::size_t kMaxRows = 32;

// --- Rows ----------------------------------------------------------------------------------------------------------

struct Scale {
  double first_seconds = 0, pixels_a_second = 1;

  double operator()(double seconds) const { return (seconds - first_seconds) * pixels_a_second; }
};

std::vector<Piece> pieces_of(const std::vector<Span>& rank, const std::vector<IdleSlice>& idle, const Scale& scale) {
  std::vector<Piece> pieces;
  auto slice = idle.begin();
  for (std::size_t i = 0; i < rank.size(); ++i) {
    for (; slice != idle.end() && slice->instruction_index == i; ++slice)
      pieces.push_back({.activity = kIdle[static_cast<std::size_t>(slice->cause)],
                        .begin = scale(slice->begin_seconds),
                        .end = scale(slice->end_seconds),
                        .top = 1 - kLineHeight / kBoxHeight});
    const Op op = rank[i].instruction.op;
    const Activity activity = activity_of(op);
    const bool numbered = is_backward(op) || op == Op::kForward;
    pieces.push_back({.activity = activity,
                      .begin = scale(rank[i].ready_seconds),
                      .end = scale(rank[i].end_seconds),
                      .micro_batch = numbered ? rank[i].instruction.micro_batch : -1});
  }
  return pieces;
}

/// Appends a run of narrow pieces as a stack, in which each activity is as high as its share of the run's time.
void stack(const std::vector<Piece>& run, std::vector<Piece>& merged) {
  if (run.empty()) return;
  const double begin = run.front().begin, end = run.back().end;
  std::array<double, kInks.size()> shares{};
  for (std::size_t i = 0; i < kInks.size(); ++i)
    for (const Piece& piece : run)
      if (end > begin && piece.activity == kInks[i].activity) shares[i] += piece.width() / (end - begin);
  double shown = 0;
  for (double& share : shares) shown += share < kMinShare ? share = 0 : share;
  for (std::size_t i = 0, first = merged.size(); i < kInks.size(); ++i) {
    if (shares[i] <= 0) continue;
    const double top = merged.size() == first ? 0 : merged.back().bottom;
    merged.push_back(
        {.activity = kInks[i].activity, .begin = begin, .end = end, .top = top, .bottom = top + shares[i] / shown});
  }
}

/// Merges runs of pieces that are too narrow to be seen into stacks.
std::vector<Piece> merge(const std::vector<Piece>& pieces) {
  std::vector<Piece> merged, run;
  for (const Piece& piece : pieces) {
    const bool tiny = piece.width() < kMinWidth;
    if (!tiny || (!run.empty() && piece.end - run.front().begin > kRunWidth)) stack(std::exchange(run, {}), merged);
    (tiny ? run : merged).push_back(piece);
  }
  stack(run, merged);
  return merged;
}

/// Returns the number rounded to tenths of a pixel, without a superfluous zero.
std::string number(double pixels) {
  return fmt::format("{}", std::round(pixels * 10) / 10);
}

std::string draw_row(const std::vector<Piece>& pieces, double y) {
  std::string text;
  for (const Ink& ink : kInks) {
    std::string path;
    for (const Piece& piece : pieces) {
      if (piece.activity != ink.activity) continue;
      const double width = std::max(0.5, piece.width() - kSeam);
      path += fmt::format("M{} {}h{}v{}h-{}z", number(kLeft + piece.begin), number(y + kBoxHeight * piece.top),
                          number(width), number(kBoxHeight * (piece.bottom - piece.top)), number(width));
    }
    if (!path.empty()) text += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", ink.css_class, path);
  }
  for (const Piece& piece : pieces) {
    if (piece.micro_batch < 0) continue;
    const std::string label = fmt::format("{}", piece.micro_batch);
    if (piece.width() < kDigitWidth * static_cast<double>(label.size()) + kDigitMargin) continue;
    text += fmt::format("<text class=\"n\" x=\"{}\" y=\"{}\">{}</text>\n",
                        number(kLeft + (piece.begin + piece.end - kSeam) / 2), number(y + kBoxHeight / 2 + 4), label);
  }
  return text;
}

// --- Axis, legend, frame -----------------------------------------------------------------------------------------

struct Unit {
  const char* name;
  double seconds;
};

/// Returns the largest unit of which the picture shows at least one.
Unit unit_for(double seconds) {
  for (const Unit unit : {Unit{"s", 1}, Unit{"ms", 1e-3}})
    if (seconds >= unit.seconds) return unit;
  return {"µs", 1e-6};
}

/// Returns the distance of ticks: 1, 2 or 5 times a power of ten, so that the picture has about ten ticks.
double tick_for(double length) {
  const double rough = length / 10, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1, 2, 5})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

/// Draws the ticks, and the whole length at its end.
std::string draw_axis(double seconds, double top, double bottom) {
  const Unit unit = unit_for(seconds);
  const double length = seconds / unit.seconds, tick = tick_for(length);
  std::string lines, numbers;
  const auto draw_tick = [&](double x, const std::string& text) {
    lines += fmt::format("M{} {}V{}", number(x), number(top), number(bottom));
    numbers += fmt::format("<text class=\"m\" x=\"{}\" y=\"{}\">{}</text>\n", number(x), number(bottom + 15), text);
  };
  for (std::int64_t i = 0; static_cast<double>(i) * tick / length * kPlotWidth < kPlotWidth - kNumberWidth; ++i)
    draw_tick(kLeft + static_cast<double>(i) * tick / length * kPlotWidth, plain_number(static_cast<double>(i) * tick));
  draw_tick(kLeft + kPlotWidth, plain_number(length, 3));
  return fmt::format("<path class=\"g\" d=\"{}\"/>\n{}<text class=\"m\" x=\"{}\" y=\"{}\">{}</text>\n", lines, numbers,
                     number(kLeft + kPlotWidth / 2), number(bottom + 32), "time, " + std::string(unit.name));
}

std::string draw_legend(double y) {
  constexpr double kSwatch = 14, kLetterWidth = 6.3, kGap = 22;
  std::string text;
  double x = kLeft;
  for (const Ink& ink : kInks) {
    const double height =
        ink.activity == Activity::kBubble || ink.activity == Activity::kStraggler ? kLineHeight : kSwatch;
    text += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", ink.css_class, number(x),
                        number(y + kSwatch - height), number(kSwatch), number(height));
    text += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", number(x + kSwatch + 6), number(y + 12), ink.name);
    x += kSwatch + 6 + kLetterWidth * static_cast<double>(std::string(ink.name).size()) + kGap;
  }
  return text;
}

std::string head(double height) {
  const double width = kLeft + kPlotWidth + kRight;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
      "<title>A training step, rank by rank</title>\n<style>\n"
      "text{{font:12px system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif;fill:#24292f}}\n"
      ".t{{font-weight:600;font-size:13px}}.n{{font-size:11px;text-anchor:middle;fill:#1b1f24}}\n"
      ".m{{text-anchor:middle;fill:#57606a}}.r{{text-anchor:end;fill:#57606a}}.l{{fill:#57606a}}\n"
      ".g{{stroke:#d8dee4;fill:none}}\n",
      number(width), number(height));
  for (const Ink& ink : kInks) text += fmt::format(".{}{{fill:{}}}\n", ink.css_class, ink.colour);
  return text + fmt::format("</style>\n<rect width=\"{}\" height=\"{}\" rx=\"6\" fill=\"#fff\"/>\n", number(width),
                            number(height));
}

std::size_t num_rows(const Panel& panel) {
  return std::min(panel.step.num_ranks(), kMaxRows);
}

double title_height(const Panel& panel) {
  return kTitleHeight + (panel.note.empty() ? 0 : kNoteHeight);
}

double height_of(const Panel& panel) {
  return title_height(panel) + static_cast<double>(num_rows(panel)) * kRowHeight + kPanelGap;
}

std::string draw_panel(const Panel& panel, double y, double pixels_a_second) {
  const Scale scale{.first_seconds = extent_of(panel.step).first_seconds, .pixels_a_second = pixels_a_second};
  const std::size_t hidden = panel.step.num_ranks() - num_rows(panel);
  const std::string more = hidden > 0 ? fmt::format(" ({} more ranks not drawn)", hidden) : "";
  std::string text = fmt::format("<text class=\"t\" x=\"{}\" y=\"{}\">{}</text>\n", number(kLeft), number(y + 14),
                                 svg_escaped(panel.title + more));
  if (!panel.note.empty())
    text += fmt::format("<text class=\"l\" x=\"{}\" y=\"{}\">{}</text>\n", number(kLeft), number(y + 14 + kNoteHeight),
                        svg_escaped(panel.note));
  y += title_height(panel);
  for (std::size_t rank = 0; rank < num_rows(panel); ++rank, y += kRowHeight) {
    text += fmt::format("<text class=\"r\" x=\"{}\" y=\"{}\">rank {}</text>\n", number(kLeft - 10),
                        number(y + kBoxHeight / 2 + 4), rank);
    text += draw_row(merge(pieces_of(panel.step.ranks[rank], panel.idle[rank], scale)), y);
  }
  return text;
}

}  // namespace

std::string draw(const std::vector<Panel>& panels) {
  double seconds = 1e-9, height = kTop + kLegendHeight;  // an empty step has a positive length too
  for (const Panel& panel : panels) {
    seconds = std::max(seconds, extent_of(panel.step).seconds);
    height += height_of(panel);
  }
  const double first_title = panels.empty() ? kTitleHeight : title_height(panels.front());
  std::string text = head(height + kAxisHeight) + draw_legend(kTop) +
                     draw_axis(seconds, kTop + kLegendHeight + first_title - 6, height - kPanelGap + 4);
  double y = kTop + kLegendHeight;
  for (const Panel& panel : panels) {
    text += draw_panel(panel, y, kPlotWidth / seconds);
    y += height_of(panel);
  }
  return text + "</svg>\n";
}

}  // namespace convoy
