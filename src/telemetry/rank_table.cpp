/// One list of columns for both forms of a row.
#include "telemetry/rank_table.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"

namespace convoy {

namespace {

constexpr std::string_view kHeader =
    "step,time,rank,host,replica,stage,steps,step_seconds,busy,bubble,straggler,communication,data,resident_bytes,"
    "device_bytes";
constexpr std::string_view kSensorColumns = ",gpu_utilisation,gpu_clock_mhz,gpu_celsius,gpu_watts,gpu_ecc_errors";

std::string header(bool has_sensors) {
  return std::string(kHeader) + std::string(has_sensors ? kSensorColumns : "");
}

std::string share_field(const std::optional<TimeShares>& shares, double TimeShares::*share) {
  return shares ? fmt::format(",{:.4f}", (*shares).*share) : ",";
}

std::string known(double value) {
  return std::isnan(value) ? "," : fmt::format(",{:.6g}", value);
}

std::string line_of(const RankRow& row, bool has_sensors) {
  const RankSample& sample = row.sample;
  std::string line = fmt::format("{},{:.3f},{},{},{},{},{},{:.6g}", sample.step, row.time, row.rank,
                                 csv_field(row.host), row.replica, row.stage, sample.num_steps, sample.step_seconds());
  for (double TimeShares::*share :
       {&TimeShares::busy, &TimeShares::bubble, &TimeShares::straggler, &TimeShares::communication, &TimeShares::data})
    line += share_field(row.shares, share);
  line += fmt::format(",{},{}", sample.resident_bytes, sample.device_bytes);
  if (has_sensors)
    for (const double value : {sample.gpu.utilisation_percent, sample.gpu.clock_mhz, sample.gpu.temperature_celsius,
                               sample.gpu.power_watts, sample.gpu.ecc_errors})
      line += known(value);
  return line + '\n';
}

[[noreturn]] void fail_to_write(const std::string& path) {
  fail("cannot write {}: {}. Make room or choose another run.directory", path, std::strerror(errno));
}

}  // namespace

std::string keep_rank_rows(std::string_view text, bool has_sensors, std::int64_t last_step) {
  const std::string wanted = header(has_sensors);
  std::string kept = wanted + '\n';
  const std::size_t header_end = std::min(text.find('\n'), text.size());
  const std::string_view found = text.substr(0, header_end);
  if (!std::string_view(wanted).starts_with(found)) return kept;  // a table of something else
  const std::string missing(static_cast<std::size_t>(std::ranges::count(wanted, ',') - std::ranges::count(found, ',')),
                            ',');
  text.remove_prefix(std::min(header_end + 1, text.size()));
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    const std::string_view line = text.substr(0, end);
    std::int64_t step = 0;
    if (std::from_chars(line.begin(), line.end(), step).ec == std::errc() && step <= last_step)
      kept += std::string(line) + missing + '\n';
  }
  return kept;
}

RankTable::RankTable(const std::string& path, bool has_sensors, std::int64_t last_step) : path_(path) {
  const std::string text = io::read_text(path).value_or("");
  has_sensors_ = has_sensors || text.starts_with(header(true) + '\n');
  io::check_replaceable(path);
  io::write_text_atomically(path, keep_rank_rows(text, has_sensors_, last_step));
  file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file_.is_open()) fail_to_write(path_);
}

void RankTable::add(const std::vector<RankRow>& rows) {
  std::string text;
  for (const RankRow& row : rows) text += line_of(row, has_sensors_);
  if (::write(file_.get(), text.data(), text.size()) != std::ssize(text)) fail_to_write(path_);
}

JsonRow json_row(const RankRow& row, bool has_sensors) {
  const RankSample& sample = row.sample;
  JsonRow json("rank", row.time, sample.step);
  json.add("rank", row.rank).add("host", row.host).add("replica", row.replica).add("stage", row.stage);
  json.add("steps", sample.num_steps).add("step_seconds", sample.step_seconds());
  if (row.shares)
    json.add("busy", row.shares->busy)
        .add("bubble", row.shares->bubble)
        .add("straggler", row.shares->straggler)
        .add("communication", row.shares->communication)
        .add("data", row.shares->data);
  json.add("resident_bytes", sample.resident_bytes).add("device_bytes", sample.device_bytes);
  if (has_sensors)
    json.add("gpu_utilisation", sample.gpu.utilisation_percent)
        .add("gpu_clock_mhz", sample.gpu.clock_mhz)
        .add("gpu_celsius", sample.gpu.temperature_celsius)
        .add("gpu_watts", sample.gpu.power_watts)
        .add("gpu_ecc_errors", sample.gpu.ecc_errors);
  return json;
}

}  // namespace convoy
