/// Writes scalars for TensorBoard in its file format: TFRecord records that hold protobuf messages. Used by rank 0
/// only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/log_file.h"

namespace convoy {

/// A value that TensorBoard shows.
struct Scalar {
  std::string tag;  ///< panel and name of the curve: "loss/train"
  double value = 0;
};

/// Returns the checksum CRC-32C (Castagnoli) of RFC 3720, section 12.1.
std::uint32_t crc32c(std::string_view bytes);

/// A TensorBoard event file.
class EventFile {
 public:
  /// Creates a new file in `directory`. TensorBoard joins all files of the directory, but no longer shows values of
  /// earlier files for steps after `last_step`. `wall_time` is the time now, in seconds since 1970. Throws Error with
  /// the file and the system's reason.
  EventFile(const std::string& directory, std::int64_t last_step, double wall_time);

  /// Adds scalars of a step. Writes all waiting scalars to the file if the oldest has waited for kMaxWaitSeconds;
  /// throws Error if it cannot. `now` is the result of now_seconds(), `wall_time` the same moment in seconds since
  /// 1970.
  void add(std::int64_t step, double wall_time, const std::vector<Scalar>& scalars, double now);
  /// Writes all waiting scalars to the file. Throws Error if it cannot.
  void flush() { file_.write(); }

  const std::string& path() const { return file_.path(); }

  /// Scalars wait until some are added at least this time, in seconds, after the oldest, or until flush().
  static constexpr double kMaxWaitSeconds = 2;

 private:
  explicit EventFile(const std::string& path);

  LogFile file_;
};

}  // namespace convoy
