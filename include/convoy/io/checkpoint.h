/// Checkpoints: one HDF5 file, independent of the layout, written completely or not at all, verified before it is used.
/// Its values may be in parts beside it (convoy/io/checkpoint_parts.h); otherwise it holds
///   /model/<name>              float32, torchvision's name and axes (OIHW)
///   /optimizer/<slot>/<name>   float32, the same axes
///   /ema/<name>                float32, likewise: the moving average of all that /model has, where one is kept
///   /counters                  attributes, PyTorch's names: steps that each batch norm's statistics have followed
///   /card                      attributes, /card/name and /card/class_names: an evaluation needs them (ModelMetadata);
///                              /card/kind: of the network's input, "images" or "text"; older files have none and
///                              mean images; /card/tokenizer, /card/vocabulary, /card/text_column,
///                              /card/label_column: of texts (io/dataset.h)
///   /state                     attributes: step, samples, seed, best_metric ... (TrainingState)
///   /parameters, /version      the effective parameter file; who wrote it
/// After the HDF5 image come 32 bytes: "CONVOYCK", or "CONVOYCL" where it is in parts, the image's size (little-endian
/// 64 bit) and its XXH3-128.
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
#include <variant>
#include <vector>

#include "convoy/base/features.h"
#include "convoy/base/input_shape.h"
#include "convoy/io/checkpoint_parts.h"
#include "convoy/io/tokenization.h"
#include "convoy/params/parameters.h"

namespace convoy::io {

struct NamedTensor {
  std::string name;                ///< layer1.0.conv1.weight
  std::vector<std::int64_t> dims;  ///< (O,I,H,W), (O,I) or (C)
  std::vector<float> values;       ///< row-major

  std::int64_t count() const;  ///< of the shape
};

/// How images become a network's input.
struct ImageInput {
  ImageShape shape;             ///< of the input
  bool resizes = false;         ///< whether training brought images to that shape; else they had it
  std::int64_t short_side = 0;  ///< pixels: what an image's short side becomes before the centre is cut out
  bool orients = false;         ///< whether the images were turned as their Exif orientation says (import.orient)
  bool normalizes = true;       ///< (x - mean) / standard deviation, channel by channel
  std::vector<double> channel_mean, channel_stddev;  ///< (C), of the training set's values / 255

  bool operator==(const ImageInput&) const = default;
};

/// "mean 0.485, 0.456, 0.406, standard deviation 0.229, 0.224, 0.225"; or that values are not normalised.
std::string describe_normalisation(const ImageInput& input);

/// How texts do.
struct TextInput {
  std::int64_t length = 0;    ///< tokens that the network reads of a text
  Tokenization tokenization;  ///< of the training set
  ColumnNames columns = {};   ///< of the tables that the training set was imported from

  bool operator==(const TextInput&) const = default;
};

/// What a network was trained to see and to name: all that an evaluation must know of its training.
struct ModelMetadata {
  std::string name;                    ///< model.name
  TransformerParams transformer = {};  ///< of a network of texts
  std::variant<ImageInput, TextInput> input;
  std::vector<std::string> class_names;  ///< in the order of the logits

  /// convoy/base/features.h: "images".
  const char* kind() const { return text() != nullptr ? input_kinds::kText : input_kinds::kImages; }
  InputShape shape() const;
  /// Of a network of images.
  const ImageInput& image() const { return std::get<ImageInput>(input); }
  /// Null for a network of images.
  const TextInput* text() const { return std::get_if<TextInput>(&input); }
};

/// Of one of the network's objectives over the steps of an epoch.
struct EpochSums {
  double loss = 0;
  std::int64_t num_correct = 0, num_samples = 0, num_labels = 0;

