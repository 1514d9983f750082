/// A line of log.jsonl: one JSON object.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace convoy {

class JsonRow {
 public:
  /// `time` in seconds since 1970; `step` of the run that the row is about, 0 before the first.
  JsonRow(std::string_view kind, double time, std::int64_t step);

  JsonRow& add(std::string_view name, std::string_view text);
  JsonRow& add(std::string_view name, const char* text) { return add(name, std::string_view(text)); }
  JsonRow& add(std::string_view name, double value);  ///< to the last bit; what is not finite is null
  JsonRow& add(std::string_view name, std::integral auto value) {
    return add_raw(name, std::to_string(static_cast<std::int64_t>(value)));
  }

  /// With its newline.
  std::string line() const { return text_ + "}\n"; }

 private:
  JsonRow& add_raw(std::string_view name, std::string_view value);

  std::string text_;
};

/// Seconds since 1970, of the host's clock.
double wall_clock_seconds();

}  // namespace convoy
