/// Reads and writes checkpoints. A checkpoint is one HDF5 file, independent of the layout, written completely or not at
/// all, and verified before it is used. Its values may be in parts in a folder next to it
/// (convoy/io/checkpoint_parts.h); otherwise it holds
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
#include <variant>
#include <vector>

#include "convoy/base/features.h"
#include "convoy/base/input_shape.h"
#include "convoy/io/checkpoint_parts.h"
#include "convoy/io/tokenization.h"
#include "convoy/params/parameters.h"

namespace convoy::io {

struct NamedTensor {
  std::string name;                ///< name of the tensor: "layer1.0.conv1.weight"
  std::vector<std::int64_t> dims;  ///< dimensions: (O,I,H,W), (O,I) or (C)
  std::vector<float> values;       ///< values in row-major order

  std::int64_t count() const;  ///< number of values of this shape
};

/// The preparation that turns images into a network's input.
struct ImageInput {
  ImageShape shape;      ///< height, width and channels of the input
  bool resizes = false;  ///< whether training resized images to this shape; false: the images already had it
  /// Length to which an image's short side is resized before the centre is cut out, in pixels.
  std::int64_t short_side = 0;
  bool orients = false;    ///< whether the images were rotated as their Exif orientation says (import.orient)
  bool normalizes = true;  ///< whether values are normalised: (x - mean) / standard deviation, channel by channel
  /// (C) mean and standard deviation of the training set's pixel values / 255.
  std::vector<double> channel_mean, channel_stddev;

  bool operator==(const ImageInput&) const = default;
};

/// Returns the normalisation as text: "mean 0.485, 0.456, 0.406, standard deviation 0.229, 0.224, 0.225", or that
/// values are not normalised.
std::string describe_normalisation(const ImageInput& input);

/// The preparation that turns texts into a network's input.
struct TextInput {
  std::int64_t length = 0;    ///< number of tokens that the network reads per text
  Tokenization tokenization;  ///< tokenization of the training set
  ColumnNames columns = {};   ///< columns of the tables from which the training set was imported

  bool operator==(const TextInput&) const = default;
};

/// The information that an evaluation needs about a trained network: its input and the names of its classes.
struct ModelMetadata {
  std::string name;                    ///< name of the network (model.name)
  TransformerParams transformer = {};  ///< shape of a transformer; only for networks that read texts
  std::variant<ImageInput, TextInput> input;
  std::vector<std::string> class_names;  ///< names of the classes, in the order of the logits

  /// The kind of the network's input: input_kinds::kText or kImages (convoy/base/features.h).
  const char* kind() const { return text() != nullptr ? input_kinds::kText : input_kinds::kImages; }
  InputShape shape() const;
  /// The preparation of images. Throws std::bad_variant_access for a network that reads texts.
  const ImageInput& image() const { return std::get<ImageInput>(input); }
  /// The preparation of texts; null for a network that reads images.
  const TextInput* text() const { return std::get_if<TextInput>(&input); }
};

/// Sums over the steps of an epoch for one objective (loss) of the network.
struct EpochSums {
  double loss = 0;
  std::int64_t num_correct = 0, num_samples = 0, num_labels = 0;

  bool operator==(const EpochSums&) const = default;
};

struct TrainingState {
  std::int64_t step = 0;  ///< number of steps that the training has completed
  /// Number of samples that the training has read; the position in the epoch follows from `step`.
  std::int64_t samples = 0;
  std::int64_t seed = 0;
  std::int64_t batch_global = 0;
  std::int64_t batch_micro = 0;
  std::int64_t num_samples = 0;  ///< number of samples of the training set
  /// Dataset::content_hash() of the training set; 0: not known, since an older Convoy wrote the file.
  std::int64_t train_hash = 0;
  std::int64_t metric_hash = 0;     ///< content hash of the data set on which best_value was measured; 0: not known
  std::int64_t evaluated_step = 0;  ///< step of the last row of log.csv
  /// Metric that selects the best checkpoint (train.metric); older files without it use top-1.
  std::string metric = "top1";
  double best_value = 0;              ///< best value of `metric` so far, on data.val or, without it, on data.test
  std::int64_t best_step = 0;         ///< step at which best_value was measured; 0: not measured yet
  std::int64_t updates = 0;           ///< number of steps whose update was applied, not skipped
  double loss_scale = 1;              ///< loss scale of fp16: the factor of the loss's gradient
  std::int64_t loss_scale_steps = 0;  ///< number of good steps in a row with this loss scale, after which it is doubled
  /// Sums over the steps of the unfinished epoch, for each objective (at least one), so that the epoch's line in the
  /// log is the same after a restart.
  std::vector<EpochSums> epoch = {{}};
  /// State of the check whether the loss diverges (LossRange): the moving average of the training loss, the lowest
  /// value of this average, and the step at which the loss left its normal range (0: it is within).
  double loss_average = 0;
  double loss_lowest = std::numeric_limits<double>::infinity();
  std::int64_t loss_left_step = 0;
  /// State of the handling of bad steps (run/bad_steps.h): the number of skipped steps, in all and in a row, and the
  /// number of rollbacks.
  std::int64_t bad_steps = 0, bad_steps_in_row = 0, rollbacks = 0;
  /// Factor by which rollbacks have changed the learning rate.
  double rate_factor = 1;
};

/// The name of a batch normalisation's step counter, from the name of its running mean: "bn1.num_batches_tracked" for
/// "bn1.running_mean". Empty for the names of other tensors.
std::string counter_name(const std::string& tensor_name);

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

/// Returns the fingerprint (convoy/base/fingerprint.h) of all values of these tensors, a 64-bit number that does not
/// depend on the layout.
std::uint64_t fingerprint(const std::vector<NamedTensor>& tensors);

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

/// Removes the checkpoints of steps in (step, last], and best.h5 if it is of such a step.
void remove_checkpoints_after(const std::string& directory, std::int64_t step, std::int64_t last);
/// Renames the checkpoints of steps in (step, last], and best.h5 if it is of such a step, to names that end in
/// ".suspect", so that no run finds them.
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
