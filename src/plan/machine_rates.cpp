/// Rates as text, for messages and for files.
#include "plan/machine_rates.h"

#include <cstddef>
#include <sstream>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/wording.h"

#include "plan/parse_numbers.h"

namespace convoy {

namespace {

constexpr const char* kTitle = "convoy rates 3";
constexpr NumberLimits kRates{.min = 1e-12, .max = 1e18};  // limits of all seconds and bytes per second

}  // namespace

std::string describe(const LinkRates& rates) {
  return fmt::format("{} us + {} GB/s", plain_number(1e6 * rates.latency_seconds, 3),
                     plain_number(1e-9 * rates.bytes_per_second, 3));
}

std::string MachineRates::serialise() const {
  return fmt::format(
      "{}\n{}\n# messages on a node, between nodes: seconds, bytes per second, in exchanges; memory: bytes per second; "
      "1: ranks copy messages on a node, 2: others do\n{} {} {} {} {} {} {} {}\n",
      kTitle, key, on_node.latency_seconds, on_node.bytes_per_second, on_node.exchange_bytes_per_second,
      between_nodes.latency_seconds, between_nodes.bytes_per_second, between_nodes.exchange_bytes_per_second,
      memory_bytes_per_second, copied_by_ranks ? 1 : 2);
}

std::optional<MachineRates> MachineRates::parse(const std::string& text, const std::string& key) {
  std::istringstream stream(text);
  std::string title, found_key, units, line;
  std::getline(stream, title), std::getline(stream, found_key), std::getline(stream, units);
  if (title != kTitle || found_key != key) return std::nullopt;
  if (!text.ends_with('\n')) fail("its last line is truncated");
  std::getline(stream, line);
  const std::vector<double> numbers = parse_numbers(line, 8, kRates);
  const auto link = [&](std::size_t at) {
    return LinkRates{.latency_seconds = numbers[at],
                     .bytes_per_second = numbers[at + 1],
                     .exchange_bytes_per_second = numbers[at + 2]};
  };
  return MachineRates{.key = key,
                      .on_node = link(0),
                      .between_nodes = link(3),
                      .copied_by_ranks = numbers[7] == 1,
                      .memory_bytes_per_second = numbers[6]};
}

}  // namespace convoy
