/// A line of log.jsonl: one JSON object.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace convoy {

class JsonRow {
 public:
  /// `time` is in seconds since 1970. `step` is the step of the run that the row is about; 0 before the first.
  JsonRow(std::string_view kind, double time, std::int64_t step);

  JsonRow& add(std::string_view name, std::string_view text);
  JsonRow& add(std::string_view name, const char* text) { return add(name, std::string_view(text)); }
  JsonRow& add(std::string_view name, double value);  ///< exact to the last bit; null if not finite
  JsonRow& add(std::string_view name, std::integral auto value) {
    return add_raw(name, std::to_string(static_cast<std::int64_t>(value)));
  }

  /// The row's line, with its newline.
  std::string line() const { return text_ + "}\n"; }

 private:
  JsonRow& add_raw(std::string_view name, std::string_view value);

  std::string text_;
};

}  // namespace convoy
