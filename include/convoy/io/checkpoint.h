/// Checkpoints: one HDF5 file, independent of the layout, written completely or not at all, verified before it is used.
/// Its values may be in parts in a folder next to it (convoy/io/checkpoint_parts.h); otherwise it holds
///   /model/<name>              float32, torchvision's name and axes (OIHW)
///   /optimizer/<slot>/<name>   float32, the same axes
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
  std::map<std::string, std::vector<NamedTensor>> optimizer;  ///< by slot, e.g. "momentum"
  std::vector<NamedTensor> ema;  ///< moving averages of the tensors of `model`; empty if not kept
  /// bn1.num_batches_tracked: the number of training steps that the running statistics of a batch norm have followed,
  /// including those of the weights that the run began with. Steps in which it is frozen do not count. PyTorch counts
  /// micro-batches instead.
  std::map<std::string, std::int64_t> counters;
  std::string parameters;  ///< the effective parameter file
  /// The files that hold the values: tensors have none until load_values() reads them. No parts: the file itself holds
  /// them.
  std::optional<CheckpointParts> parts;
  std::string written_by;  ///< "convoy 0.9.0 (git 7c1d976f12)". Decoding fills it; encoding writes this program's.
};

/// Returns the bytes of the checkpoint's file. The same content gives the same bytes (no times of day inside; tensors
/// in the order of their names).
std::vector<std::byte> encode_checkpoint(const Checkpoint& checkpoint);

/// Verifies the hash, then decodes a checkpoint. `where` names the file in messages. Throws Error saying what is wrong
/// (too short, not a checkpoint, truncated, damaged: the hash differs, a dataset missing or of another type), and
/// RequestError if it is of another format. HDF5 never sees bytes whose hash was not verified. Tensors come in the
/// order of their names; those of a checkpoint in parts have no values yet.
Checkpoint decode_checkpoint(std::span<const std::byte> bytes, const std::string& where);

/// Decodes only the state of a checkpoint; like decode_checkpoint() otherwise.
TrainingState decode_state(std::span<const std::byte> bytes, const std::string& where);

/// Verifies the trailer and its hash. Returns the reason if the bytes are damaged, else nothing.
std::optional<std::string> find_damage(std::span<const std::byte> bytes);

/// Whether the file ends like a checkpoint. Throws Error if it cannot be read.
bool is_checkpoint_file(const std::string& path);

/// Returns the bytes of a checkpoint after verifying their hash and those of its parts. The file's last 32 bytes are
/// read first: a file that is not a checkpoint, or has another size than its end says, takes neither time nor memory,
/// however large it is. Throws Error with the reason.
std::vector<std::byte> read_checkpoint_file(const std::string& path);

/// Returns the bytes of a checkpoint in one file: `bytes` itself if it holds all values, else a new file made from
/// `bytes` and the parts next to `path`. `with_optimizer` is false if the weights are enough. Throws Error if a part
/// cannot be read.
std::vector<std::byte> join_parts(std::vector<std::byte> bytes, const std::string& path, bool with_optimizer);

/// Replaces a checkpoint in parts by one file of the same name, and removes its parts if no other checkpoint in the
/// directory lists them. Returns false if it was one file already. Throws Error naming the file.
bool join_checkpoint(const std::string& path);

/// The path of a step's checkpoint: DIRECTORY/step-00001234.h5.
std::string checkpoint_path(const std::string& directory, std::int64_t step);

/// The path of the best checkpoint: DIRECTORY/best.h5. It holds a whole training state like the others, but only a
/// better one replaces it.
std::string best_checkpoint_path(const std::string& directory);

struct FoundCheckpoint {
  std::string path;
  std::vector<std::byte> bytes;  ///< verified
  TrainingState state;
};

/// Finds the usable checkpoint with the highest step below `below`, best.h5 included. A checkpoint is usable if its
/// hash holds, its format is this program's, and it holds the step that its name says. Each higher one that is not
/// usable, and a best.h5 that is not, is passed to `skipped` with the reason. Returns nothing if there is no usable one
/// (or no directory). Left-over temporary files are ignored. Throws Error if the directory cannot be listed.
std::optional<FoundCheckpoint> find_newest_checkpoint(
    const std::string& directory,
    const std::function<void(const std::string& path, const std::string& reason)>& skipped,
    std::int64_t below = std::numeric_limits<std::int64_t>::max());

/// Removes the checkpoints of steps above `step`, up to `last`, also a best.h5 of such a step.
void remove_checkpoints_after(const std::string& directory, std::int64_t step, std::int64_t last);
/// Renames the same checkpoints instead: their names then end in ".suspect", so that no run finds them.
void set_aside_checkpoints_after(const std::string& directory, std::int64_t step, std::int64_t last);

/// Keeps the newest step-*.h5 of a run's directory and removes older ones. Only usable files are counted: those that
/// this process has written or resumed, and others once they have been read and found whole.
class CheckpointKeeper {
 public:
  /// `keep` is the number of checkpoints to keep; 0: all.
  CheckpointKeeper(std::string directory, std::int64_t keep) : directory_(std::move(directory)), keep_(keep) {}

  /// Marks a file as usable, so that it need not be read: it is whole, and of the step in its name.
  void trust(const std::string& path) { usable_[path] = true; }
  /// For a run that is at `step`: removes the checkpoints older than the `keep` newest, except the newest one below
  /// step `below`, and temporary files that a killed run left. Files above `step` stay and are not counted: the run
  /// found them unusable when it began.
  void remove_old(std::int64_t step, std::int64_t below = 0);

 private:
  bool is_usable(const std::string& path, std::int64_t step);

  std::string directory_;
  std::int64_t keep_;
  std::map<std::string, bool> usable_;  ///< by path
};

}  // namespace convoy::io
