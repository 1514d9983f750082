/// Scalars for TensorBoard, in its own format: records of TFRecord, each a message of protobuf. Rank 0 only.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

struct Scalar {
  std::string tag;  ///< "loss/train": its panel, then its name
  double value = 0;
};

/// CRC-32C (Castagnoli) of RFC 3720, section 12.1.
std::uint32_t crc32c(std::string_view bytes);

class EventFile {
 public:
  /// Makes a new file in `directory`; TensorBoard joins all files of the directory, but no longer shows steps after
  /// `last_step` that earlier files hold. Throws Error with the file and the system's reason.
  EventFile(const std::string& directory, std::int64_t last_step, double wall_time);

  /// Adds scalars of a step. They are written once scalars have waited for kMaxWaitSeconds. `now` is now_seconds(),
  /// `wall_time` seconds since 1970.
  void add(std::int64_t step, double wall_time, const std::vector<Scalar>& scalars, double now);
  /// Writes all scalars to the file.
  void flush();

  const std::string& path() const { return path_; }

  static constexpr double kMaxWaitSeconds = 2;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void write_record(const std::string& event);
  void check(bool ok) const;

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  double first_waiting_seconds_ = 0;  ///< when the oldest scalar that is not in the file was added; 0: none
};

}  // namespace convoy
