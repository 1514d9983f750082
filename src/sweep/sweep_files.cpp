/// Reads and writes small JSON files, which are written whole or not at all.
#include "sweep/sweep_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/base/host_name.h"
#include "convoy/base/version.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/parse.h"

namespace convoy {

// The members of a measurement that its file always has.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RowMeasurement, stages, replicas, batch_global, batch_micro, num_samples,
                                   num_parameters, output_bytes, step_seconds, predicted_seconds, busy_of_ranks,
                                   memory_bytes_of_ranks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeShares, busy, bubble, straggler, communication, data)

namespace {

constexpr std::int64_t kMaxAttempts = 2;
constexpr const char* kResult = ".json";

using Json = nlohmann::json;

std::string encode(const RowMeasurement& m) {
  Json json;
  if (m.failure.empty()) {
    json = m;
    if (m.shares) json["shares"] = *m.shares;
  } else {
    json["failure"] = m.failure;
  }
  return json.dump(1) + "\n";
}

RowMeasurement decode(const std::string& text, const std::string& path) {
  try {
    const Json json = Json::parse(text);
    RowMeasurement m{.failure = json.value("failure", "")};
    if (!m.failure.empty()) return m;
    json.get_to(m);
    if (json.contains("shares")) m.shares = json.at("shares").get<TimeShares>();
    return m;
  } catch (const Json::exception& error) {
    fail("'{}' is not what a sweep has written: {}. Remove the file to measure its row again.", path, error.what());
  }
}

// Returns the text of all that decides the numbers. The number of rounds, the choice of a row and the directory of the
// files do not.
std::string identity_of(Parameters params, std::int64_t job_ranks) {
  if (params.sweep.ranks.empty() && params.sweep.replicas.empty()) params.sweep.ranks = {job_ranks};
  params.sweep.rounds = SweepParams().rounds;
  params.sweep.row = 0;
  params.sweep.list = false;
  params.run.directory = RunParams().directory;
  return fmt::format("# {}\n{}", version(), render(params));
}

std::string result_path(const std::string& folder, std::int64_t round) {
  return fmt::format("{}/round-{}{}", folder, round, kResult);
}

std::string marker_path(const std::string& folder, std::int64_t round) {
  return fmt::format("{}/round-{}.started", folder, round);
}

std::int64_t attempts(const std::string& folder, std::int64_t round) {
  const auto text = io::read_text(marker_path(folder, round));
  return text ? std::count(text->begin(), text->end(), '\n') : 0;
}

// Errors are ignored: a marker that remains counts as an attempt.
void remove_marker(const std::string& folder, std::int64_t round) {
  std::error_code ignored;
  std::filesystem::remove(marker_path(folder, round), ignored);
}

// Returns whether a round of the row has failed, so that other rounds need not be tried.
bool has_failed(const std::string& folder) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() != kResult) continue;
    const auto text = io::read_text(entry.path().string());
    if (text && !decode(*text, entry.path().string()).failure.empty()) return true;
  }
  return false;
}

}  // namespace

void write_shared_text(const std::string& path, const std::string& text) {
  const std::string own = fmt::format("{}.{}-{}", path, host_name(), getpid());
  io::write_text_atomically(own, text);
  std::error_code error;
  std::filesystem::rename(own, path, error);
  if (error) fail("'{}' cannot be renamed to '{}': {}", own, path, error.message());
}

std::int64_t RowMeasurement::max_memory_bytes() const {
  return memory_bytes_of_ranks.empty() ? 0 : std::ranges::max(memory_bytes_of_ranks);
}

RowResult summarise(const std::vector<RowMeasurement>& rounds) {
  RowResult result;
  std::vector<RowMeasurement> measured;
  for (const RowMeasurement& round : rounds) {
    if (round.failure.empty()) measured.push_back(round);
    if (result.failure.empty()) result.failure = round.failure;
  }
  if (measured.empty() || !result.failure.empty()) return result;
  std::sort(measured.begin(), measured.end(),
            [](const RowMeasurement& a, const RowMeasurement& b) { return a.step_seconds < b.step_seconds; });
  result.num_rounds = std::ssize(measured);
  result.min_step_seconds = measured.front().step_seconds;
  result.max_step_seconds = measured.back().step_seconds;
  const std::size_t faster = (measured.size() - 1) / 2, slower = measured.size() / 2;
  result.median = measured[faster];
  result.median.step_seconds = (measured[faster].step_seconds + measured[slower].step_seconds) / 2;
  std::vector<std::int64_t>& memory = result.median.memory_bytes_of_ranks;
  for (const RowMeasurement& round : measured)
    std::ranges::transform(memory, round.memory_bytes_of_ranks, memory.begin(),
                           [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  return result;
}

SweepFiles::SweepFiles(const std::string& directory, const Parameters& params, std::int64_t job_ranks)
    : directory_(directory) {
  io::make_directory(directory_);
  const std::string path = directory_ + "/sweep.cfg", identity = identity_of(params, job_ranks);
  const auto there = io::read_text(path);
  if (!there)
    write_shared_text(path, identity);
  else if (*there != identity)
    refuse(
        "run.directory = {} holds the rows of another sweep, whose parameters or program differ ({}). Choose another "
        "run.directory, or remove that one to measure all rows again.",
        directory_, path);
}

std::string SweepFiles::folder_of(std::int64_t row) const {
  return fmt::format("{}/rows/{:04}", directory_, row);
}

bool SweepFiles::wants(std::int64_t row, std::int64_t round) {
  const std::string folder = folder_of(row);
  std::error_code unknown;  // if this cannot be found out, writing the file will give the reason
  if (std::filesystem::exists(result_path(folder, round), unknown) || has_failed(folder)) return false;
  const std::int64_t num_attempts = attempts(folder, round);
  if (num_attempts < kMaxAttempts) return true;
  end(row, round, {.failure = fmt::format("the program ended while it measured this row, {} times", num_attempts)});
  return false;
}

void SweepFiles::begin(std::int64_t row, std::int64_t round) {
  const std::string folder = folder_of(row);
  io::make_directory(folder);
  const std::string path = marker_path(folder, round);
  io::write_text_atomically(path, io::read_text(path).value_or("") + "started\n");
}

void SweepFiles::end(std::int64_t row, std::int64_t round, const RowMeasurement& measured) {
  io::write_text_atomically(result_path(folder_of(row), round), encode(measured));
  remove_marker(folder_of(row), round);
}

void SweepFiles::abandon(std::int64_t row, std::int64_t round) {
  remove_marker(folder_of(row), round);
}

std::int64_t SweepFiles::num_results() const {
  std::error_code none;
  std::int64_t num = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ + "/rows", none))
    num += entry.path().extension() == kResult ? 1 : 0;
  return num;
}

std::vector<RowMeasurement> SweepFiles::read(std::int64_t row, std::int64_t num_rounds) const {
  std::vector<RowMeasurement> rounds;
  for (std::int64_t round = 1; round <= num_rounds; ++round) {
    const std::string path = result_path(folder_of(row), round);
    if (const auto text = io::read_text(path)) rounds.push_back(decode(*text, path));
  }
  return rounds;
}

}  // namespace convoy