  bool operator==(const EpochSums&) const = default;
};

struct TrainingState {
  std::int64_t step = 0;     ///< steps done
  std::int64_t samples = 0;  ///< samples seen in training; the position in the epoch follows from step
  std::int64_t seed = 0;
  std::int64_t batch_global = 0;
  std::int64_t batch_micro = 0;
  std::int64_t num_samples = 0;       ///< of the training set
  std::int64_t train_hash = 0;        ///< of its content (Dataset::content_hash); 0: not known, from an older Convoy
  std::int64_t metric_hash = 0;       ///< of the data set that best_value was measured on; 0: not known
  std::int64_t evaluated_step = 0;    ///< the step whose row is the latest in log.csv
  std::string metric = "top1";        ///< train.metric; files older than that key are of top-1
  double best_value = 0;              ///< its best value so far on data.val or else data.test
  std::int64_t best_step = 0;         ///< where that was measured; 0: nothing was
  std::int64_t updates = 0;           ///< steps without those that were not applied
  double loss_scale = 1;              ///< fp16: what the loss's gradient is multiplied by
  std::int64_t loss_scale_steps = 0;  ///< since it last changed
  /// Of the unfinished epoch, by objective (at least one), so that its line in the log is the same after a restart.
  std::vector<EpochSums> epoch = {{}};
  /// Of the training loss (LossRange): its moving average, the lowest that this was, the step at which the loss left
  /// its range (0: it is within).
  double loss_average = 0;
  double loss_lowest = std::numeric_limits<double>::infinity();
  std::int64_t loss_left_step = 0;
  /// Of bad steps (run/bad_steps.h): that were skipped, in all and in a row; how often training went back, and what
  /// that multiplied the learning rate by.
  std::int64_t bad_steps = 0, bad_steps_in_row = 0, rollbacks = 0;
  double rate_factor = 1;
};

/// "bn1.num_batches_tracked" for "bn1.running_mean"; empty for other names.
std::string counter_name(const std::string& tensor_name);

struct Checkpoint {
  TrainingState state;
  ModelMetadata metadata;
  std::vector<NamedTensor> model;                             ///< parameters and running statistics
  std::map<std::string, std::vector<NamedTensor>> optimizer;  ///< by slot, e.g. "momentum"
  std::vector<NamedTensor> ema;                               ///< as `model`; empty where none is kept
  /// bn1.num_batches_tracked: training steps that the running statistics of a batch norm have followed, those of the
  /// weights that the run began with among them; while it is frozen there are none. As PyTorch counts, but for
  /// micro-batches.
  std::map<std::string, std::int64_t> counters;
  std::string parameters;  ///< the effective parameter file
  /// Where the values are: tensors have none until load_values() brings them. None: the file holds them.
  std::optional<CheckpointParts> parts;
  std::string written_by;  ///< "convoy 0.9.0 (git 7c1d976f12)". Decoding fills it; encoding writes this program's.
};

/// Of all values of these tensors, as convoy/base/fingerprint.h has it.
std::uint64_t fingerprint(const std::vector<NamedTensor>& tensors);

/// The file's bytes. The same content gives the same bytes (no times of day inside; tensors in the order of their
/// names).
std::vector<std::byte> encode_checkpoint(const Checkpoint& checkpoint);

/// Verifies the hash, then reads. `where` names the file in messages. Throws Error saying what is wrong (too short, not
/// a checkpoint, truncated, damaged: the hash differs, a dataset missing or of another type); RequestError where it is
/// of another format. Never lets HDF5 see bytes whose hash was not verified. Tensors come in the order of their names,
/// those of a checkpoint in parts without values.
Checkpoint decode_checkpoint(std::span<const std::byte> bytes, const std::string& where);

/// The same, but only the state.
TrainingState decode_state(std::span<const std::byte> bytes, const std::string& where);

/// Whether the trailer's hash holds; the reason where it does not.
std::optional<std::string> find_damage(std::span<const std::byte> bytes);

/// Whether the file ends like one. Throws Error where it cannot be read.
bool is_checkpoint_file(const std::string& path);

/// The bytes of a checkpoint whose hash holds, and those of its parts. The file's last 32 bytes are read first: a file
/// that is not a checkpoint, or of another size than its end says, takes neither time nor memory, however large it is.
/// Throws Error with the reason.
std::vector<std::byte> read_checkpoint_file(const std::string& path);

/// The bytes of a file that holds all values itself: these bytes, or for a checkpoint in parts, `path`, others.
/// `with_optimizer`: false where weights are enough. Throws Error where a part cannot be read.
std::vector<std::byte> join_parts(std::vector<std::byte> bytes, const std::string& path, bool with_optimizer);

/// Replaces a checkpoint in parts by one file of the same name, and removes its parts where no other checkpoint beside
/// it lists them. False where it was one file already. Throws Error naming the file.
bool join_checkpoint(const std::string& path);

/// DIRECTORY/step-00001234.h5
std::string checkpoint_path(const std::string& directory, std::int64_t step);

/// DIRECTORY/best.h5: a whole training state like the others, but only a better one replaces it.
std::string best_checkpoint_path(const std::string& directory);

struct FoundCheckpoint {
  std::string path;
  std::vector<std::byte> bytes;  ///< verified
  TrainingState state;
};

/// The checkpoint with the highest step below `below` that can be used, best.h5 among them: its hash holds, its format
/// is this program's, and it holds the step that its name says. Each higher one that cannot, and a best.h5 that cannot,
/// is passed to `skipped` with the reason. Nothing where there is none (or no directory). Left-over temporary files are
/// ignored.
std::optional<FoundCheckpoint> find_newest_checkpoint(
    const std::string& directory,
    const std::function<void(const std::string& path, const std::string& reason)>& skipped,
    std::int64_t below = std::numeric_limits<std::int64_t>::max());

/// Removes the checkpoints of steps above `step`, up to `last`: a best.h5 of such a step, too.
void remove_checkpoints_after(const std::string& directory, std::int64_t step, std::int64_t last);
/// Instead gives them names that end in ".suspect", under which no run finds them.
void set_aside_checkpoints_after(const std::string& directory, std::int64_t step, std::int64_t last);

/// Keeps the newest step-*.h5 of a run's directory and removes older ones. Only files that can be used are counted:
/// those that this process has written or resumed, others once they have been read and found whole.
class CheckpointKeeper {
 public:
  /// `keep`: how many; 0: all.
  CheckpointKeeper(std::string directory, std::int64_t keep) : directory_(std::move(directory)), keep_(keep) {}

  /// This file need not be read: it is whole, and of the step in its name.
  void trust(const std::string& path) { usable_[path] = true; }
  /// For a run that is at `step`: removes what is older than the `keep` newest, but for the newest below `below`, and
  /// temporary files that a killed run left. Files above `step` stay and are not counted: the run has found them
  /// unusable when it began.
  void remove_old(std::int64_t step, std::int64_t below = 0);

 private:
  bool is_usable(const std::string& path, std::int64_t step);

  std::string directory_;
  std::int64_t keep_;
  std::map<std::string, bool> usable_;  ///< by path
};

}  // namespace convoy::io
