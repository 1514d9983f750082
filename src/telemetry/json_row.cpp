/// Numbers are written by fmt, texts by the library that escapes them.
#include "telemetry/json_row.h"

#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace convoy {

namespace {

// A path need not be UTF-8.
std::string quoted(std::string_view text) {
  using Json = nlohmann::json;
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
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

}  // namespace convoy
