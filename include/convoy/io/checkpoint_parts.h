/// Reads and writes checkpoints in parts (checkpoint.files = sharded): the values are in a folder next to the
/// checkpoint's file, in one file for each rank that held some of them.
///   step-00000100.h5           as in convoy/io/checkpoint.h, but with /parts in place of /model, /optimizer and /ema
///   step-00000100-7.parts/K.h5 part K, written by rank K: GROUP/NAME, float32, the values of a tensor that the rank
///                              held. The last 32 bytes are like those of a checkpoint, but begin with "CONVOYCP"
/// The weights of a convolution, (O,I,H,W), are cut in the order (O,H,W,I) of the device's memory.
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

/// Names of the groups of tensors in a checkpoint: "model", "ema", "optimizer/momentum".
namespace groups {
inline constexpr const char* kModel = "model";
inline constexpr const char* kEma = "ema";
std::string of_optimizer(const std::string& state);
}  // namespace groups

/// Values [first, first + count) of a tensor, counted in the order in which the tensor is cut (PieceList).
struct Piece {
  std::int64_t part = 0;  ///< index of the part that holds these values, the same for each group of tensors
  std::int64_t first = 0, count = 0;

  bool operator==(const Piece&) const = default;
};

/// The pieces of one tensor, and the parts that hold them.
struct PieceList {
  bool cuts_pixels_first = false;  ///< true: a tensor (O,I,H,W) is cut in the order (O,H,W,I)
  std::vector<Piece> pieces;       ///< pieces in ascending order, which cover all values

  bool operator==(const PieceList&) const = default;
};

/// The size and the hash of a part's file at the time when it was written.
struct PartFile {
  std::int64_t size_bytes = 0;
  std::string hash;  ///< XXH3-128 of all its bytes: 32 hexadecimal digits

  bool operator==(const PartFile&) const = default;
};

struct CheckpointParts {
  std::string folder;                        ///< name of the folder next to the checkpoint
  std::vector<PartFile> files;               ///< size and hash of each part's file
  std::map<std::string, PieceList> tensors;  ///< pieces of each tensor, by its name; the same for each group of tensors

  std::int64_t size_bytes() const;  ///< total size of all parts' files in bytes
};

/// The name of the folder of parts: "step-00000100-7.parts" for step 100, written by save 7 in a run's directory.
std::string parts_folder(std::int64_t step, std::int64_t save);
/// The highest save number among the folders of parts in this directory; 0 if there is no such folder.
std::int64_t last_save(const std::string& directory);
/// The path of a part's file: DIRECTORY/FOLDER/K.h5, where K is `part` and DIRECTORY is that of the checkpoint.
std::string part_path(const std::string& directory, const std::string& folder, std::int64_t part);

/// The values of a tensor that a rank holds and writes into its part.
struct PartEntry {
  std::string group, name;
  std::span<const float> values;
};
/// Returns the bytes of a part's file.
std::vector<std::byte> encode_part(const std::vector<PartEntry>& entries);
PartFile describe_part(std::span<const std::byte> bytes);

/// Reads values from an open part, whose bytes are in memory. While the object exists, no other thread can open an HDF5
/// file.
class PartReader {
 public:
  /// Reads the file of part `part` of the checkpoint `path`, and verifies it. Throws Error naming the file if it is
  /// missing, damaged or not the one that was written for this checkpoint.
  PartReader(const std::string& path, const CheckpointParts& parts, std::int64_t part);
  ~PartReader();

  /// Returns the values of a tensor that this part holds. Throws Error if there are not exactly `count`.
  std::vector<float> read(const std::string& group, const std::string& name, std::int64_t count) const;

 private:
  struct Open;

  std::string path_;
  std::unique_ptr<Open> open_;
};

/// Reads and verifies all parts of the checkpoint `path`. Returns the reason if one is missing or damaged, else
/// nothing.
std::optional<std::string> find_damage_in_parts(const std::string& path, const CheckpointParts& parts);

/// Reads the values of a checkpoint's tensors from the parts next to `path`: of all tensors, or of the tensors of one
/// group. Before, the tensors have names and shapes only. Does nothing if the checkpoint has no parts. Throws Error
/// naming the file.
void load_values(Checkpoint& checkpoint, const std::string& path, std::optional<std::string> group = {});

/// Removes folders of parts that no checkpoint in the directory uses. If one of the checkpoints cannot be read, removes
/// no folder.
void remove_unlisted_parts(const std::string& directory);

}  // namespace convoy::io
