/// Draws a run from top to bottom: its command, its progress, its curves, its ranks, its warnings.
#include "dashboard/drawing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/chrono.h>

#include "convoy/base/metrics.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"

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

constexpr double kMinSilentSeconds =
    30;  // a run that writes nothing for this time and for kSilentSteps steps may be stuck
constexpr double kSilentSteps = 10;
constexpr std::size_t kRecentSteps = 64;
constexpr int kMaxRankLines = 32, kOtherLines = 20;
constexpr int kReservedLines = 2;  // lines below the picture
constexpr const char *kBold = "1", *kRed = "31";

class Drawing {
 public:
  Drawing(const WatchedRun& run, const Scene& scene, const Style& style) : run_(run), scene_(scene), style_(style) {}

  std::string text() {
    draw_head();
    draw_progress();
    draw_curves();
    draw_ranks();
    draw_warnings();
    cut();
    return text_;
  }

 private:
  const char* ellipsis() const { return style_.unicode ? "…" : "..."; }

  // Cuts the picture to the terminal's height, because a longer one would scroll away at the top. Its last line then
  // says that there is more.
  void cut() {
    if (style_.lines == 0) return;
    std::size_t end = 0, before_last = 0;
    for (int i = kReservedLines; i < style_.lines && end < text_.size(); ++i) {
      before_last = end;
      end = text_.find('\n', end) + 1;
    }
    if (end == text_.size()) return;
    text_.resize(before_last);
    text_ += fmt::format("{} the picture has more lines than the terminal\n", ellipsis());
  }

  // Adds a line, cut to the terminal's width.
  void line(const std::string& whole, const char* colour = nullptr) {
    const std::string text = cut_to(whole, style_.columns, ellipsis());
    text_ += style_.colour && colour != nullptr ? fmt::format("\033[{}m{}\033[0m\n", colour, text) : text + '\n';
  }

  double recent_step_seconds() const {
    const std::size_t num = std::min(run_.step_seconds.size(), kRecentSteps);
    double sum = 0;
    for (std::size_t i = 0; i < num; ++i) sum += run_.step_seconds[run_.step_seconds.size() - 1 - i];
    return num == 0 ? 0 : sum / static_cast<double>(num);
  }

  void draw_head() {
    const double silence = scene_.now - run_.last_time;
    const std::string ago = human_seconds(std::max(silence, 0.0)) + " ago";
    if (!run_.ended.empty()) {
      line(fmt::format("{}: has ended: {}, {}", scene_.directory, run_.ended, ago), kBold);
    } else if (scene_.is_locked == std::optional(false)) {
      line(fmt::format("{}: is not running any more, and has not written why", scene_.directory), kRed);
      line("it was killed, or its host is down; last row written " + ago, kRed);
    } else if (silence > std::max(kMinSilentSeconds, kSilentSteps * recent_step_seconds())) {
      line(fmt::format("{}: has written nothing for {}", scene_.directory, human_seconds(silence)), kRed);
      line("it may be evaluating or saving, or a rank makes no progress (the warnings below will name it)", kRed);
    } else {
      line(fmt::format("{}: is running; last row written {}", scene_.directory, ago), kBold);
    }
    line(run_.command);
    line(fmt::format("convoy {}; {} x {}; {}", run_.version, counted(run_.stages, "stage"),
                     counted(run_.replicas, "replica"), run_.machine));
  }

  // Estimates the time left from all time between steps, which includes evaluations and checkpoints.
  std::string time_left() const {
    if (!run_.ended.empty() || run_.step_times.size() < 2) return "";
    const std::size_t first = run_.step_times.size() - std::min(run_.step_times.size(), 16 * kRecentSteps);
    const double begin = std::max(run_.step_times[first], run_.start_time);
    const auto steps = static_cast<double>(
        std::ranges::count_if(run_.step_times.begin() + static_cast<std::ptrdiff_t>(first), run_.step_times.end(),
                              [begin](double time) { return time > begin; }));
    const double seconds = run_.step_times.back() - begin;
    if (steps == 0 || seconds <= 0) return "";
    return "  " + human_seconds(static_cast<double>(run_.total_steps - run_.step) * seconds / steps) + " left";
  }

  void draw_progress() {
    line("");
    const double share =
        run_.total_steps > 0 ? static_cast<double>(run_.step) / static_cast<double>(run_.total_steps) : 0;
    const std::int64_t epoch = std::max<std::int64_t>(run_.step - 1, 0) / run_.steps_per_epoch + 1;
    const std::int64_t epochs = (run_.total_steps + run_.steps_per_epoch - 1) / run_.steps_per_epoch;
    const std::string head = fmt::format("epoch {} of {}  step {} of {} ", epoch, epochs, run_.step, run_.total_steps);
    const std::string tail = fmt::format(" {:.1f} %{}", 100 * share, time_left());
    const int width = std::clamp(style_.columns - static_cast<int>(head.size() + tail.size()) - 2, 0, 40);
    const int filled = static_cast<int>(width * std::clamp(share, 0.0, 1.0));
    line(head + (width < 4 ? "" : fmt::format("[{:=<{}}{:<{}}]", "", filled, "", width - filled)) + tail);
    if (const double seconds = recent_step_seconds(); seconds > 0)
      line(fmt::format("{:.1f} samples/s  step {} ms  learning rate {:.4g}", static_cast<double>(run_.batch) / seconds,
                       plain_number(1e3 * seconds), run_.learning_rate));
  }

