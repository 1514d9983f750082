/// The choice of the engine, cuDNN's implementation of an operation: measured once, then the same on all ranks and
/// after restarts.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace convoy::ops {

/// The engines (implementations of cuDNN) that were chosen for operations. Engines differ in the last bits of their
/// results, so ranks that each measured for themselves could disagree. Therefore
///   1. rank 0's backend loads the cache from the file in the run directory and creates every operation of the whole
///      network; it measures the operations that the cache lacks;
///   2. rank 0 broadcasts serialise(), and stores it in the run directory;
///   3. each rank's backend loads the broadcast cache before it creates its own operations: it finds all engines and
///      measures none.
/// A key names the operation, the GPU and the versions of its libraries, so other GPUs or versions measure anew.
class EngineCache {
 public:
  /// Returns the engine for this key, or null if none has been inserted.
  const std::string* find(std::string_view key) const;
  /// Inserts a key with its value, or replaces the key's value. Neither may contain a tab or a newline.
  void insert(const std::string& key, const std::string& value);
  bool operator==(const EngineCache&) const = default;

  /// Returns lines of text, sorted by key: equal caches give equal bytes.
  std::string serialise() const;
  /// Parses the text that serialise() returned. Throws Error, naming the line, if the text has another form.
  static EngineCache parse(std::string_view text);

 private:
  std::map<std::string, std::string, std::less<>> engines_;
};

}  // namespace convoy::ops
