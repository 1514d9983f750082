/// Which of several engines computes an operation: measured once, then the same on all ranks and after restarts.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace convoy::ops {

/// Engines differ in the last bits, so ranks that measured for themselves could disagree. Therefore
///   1. rank 0's backend takes the engines that the run directory's file names, and creates every operation of the
///      whole network: what the cache lacks is measured;
///   2. rank 0 broadcasts serialise(), and keeps it in the run directory;
///   3. each rank's backend takes the parsed cache before it creates its own operations: all is found, nothing
///      measured.
/// Keys name the operation, the GPU and the versions of its libraries: what was measured elsewhere is not found.
class EngineCache {
 public:
  /// Null where nobody has measured it.
  const std::string* find(std::string_view key) const;
  /// Neither may hold a tab or a line's end. A key that is there takes the new value.
  void insert(const std::string& key, const std::string& value);
  bool operator==(const EngineCache&) const = default;

  /// Lines of text, sorted by key: equal caches give equal bytes.
  std::string serialise() const;
  /// Throws Error naming the line that no serialise() wrote.
  static EngineCache parse(std::string_view text);

 private:
  std::map<std::string, std::string, std::less<>> engines_;
};

}  // namespace convoy::ops
