/// Checkpoints in parts (checkpoint.files = sharded): the values are in a folder beside the checkpoint, in a file for
/// each rank that held some of them.
///   step-00000100.h5           as convoy/io/checkpoint.h has it, but /parts in place of /model, /optimizer and /ema
///   step-00000100-7.parts/K.h5 of rank K: GROUP/NAME, float32: the values of a tensor that it held. The last 32 bytes
///                              are as a checkpoint's, with "CONVOYCP"
/// A tensor of a convolution, (O,I,H,W), is cut in the order (O,H,W,I), which the ranks hold it in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace convoy::io {

struct NamedTensor;
struct Checkpoint;

/// "model", "ema", "optimizer/momentum".
namespace groups {
inline constexpr const char* kModel = "model";
inline constexpr const char* kEma = "ema";
std::string of_optimizer(const std::string& slot);
}  // namespace groups

/// Values [first, first + count) of a tensor, in the order in which it is cut.
struct Piece {
  std::int64_t part = 0;  ///< which holds them, of each group
  std::int64_t first = 0, count = 0;

  bool operator==(const Piece&) const = default;
};

/// Of a tensor.
struct PieceList {
  bool cuts_pixels_first = false;  ///< (O,I,H,W) is cut in the order (O,H,W,I)
  std::vector<Piece> pieces;       ///< from the first value to the last

  bool operator==(const PieceList&) const = default;
};

/// A file, as whoever wrote it knows it.
struct PartFile {
  std::int64_t size_bytes = 0;
  std::string hash;  ///< of all its bytes, XXH3-128: 32 hexadecimal digits

  bool operator==(const PartFile&) const = default;
};

struct CheckpointParts {
  std::string folder;                        ///< beside the checkpoint
  std::vector<PartFile> files;               ///< by part
  std::map<std::string, PieceList> tensors;  ///< by name; the same in all groups

  std::int64_t size_bytes() const;  ///< of all files
};

/// "step-00000100-7.parts": of the seventh save in a run's directory.
std::string parts_folder(std::int64_t step, std::int64_t save);
/// The highest number of a save that a folder in this directory has; 0: there is none.
std::int64_t last_save(const std::string& directory);
/// DIRECTORY/FOLDER/K.h5; the checkpoint is in the directory.
std::string part_path(const std::string& directory, const std::string& folder, std::int64_t part);

/// Values that a rank holds, to be written.
struct PartEntry {
  std::string group, name;
  std::span<const float> values;
};
/// The file's bytes.
std::vector<std::byte> encode_part(const std::vector<PartEntry>& entries);
PartFile describe_part(std::span<const std::byte> bytes);

/// A part that is read: its bytes are in memory. While there is one, no other thread opens a file of HDF5's.
class PartReader {
 public:
  /// Of the checkpoint `path`. Throws Error, naming the file, where it is missing, damaged or not the one that was
  /// written for this checkpoint.
  PartReader(const std::string& path, const CheckpointParts& parts, std::int64_t part);
  ~PartReader();

  /// Throws Error where the part has not exactly `count` values of it.
  std::vector<float> read(const std::string& group, const std::string& name, std::int64_t count) const;

 private:
  struct Open;

  std::string path_;
  std::unique_ptr<Open> open_;
};

/// Why a checkpoint in parts is not whole; nothing where all its parts are. Reads them one after the other.
std::optional<std::string> find_damage_in_parts(const std::string& path, const CheckpointParts& parts);

/// Fills the values of a checkpoint in parts, of which only names and shapes are known, from the files beside `path`:
/// of all tensors, or of one group's. Nothing to do for other checkpoints. Throws Error naming the file.
void load_values(Checkpoint& checkpoint, const std::string& path, std::optional<std::string> group = {});

/// Removes folders of parts that no checkpoint in the directory lists, whatever its name. Where one cannot be read,
/// none is removed.
void remove_unlisted_parts(const std::string& directory);

}  // namespace convoy::io
