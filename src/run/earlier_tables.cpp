/// Reads log.jsonl row by row; files keep their names in their new folder, so that watch and plot_run read it.
#include "run/earlier_tables.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"

#include "run/run_tables.h"
#include "telemetry/log_file.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

constexpr std::array kTables = {"log.csv",   "steps.csv",  "ranks.csv", "test.csv",
                                "log.jsonl", "starts.csv", "audit.log", "params.cfg"};
constexpr std::string_view kEvents = "events.out.tfevents.";

// Whether the run ended with one of these words: it has then saved its last step before.
bool ends_with_checkpoint(const std::string& how) {
  return how == "done" || how == "ended early" || how == "stopped on request";
}

// Versions up to 0.9.0 wrote no rows of kind "checkpoint".
void follow(const nlohmann::json& row, std::optional<std::int64_t>& newest) {
  if (!row.is_object() || !row.contains("step") || !row["step"].is_number_integer()) return;
  const auto text = [&](const char* name) {
    const auto found = row.find(name);
    return found != row.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const auto step = row["step"].get<std::int64_t>();
  const std::string kind = text("kind");
  if (kind == "rollback") newest = step;  // later checkpoints were removed
  if (kind == "checkpoint" || (kind == "end" && ends_with_checkpoint(text("how"))))
    newest = std::max(newest.value_or(step), step);
}

// Whether the line is of a kind that makes up almost all rows of a long run.
bool is_frequent(std::string_view line) {
  return line.starts_with(R"({"kind":"step")") || line.starts_with(R"({"kind":"rank")");
}

std::optional<std::int64_t> newest_in_log(const std::string& path) {
  const std::string log = io::read_text(path).value_or("");
  std::optional<std::int64_t> newest;
  for (const std::string_view line : whole_lines(log))
    if (!is_frequent(line)) follow(nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false), newest);
  return newest;
}

bool has_rows(const std::string& path) {
  const std::string text = io::read_text(path).value_or("");
  return std::count(text.begin(), text.end(), '\n') > 1;  // rows after the header
}

fs::path make_folder(const std::string& run_directory) {
  std::error_code error;
  for (int number = 1; !error; ++number) {
    fs::path folder = fs::path(run_directory) / fmt::format("earlier-{}", number);
    if (fs::create_directory(folder, error)) return folder;
  }
  fail("cannot create a directory for the earlier tables of {}: {}", run_directory, error.message());
}

std::vector<fs::path> files_to_keep(const std::string& run_directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(run_directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (std::ranges::find(kTables, name) != kTables.end() || name.starts_with(kEvents)) files.push_back(entry->path());
  }
  if (error) fail("cannot list '{}': {}", run_directory, error.message());
  return files;
}

}  // namespace

std::optional<RecordedCheckpoint> find_recorded_checkpoint(const std::string& run_directory, bool began_elsewhere) {
  const std::string log = run_directory + "/log.jsonl";
  if (const auto newest = newest_in_log(log)) return RecordedCheckpoint{.step = *newest, .file = log};
  const std::vector<RunStart> starts = read_starts(run_directory);
  const std::int64_t began_at = began_elsewhere && !starts.empty() ? starts.front().step : 0;
  std::int64_t resumed = began_at;
  for (const RunStart& start : starts) resumed = std::max(resumed, start.step);
  if (resumed > began_at) return RecordedCheckpoint{.step = resumed, .file = run_directory + "/starts.csv"};
  return std::nullopt;
}

std::string set_tables_aside(const std::string& run_directory, SetAside how) {
  const bool has_begun = has_rows(run_directory + "/steps.csv") || has_rows(run_directory + "/log.csv") ||
                         newest_in_log(run_directory + "/log.jsonl");
  if (!has_begun) return "";
  const fs::path folder = make_folder(run_directory);
  for (const fs::path& file : files_to_keep(run_directory)) {
    const fs::path kept = folder / file.filename();
    std::error_code error;
    if (how == SetAside::kMove)
      fs::rename(file, kept, error);
    else
      fs::copy_file(file, kept, error);
    if (error)
      fail("cannot {} '{}' to '{}': {}", how == SetAside::kMove ? "move" : "copy", file.string(), kept.string(),
           error.message());
  }
  return folder.string();
}

}  // namespace convoy
