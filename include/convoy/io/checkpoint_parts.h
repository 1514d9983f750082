/// Checkpoints in parts (checkpoint.files = sharded): the values are in a folder next to the checkpoint, in one file
/// for each rank that held some of them.
///   step-00000100.h5           as in convoy/io/checkpoint.h, but with /parts in place of /model, /optimizer and /ema
///   step-00000100-7.parts/K.h5 part K, written by rank K: GROUP/NAME, float32, the values of a tensor that the rank
///                              held. The last 32 bytes are like those of a checkpoint, but begin with "CONVOYCP"
/// The weights of a convolution, (O,I,H,W), are cut in the order (O,H,W,I), in which the ranks hold them.
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

/// Names of the groups of tensors: "model", "ema", "optimizer/momentum".
namespace groups {
inline constexpr const char* kModel = "model";
inline constexpr const char* kEma = "ema";
std::string of_optimizer(const std::string& slot);
}  // namespace groups

/// Values [first, first + count) of a tensor, in the order in which it is cut.
struct Piece {
  std::int64_t part = 0;  ///< the part that holds these values, in each group
  std::int64_t first = 0, count = 0;

  bool operator==(const Piece&) const = default;
};

/// The pieces of one tensor, and the parts that hold them.
struct PieceList {
  bool cuts_pixels_first = false;  ///< (O,I,H,W) is cut in the order (O,H,W,I)
  std::vector<Piece> pieces;       ///< from the first value to the last

  bool operator==(const PieceList&) const = default;
};

/// Size and hash of a part's file when it was written.
struct PartFile {
  std::int64_t size_bytes = 0;
  std::string hash;  ///< XXH3-128 of all its bytes: 32 hexadecimal digits

  bool operator==(const PartFile&) const = default;
};

struct CheckpointParts {
  std::string folder;                        ///< name of the folder next to the checkpoint
  std::vector<PartFile> files;               ///< by part
  std::map<std::string, PieceList> tensors;  ///< by name; the same in all groups

  std::int64_t size_bytes() const;  ///< of all files
};

/// The name of the folder of parts: "step-00000100-7.parts" for the seventh save in a run's directory.
std::string parts_folder(std::int64_t step, std::int64_t save);
/// The highest save number among the folders of parts in this directory; 0 if there is no such folder.
std::int64_t last_save(const std::string& directory);
/// The path of a part: DIRECTORY/FOLDER/K.h5; the checkpoint is in DIRECTORY.
std::string part_path(const std::string& directory, const std::string& folder, std::int64_t part);

/// Values of a tensor that a rank holds, to be written into its part.
struct PartEntry {
  std::string group, name;
  std::span<const float> values;
};
/// Returns the bytes of a part's file.
std::vector<std::byte> encode_part(const std::vector<PartEntry>& entries);
PartFile describe_part(std::span<const std::byte> bytes);

/// An open part, whose bytes are in memory. While it exists, no other thread can open an HDF5 file.
class PartReader {
 public:
  /// Reads a part of the checkpoint `path`. Throws Error naming the file if it is missing, damaged or not the one that
  /// was written for this checkpoint.
  PartReader(const std::string& path, const CheckpointParts& parts, std::int64_t part);
  ~PartReader();

  /// Returns the values of a tensor in this part. Throws Error if there are not exactly `count`.
  std::vector<float> read(const std::string& group, const std::string& name, std::int64_t count) const;

 private:
  struct Open;

  std::string path_;
  std::unique_ptr<Open> open_;
};

/// Reads all parts, one after the other. Returns the reason if one is missing or damaged, else nothing.
std::optional<std::string> find_damage_in_parts(const std::string& path, const CheckpointParts& parts);

/// Reads the values of a checkpoint in parts from the files next to `path`: of all tensors, or of one group's. Before,
/// only names and shapes are known. Does nothing for other checkpoints. Throws Error naming the file.
void load_values(Checkpoint& checkpoint, const std::string& path, std::optional<std::string> group = {});

/// Removes folders of parts that no checkpoint in the directory lists, whatever the checkpoint's name. If a file cannot
/// be read, no folder is removed.
void remove_unlisted_parts(const std::string& directory);

}  // namespace convoy::io
