/// Which of several engines computes an operation: measured once, and the same on all ranks and restarts from there on.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace convoy::ops {

/// Engines differ in the last bits, so ranks that measured for themselves could disagree. Therefore
///   1. rank 0's library takes the plans that the run directory holds, and plans every operation of the whole network:
///      what the cache lacks is measured;
///   2. rank 0 broadcasts serialise(), and keeps it in the run directory;
///   3. each rank's library takes the parsed cache before it plans its own operations: all is found, nothing measured.
/// Keys name the operation, the GPU and the versions of its libraries: what was measured elsewhere is not found.
class PlanCache {
 public:
  /// Null where nobody has measured it.
  const std::string* find(std::string_view key) const;
  /// Neither may hold a tab or a line's end. A key that is there takes the new value.
  void insert(const std::string& key, const std::string& value);
  bool operator==(const PlanCache&) const = default;

  /// Lines of text, sorted by key: equal caches give equal bytes.
  std::string serialise() const;
  /// Throws Error naming the line that no serialise() wrote.
  static PlanCache parse(std::string_view text);

 private:
  std::map<std::string, std::string, std::less<>> plans_;
};

}  // namespace convoy::ops
