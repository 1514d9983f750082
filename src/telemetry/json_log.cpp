/// Numbers are written by fmt, texts by the library that escapes them.
#include "telemetry/json_log.h"

#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "convoy/io/atomic_file.h"

namespace convoy {

namespace {

// A path need not be UTF-8.
std::string quoted(std::string_view text) {
  using Json = nlohmann::json;
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool stays(std::string_view line, const JsonLog::Keep& keep) {
  const auto row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!row.is_object() || !row.contains("kind") || !row.contains("step") || !row["step"].is_number_integer())
    return false;
  return row["step"].get<std::int64_t>() <= (row["kind"] == "epoch" ? keep.epochs : keep.steps);
}

// Returns the rows of the content of a log.jsonl that `keep` keeps. Lines that are not rows are left out.
std::string keep_json_rows(std::string_view text, const JsonLog::Keep& keep) {
  std::string kept;
  if (keep.steps == 0) return kept;
  for (const std::string_view line : whole_lines(text))
    if (stays(line, keep)) kept.append(line) += '\n';
  return kept;
}

}  // namespace

JsonRow::JsonRow(std::string_view kind, double time, std::int64_t step)
    : text_(fmt::format("{{\"kind\":{},\"time\":{:.3f},\"step\":{}", quoted(kind), time, step)) {}

JsonRow& JsonRow::add(std::string_view name, std::string_view text) {
  return add_raw(name, quoted(text));
}

JsonRow& JsonRow::add(std::string_view name, double value) {
  return add_raw(name, std::isfinite(value) ? fmt::format("{}", value) : "null");
}

JsonRow& JsonRow::add_raw(std::string_view name, std::string_view value) {
  text_ += fmt::format(",{}:{}", quoted(name), value);
  return *this;
}

JsonLog::JsonLog(const std::string& path, const Keep& keep)
    : file_(path, keep_json_rows(io::read_text(path).value_or(""), keep), kMaxWaitSeconds) {}

}  // namespace convoy
