/// Tables, bar and lines.
#include "train/report.h"

#include <array>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "convoy/base/clock.h"
#include "convoy/base/text.h"
#include "convoy/io/dataset.h"
#include "convoy/params/names.h"

namespace convoy {

namespace {

constexpr double kRedrawSeconds = 0.25, kPlainLineSeconds = 30;
constexpr int kBarWidth = 28;

// mpirun gives its ranks a terminal of their own, wherever its output goes: what counts is mpirun's standard output.
bool stdout_is_terminal() {
  if (isatty(STDOUT_FILENO) == 0) return false;
  if (std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return true;
  std::array<char, PATH_MAX> target{};
  const std::string link = fmt::format("/proc/{}/fd/1", getppid());
  const ssize_t length = readlink(link.c_str(), target.data(), target.size() - 1);
  const std::string_view name(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return name.starts_with("/dev/pts/") || name.starts_with("/dev/tty");
}

std::string cell_names(const Network& network, const CellRange& cells) {
  const std::string& first = network[cells.begin]->name();
  const std::string& last = network[cells.end - 1]->name();
  return cells.size() == 1 ? first : fmt::format("{} .. {}", first, last);
}

std::string ranks_of(const GridShape& grid, std::int64_t stage) {
  constexpr std::int64_t kShown = 4;
  std::string text;
  for (std::int64_t r = 0; r < std::min(grid.replicas, kShown); ++r)
    text += fmt::format("{}{}", r == 0 ? "" : ",", r * grid.stages + stage);
  return grid.replicas > kShown ? text + ",.." : text;
}

// Forward and backward.
double gigaflop_a_sample(const Network& network, const CellRange& cells) {
  double flop = 0;
  for (std::int64_t i = cells.begin; i < cells.end; ++i)
    flop += network[i]->memory().forward_flop() + network[i]->memory().backward_flop();
  return flop / static_cast<double>(network.front()->x().n) / 1e9;
}

std::string describe_stages(const StepPlan& plan) {
  std::string text = fmt::format("  {:<6}{:<10}{:<26}{:>12}{:>16}{:>16}\n", "stage", "ranks", "cells", "parameters",
                                 "GFLOP a sample", "memory a rank");
  for (std::int64_t s = 0; s < plan.grid().stages; ++s) {
    const ArenaLayout& layout = plan.stages()[s].layout;
    std::int64_t parameters = 0;
    for (const ArenaEntry& entry : layout.entries)
      if (!entry.spec.is_statistic()) parameters += entry.spec.count();
    text += fmt::format("  {:<6}{:<10}{:<26}{:>12}{:>16.3f}{:>16}\n", s, ranks_of(plan.grid(), s),
                        cell_names(plan.network(), layout.cells), human_count(parameters),
                        gigaflop_a_sample(plan.network(), layout.cells), human_bytes(plan.memory_of(s).total()));
  }
  return text;
}

std::string counted(std::int64_t count, const std::string& one, const std::string& more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

}  // namespace

std::string describe_run(const Parameters& params, const StepPlan& plan, const io::DatasetInfo& data,
                         const std::string& device) {
  const GridShape& grid = plan.grid();
  std::string text = fmt::format("{}: {} parameters; {} training samples {}, {} classes\n", params.model.name,
                                 human_count(count_parameters(plan.network())), data.num_samples, to_string(data.image),
                                 data.class_names.size());
  text += fmt::format("grid: {} x {} = {}; {}\n", counted(grid.stages, "stage", "stages"),
                      counted(grid.replicas, "replica", "replicas"), counted(grid.ranks(), "rank", "ranks"), device);
  text += fmt::format("step: {} samples = {} of {}, {} on each replica; schedule {}\n", params.batch.global,
                      counted(plan.micro_batches_a_step(), "micro-batch", "micro-batches"), params.batch.micro,
                      plan.micro_batches_of(0).size(), name_of(params.schedule.kind));
  return text + describe_stages(plan);
}

Progress::Progress() : terminal_(stdout_is_terminal()) {
  next_seconds_ = now_seconds() + (terminal_ ? kRedrawSeconds : kPlainLineSeconds);
}

void Progress::show(const ProgressPoint& point) {
  if (now_seconds() < next_seconds_) return;
  next_seconds_ = now_seconds() + (terminal_ ? kRedrawSeconds : kPlainLineSeconds);
  const std::string numbers =
      fmt::format("step {}/{}  loss {:.4f}  {:.0f} images/s  {} left", point.step, point.num_steps, point.loss,
                  point.images_per_second, human_seconds(point.seconds_left));
  if (!terminal_) {
    fmt::print("epoch {}/{}  {}\n", point.epoch, point.num_epochs, numbers);
  } else {
    const int filled = static_cast<int>(kBarWidth * point.step / std::max<std::int64_t>(1, point.num_steps));
    fmt::print("\r\033[Kepoch {}/{} [{:=<{}}{:<{}}] {}", point.epoch, point.num_epochs, "", filled, "",
               kBarWidth - filled, numbers);
    drawn_ = true;
  }
  std::fflush(stdout);
}

void Progress::line(const std::string& text) {
  clear();
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void Progress::clear() {
  if (drawn_) fmt::print("\r\033[K");
  drawn_ = false;
}

std::string describe_epoch(const EpochRow& row, std::int64_t num_epochs, double seconds_left) {
  return fmt::format(
      "epoch {}/{}  loss {:.4f}  top-1 {:.2f} %  test loss {:.4f}  test top-1 {:.2f} %  {:.0f} images/s  data wait "
      "{:.1f} %  {} left",
      row.epoch, num_epochs, row.train.mean_loss(), 100 * row.train.top1(), row.test.mean_loss(), 100 * row.test.top1(),
      row.images_per_second, row.data_wait_percent, human_seconds(seconds_left));
}

}  // namespace convoy