  // Draws the curve of a metric's column, with the last value before it.
  void draw_curve(const std::string& column, std::size_t width, const std::vector<double>& values) {
    const Metric* const metric = find_metric(column);
    if (values.empty() || metric == nullptr) return;
    const std::string head = fmt::format("{:<{}}{:>9}  ", metric_title(column), width, metric->shown(values.back()));
    text_ += head + sparkline(values, style_.columns - static_cast<int>(head.size()), style_.unicode) + '\n';
  }

  void draw_curves() {
    line("");
    const std::string measured = run_.measured_column();
    const auto evaluated = run_.evaluated.find(measured);
    const bool is_evaluated = evaluated != run_.evaluated.end();
    const std::size_t width = std::max<std::size_t>(12, is_evaluated ? metric_title(measured).size() + 2 : 0);
    draw_curve("loss", width, run_.losses);
    const auto is_number = [](double accuracy) { return std::isfinite(accuracy); };
    if (std::ranges::any_of(run_.accuracies, is_number)) draw_curve("top1", width, run_.accuracies);
    if (!is_evaluated) return;
    std::vector<double> values;
    for (const auto& [step, value] : evaluated->second) values.push_back(value);
    draw_curve(measured, width, values);
  }

  // Returns the ranks to show: all, or those that compute longest if the terminal has too few lines.
  std::vector<std::int64_t> shown_ranks() const {
    std::vector<std::int64_t> shown;
    for (const auto& [number, rank] : run_.ranks) shown.push_back(number);
    const int free_lines = style_.lines == 0 ? kMaxRankLines : style_.lines - kOtherLines;
    const auto max = static_cast<std::size_t>(std::clamp(free_lines, 4, kMaxRankLines));
    if (shown.size() <= max) return shown;
    std::ranges::stable_sort(shown, [&](std::int64_t a, std::int64_t b) {
      const WatchedRank &first = run_.ranks.at(a), &second = run_.ranks.at(b);
      return first.busy * first.step_seconds > second.busy * second.step_seconds;
    });
    shown.resize(max);
    return shown;
  }

  static std::string share(double value) { return value < 0 ? "" : fmt::format("{:.0f} %", 100 * value); }

  // Keeps the end of a long name, because it tells hosts apart.
  static std::string shortened(const std::string& host, std::size_t width) {
    const std::string name = host.substr(0, host.find('.'));
    return name.size() <= width ? name : "~" + name.substr(name.size() - width + 1);
  }

  static std::string gpu_text(const WatchedRank& rank) {
    if (rank.gpu_utilisation < 0) return "";
    return fmt::format("{:>4.0f}%{}", rank.gpu_utilisation,
                       rank.gpu_celsius < 0 ? "" : fmt::format("{:>3.0f}C", rank.gpu_celsius));
  }

  void draw_ranks() {
    if (run_.ranks.empty()) return;
    const bool has_gpu = std::ranges::any_of(run_.ranks, [](const auto& r) { return r.second.gpu_utilisation >= 0; });
    const int host = std::clamp(style_.columns - (has_gpu ? 75 : 65), 5, 24);
    constexpr const char* kRow = "{:>4} {:<{}} {:>3} {:>3} {:>8} {:>5} {:>6} {:>6} {:>5} {:>5} {:>9}{}";
    line("");
    line(fmt::format(kRow, "rank", "host", host, "rep", "stg", "step, ms", "busy", "bubble", "stragg", "comm", "data",
                     "memory", has_gpu ? "       GPU" : ""),
         kBold);
    const std::vector<std::int64_t> shown = shown_ranks();
    for (const std::int64_t number : shown) {
      const WatchedRank& rank = run_.ranks.at(number);
      line(fmt::format(kRow, number, shortened(rank.host, static_cast<std::size_t>(host)), host, rank.replica,
                       rank.stage, plain_number(1e3 * rank.step_seconds), share(rank.busy), share(rank.bubble),
                       share(rank.straggler), share(rank.communication), share(rank.data),
                       human_bytes(rank.device_bytes > 0 ? rank.device_bytes : rank.resident_bytes),
                       gpu_text(rank).empty() ? "" : fmt::format(" {:>9}", gpu_text(rank))));
    }
    if (shown.size() < run_.ranks.size())
      line(fmt::format("... and {}, which are less busy",
                       counted(std::ssize(run_.ranks) - std::ssize(shown), "more rank")));
  }

  void draw_warnings() {
    if (run_.warnings.empty()) return;
    line("");
    line("last warnings", kBold);
    for (const Warning& warning : run_.warnings) draw_warning(warning);
  }

  // Draws the first lines of a warning. Long lines are broken at the terminal's width.
  void draw_warning(const Warning& warning) {
    const int max_lines = style_.lines > 0 && style_.lines < 40 ? 2 : 6;
    const std::tm time = fmt::localtime(static_cast<std::time_t>(warning.time));
    std::string rest = fmt::format("{:%H:%M:%S} {}", time, warning.text);
    const auto columns = static_cast<std::size_t>(style_.columns);
    for (int i = 0; i < max_lines && !rest.empty(); ++i) {
      const std::size_t newline = rest.find('\n');
      std::size_t end = std::min({newline, rest.size(), columns});
      if (end < rest.size() && end != newline) {  // break between two words if possible
        const std::size_t space = rest.rfind(' ', end);
        if (space != std::string::npos && space > columns / 2) end = space;
      }
      line(rest.substr(0, end), kRed);
      rest.erase(0, end < rest.size() && (rest[end] == '\n' || rest[end] == ' ') ? end + 1 : end);
    }
  }

  const WatchedRun& run_;
  const Scene& scene_;
  const Style& style_;
  std::string text_;
};

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

std::string draw(const WatchedRun& run, const Scene& scene, const Style& style) {
  return Drawing(run, scene, style).text();
}

}  // namespace convoy
