/// One list of columns for both forms of a row.
#include "telemetry/rank_table.h"

#include <cmath>
#include <string_view>

#include <fmt/core.h>

#include "convoy/base/clock.h"
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

std::string known(double value) {
  return std::isnan(value) ? "," : fmt::format(",{:.6g}", value);
}

std::string line_of(const RankRow& row, bool has_sensors) {
  const RankSample& sample = row.sample;
  std::string line = fmt::format("{},{:.3f},{},{},{},{},{},{:.6g}", sample.step, row.time, row.rank,
                                 csv_field(row.host), row.replica, row.stage, sample.num_steps, sample.step_seconds());
  line += csv_fields(row.shares) + fmt::format(",{},{}", sample.resident_bytes, sample.device_bytes);
  if (has_sensors)
    for (const double value : {sample.gpu.utilisation_percent, sample.gpu.clock_mhz, sample.gpu.temperature_celsius,
                               sample.gpu.power_watts, sample.gpu.ecc_errors})
      line += known(value);
  return line + '\n';
}

std::string kept_text(const std::string& text, bool has_sensors, std::int64_t last_step) {
  const std::string columns = header(has_sensors);
  return columns + '\n' + keep_rows("", text, {.header = columns, .is_sorted = false}, last_step).text;
}

}  // namespace

RankTable::RankTable(const std::string& path, bool has_sensors, std::int64_t last_step)
    : RankTable(path, io::read_text(path).value_or(""), has_sensors, last_step) {}

RankTable::RankTable(const std::string& path, const std::string& text, bool has_sensors, std::int64_t last_step)
    : has_sensors_(has_sensors || text.starts_with(header(true) + '\n')),
      file_(path, kept_text(text, has_sensors_, last_step), 0) {}

void RankTable::add(const std::vector<RankRow>& rows) {
  std::string text;
  for (const RankRow& row : rows) text += line_of(row, has_sensors_);
  file_.add(text, now_seconds());
}

JsonRow json_row(const RankRow& row, bool has_sensors) {
  const RankSample& sample = row.sample;
  JsonRow json("rank", row.time, sample.step);
  json.add("rank", row.rank).add("host", row.host).add("replica", row.replica).add("stage", row.stage);
  json.add("steps", sample.num_steps).add("step_seconds", sample.step_seconds());
  if (row.shares)
    for (const NamedShare& part : kTimeShares) json.add(part.name, (*row.shares).*part.share);
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
