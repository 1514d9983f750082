/// A line of log.jsonl: one JSON object.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace convoy {

/// Builds a line of log.jsonl.
class JsonRow {
 public:
  /// `kind` says what the row is about: "step", "epoch", "warning" ... `time` is the time of the event in seconds since
  /// 1970. `step` is the training step that it belongs to; 0 before the first.
  JsonRow(std::string_view kind, double time, std::int64_t step);

  /// Adds a field.
  JsonRow& add(std::string_view name, std::string_view text);
  JsonRow& add(std::string_view name, const char* text) { return add(name, std::string_view(text)); }
  JsonRow& add(std::string_view name, double value);  ///< written exactly; null if it is infinite or NaN
  JsonRow& add(std::string_view name, std::integral auto value) {
    return add_raw(name, std::to_string(static_cast<std::int64_t>(value)));
  }

  /// The JSON object as text, with a newline at its end.
  std::string line() const { return text_ + "}\n"; }

 private:
  JsonRow& add_raw(std::string_view name, std::string_view value);

  std::string text_;
};

}  // namespace convoy
