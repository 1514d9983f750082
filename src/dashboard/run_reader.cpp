/// Reads whole lines, starting where the last reading stopped.
#include "dashboard/run_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "convoy/base/metrics.h"
#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"

namespace convoy {

namespace {

using Json = nlohmann::json;

// Returns the value of a field; `otherwise` if it is missing or has another type.
template <typename T>
T value(const Json& row, const char* name, T otherwise) {
  const auto found = row.find(name);
  if (found == row.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->get<std::string>() : otherwise;
  } else {
    return found->is_number() ? found->get<T>() : otherwise;
  }
}

double number(const Json& row, const char* name, double otherwise = 0) {
  return value(row, name, otherwise);
}

std::int64_t integer(const Json& row, const char* name) {
  return value<std::int64_t>(row, name, 0);
}

std::string text(const Json& row, const char* name) {
  return excerpt(value<std::string>(row, name, ""));
}

void add_start(const Json& row, WatchedRun& run) {
  run.has_started = true;
  run.version = text(row, "version");
  run.command = text(row, "command");
  run.machine = text(row, "machine");
  run.replicas = integer(row, "replicas");
  run.stages = integer(row, "stages");
  run.total_steps = integer(row, "total_steps");
  run.steps_per_epoch = std::max<std::int64_t>(1, integer(row, "steps_per_epoch"));
  run.batch = integer(row, "batch");
  run.metric = value<std::string>(row, "metric", "top1");
  run.first_step = run.step = integer(row, "step");
  run.start_time = number(row, "time");
  run.ended.clear();
  run.ranks.clear();  // the new start may have another grid
}

void add_step(const Json& row, WatchedRun& run) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  run.step = integer(row, "step");
  run.learning_rate = number(row, "lr");
  run.losses.push_back(number(row, "loss", nan));
  run.accuracies.push_back(number(row, "top1", nan));
  run.step_seconds.push_back(number(row, "seconds"));
  run.step_times.push_back(number(row, "time"));
}

// Drops the steps and evaluations after the rollback's step, because the run makes them again.
void add_rollback(const Json& row, WatchedRun& run) {
  const std::int64_t undone = run.step - integer(row, "step");
  for (auto* values : {&run.losses, &run.accuracies, &run.step_seconds, &run.step_times})
    values->resize(values->size() - static_cast<std::size_t>(std::clamp<std::int64_t>(undone, 0, std::ssize(*values))));
  run.step = integer(row, "step");
  for (auto& [column, values] : run.evaluated) values.erase(values.upper_bound(run.step), values.end());
}

void add_epoch(const Json& row, WatchedRun& run) {
  for (const std::string split : {"test", "val"})
    for (const auto& [column, field] : row.items()) {
      if (!column.starts_with(split + "_") || find_metric(column) == nullptr || !field.is_number()) continue;
      run.measured = split;
      run.evaluated[column][integer(row, "step")] = field.get<double>();
    }
}

void add_rank(const Json& row, WatchedRun& run) {
  run.ranks[integer(row, "rank")] = {.host = text(row, "host"),
                                     .replica = integer(row, "replica"),
                                     .stage = integer(row, "stage"),
                                     .step_seconds = number(row, "step_seconds"),
                                     .busy = number(row, "busy", -1),
                                     .bubble = number(row, "bubble", -1),
                                     .straggler = number(row, "straggler", -1),
                                     .communication = number(row, "communication", -1),
                                     .data = number(row, "data", -1),
                                     .resident_bytes = integer(row, "resident_bytes"),
                                     .device_bytes = integer(row, "device_bytes"),
                                     .gpu_utilisation = number(row, "gpu_utilisation", -1),
                                     .gpu_celsius = number(row, "gpu_celsius", -1)};
}

void add_warning(const Json& row, WatchedRun& run) {
  run.warnings.push_back({.time = number(row, "time"), .text = text(row, "text")});
  if (run.warnings.size() > WatchedRun::kMaxWarnings) run.warnings.pop_front();
}

}  // namespace

void add_row(std::string_view line, WatchedRun& run) {
  const Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!row.is_object()) return;
  static const std::map<std::string, void (*)(const Json&, WatchedRun&)> kKinds = {
      {"start", add_start},
      {"step", add_step},
      {"epoch", add_epoch},
      {"rank", add_rank},
      {"warning", add_warning},
      {"rollback", add_rollback},
      {"end", [](const Json& end, WatchedRun& ended) { ended.ended = text(end, "how"); }}};
  const auto kind = kKinds.find(text(row, "kind"));
  if (kind == kKinds.end()) return;
  kind->second(row, run);
  run.last_time = number(row, "time");
}

RunReader::RunReader(const std::string& directory) : directory_(directory) {}

bool RunReader::update() {
  const FileDescriptor file(::open((directory_ + "/log.jsonl").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  const bool is_file = file.is_open() && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
  if (!is_file) return false;                                       // reading a pipe or a device may never end
  if (status.st_ino != file_number_ || status.st_size < offset_) {  // a new file: the run was resumed
    file_number_ = status.st_ino;
    offset_ = 0;
    run_ = {};
  }
  std::string waiting;
  std::array<char, 1 << 16> block{};
  ssize_t count = 0;
  std::int64_t position = offset_;
  while ((count = pread(file.get(), block.data(), block.size(), position)) > 0) {
    position += count;
    waiting.append(block.data(), static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = waiting.find('\n', begin)) != std::string::npos; begin = end + 1)
      add_row(std::string_view(waiting).substr(begin, end - begin), run_);
    waiting.erase(0, begin);
  }
  offset_ = position - std::ssize(waiting);
  return true;
}

}  // namespace convoy
