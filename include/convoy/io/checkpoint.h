/// Reads and writes checkpoints. A checkpoint is one HDF5 file, independent of the layout, written completely or not at
/// all, and verified before it is used. Its values may be in parts in a folder next to it
/// (convoy/io/checkpoint_parts.h); otherwise it holds
///   /model/<name>              float32, torchvision's name and axes (OIHW)
///   /optimizer/<state>/<name>  float32, the same axes
///   /ema/<name>                float32, the same names and axes: the moving average of all tensors of /model, if any
///   /counters                  attributes, PyTorch's names: steps that each batch norm's statistics have followed
///   /card                      attributes, /card/name and /card/class_names: an evaluation needs them (ModelMetadata);
///                              /card/kind: of the network's input, "images" or "text"; older files have none and
///                              mean images; /card/tokenizer, /card/vocabulary, /card/text_column,
///                              /card/label_column: of texts (io/dataset.h)
///   /state                     attributes: step, samples, seed, best_metric ... (TrainingState)
///   /parameters, /version      the effective parameter file; the program that wrote the checkpoint
/// After the HDF5 image come 32 bytes: "CONVOYCK" (in parts: "CONVOYCL"), the image's size (little-endian 64 bit) and
/// its XXH3-128.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convoy/io/checkpoint_parts.h"
#include "convoy/io/model_metadata.h"
#include "convoy/io/named_tensor.h"
#include "convoy/io/training_state.h"

namespace convoy::io {

struct Checkpoint {
  TrainingState state;
  ModelMetadata metadata;
  std::vector<NamedTensor> model;                             ///< parameters and running statistics
  std::map<std::string, std::vector<NamedTensor>> optimizer;  ///< optimizer state, by the name of its kind: "momentum"
  std::vector<NamedTensor> ema;  ///< moving averages of the tensors of `model` (EMA); empty if not computed
  /// Step counters of the batch normalisations, by names such as "bn1.num_batches_tracked": the number of training
  /// steps in which the running statistics were updated, including those before the run if it began with trained
  /// weights. Steps in which the layer is frozen do not count. PyTorch counts micro-batches instead.
  std::map<std::string, std::int64_t> counters;
  std::string parameters;  ///< text of the effective parameter file of the run
  /// The files that hold the tensors' values, if they are outside this checkpoint's file; load_values() reads them.
  /// Empty: the file itself holds all values.
  std::optional<CheckpointParts> parts;
  /// Program that wrote the file: "convoy 0.9.0 (git 7c1d976f12)". Decoding sets it; encoding ignores it and writes
  /// this program's version.
  std::string written_by;
};

/// Returns the bytes of the checkpoint's file. The same content gives the same bytes (no times of day inside; tensors
/// in the order of their names).
std::vector<std::byte> encode_checkpoint(const Checkpoint& checkpoint);

/// Verifies the hash of the file's bytes, then decodes a checkpoint. `where` names the file in messages. Throws Error
/// saying what is wrong (too short, not a checkpoint, truncated, damaged: the hash differs, a dataset missing or of
/// another type), and RequestError if the file has another format version. HDF5 never reads bytes whose hash was not
/// verified. Tensors come in the order of their names; those of a checkpoint in parts have no values yet.
Checkpoint decode_checkpoint(std::span<const std::byte> bytes, const std::string& where);

/// Verifies the hash of the file's bytes, then decodes only the state of a checkpoint. Throws as decode_checkpoint()
/// does.
TrainingState decode_state(std::span<const std::byte> bytes, const std::string& where);

/// Verifies the last 32 bytes of a checkpoint, and the hash in them. Returns the reason if the bytes are damaged, else
/// nothing.
std::optional<std::string> find_damage(std::span<const std::byte> bytes);

/// Whether the file's last 32 bytes are those of a checkpoint. Throws Error if it cannot be read.
bool is_checkpoint_file(const std::string& path);

/// Returns the bytes of a checkpoint's file after verifying their hash, and those of its parts. The last 32 bytes are
/// read first: a file that is not a checkpoint, or has another size than they say, takes neither time nor memory, even
/// if it is large. Throws Error with the reason.
std::vector<std::byte> read_checkpoint_file(const std::string& path);

/// Returns the bytes of a checkpoint that holds all values in one file: `bytes` itself if it does, else a new file made
/// from `bytes` and the parts next to `path`. If `with_optimizer` is false, the optimizer state is left out. Throws
/// Error if a part cannot be read.
std::vector<std::byte> join_parts(std::vector<std::byte> bytes, const std::string& path, bool with_optimizer);

/// Replaces a checkpoint in parts by one file of the same name, and removes its parts if no other checkpoint in the
/// directory lists them. Returns false if it was one file already. Throws Error naming the file.
bool join_checkpoint(const std::string& path);

/// The path of a step's checkpoint: DIRECTORY/step-00001234.h5.
std::string checkpoint_path(const std::string& directory, std::int64_t step);

/// The path of the best checkpoint: DIRECTORY/best.h5. It holds a complete training state like other checkpoints. It is
/// replaced only by a better one.
std::string best_checkpoint_path(const std::string& directory);

struct FoundCheckpoint {
  std::string path;
  std::vector<std::byte> bytes;  ///< bytes of the file, whose hash was verified
  TrainingState state;
};

/// Finds the usable checkpoint with the highest step below `below`, including best.h5. A checkpoint is usable if its
/// hash is right, this program can read its format, and it holds the step that its name says. `skipped` is called with
/// the reason for each unusable file of a higher step, and for an unusable best.h5. Returns nothing if there is no
/// usable checkpoint or no such directory. Ignores temporary files. Throws Error if the directory cannot be listed.
std::optional<FoundCheckpoint> find_newest_checkpoint(
    const std::string& directory,
    const std::function<void(const std::string& path, const std::string& reason)>& skipped,
    std::int64_t below = std::numeric_limits<std::int64_t>::max());

/// Removes the checkpoints of steps in (step, last], and best.h5 if it is of such a step. Warns of a file that cannot
/// be removed. Throws Error if the directory cannot be listed.
void remove_checkpoints_after(const std::string& directory, std::int64_t step, std::int64_t last);
/// Renames the checkpoints of steps in (step, last], and best.h5 if it is of such a step, to names that end in
/// ".suspect", so that no run finds them. Warns of a file that cannot be renamed. Throws Error if the directory cannot
/// be listed.
void set_aside_checkpoints_after(const std::string& directory, std::int64_t step, std::int64_t last);

/// Keeps the newest checkpoints, step-*.h5, of a run's directory and removes older ones. Only usable files are counted:
/// those that this process has written or resumed from, and others after they have been read and verified.
class CheckpointKeeper {
 public:
  /// `keep` is the number of checkpoints to keep; 0: keeps all.
  CheckpointKeeper(std::string directory, std::int64_t keep) : directory_(std::move(directory)), keep_(keep) {}

  /// Marks a file as usable: it is complete, and of the step in its name. Then remove_old() does not read it.
  void trust(const std::string& path) { usable_[path] = true; }
  /// Removes the checkpoints that are older than the `keep` newest ones, for a run that is at `step`. The newest
  /// checkpoint below step `below` is kept in any case. Also removes temporary files that a killed run left. Files of
  /// steps above `step` stay and are not counted: the run found them unusable when it began.
  void remove_old(std::int64_t step, std::int64_t below = 0);

 private:
  bool is_usable(const std::string& path, std::int64_t step);

  std::string directory_;
  std::int64_t keep_;
  std::map<std::string, bool> usable_;  ///< whether a file is usable, by its path, for files that were checked
};

}  // namespace convoy::io
