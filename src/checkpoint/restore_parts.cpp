/// Restores a checkpoint in parts. Values are moved only: the files store them as the ranks hold them.
#include <algorithm>
#include <map>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/checkpoint_parts.h"

#include "checkpoint/arena_tensors.h"
#include "checkpoint/checkpointing.h"
#include "checkpoint/weights_file.h"

namespace convoy {

namespace {

/// A range of an entry of this stage's arena that a file has.
struct StagePiece {
  const ArenaEntry* entry;
  io::Piece piece;

  std::int64_t begin() const { return entry->offset + piece.first; }
  std::int64_t end() const { return begin() + piece.count; }
};

std::map<std::int64_t, std::vector<StagePiece>> pieces_by_part(const ArenaLayout& layout,
                                                               const io::CheckpointParts& parts) {
  std::map<std::int64_t, std::vector<StagePiece>> by_part;
  for (const ArenaEntry& entry : layout.entries) {
    const io::PieceList& list = parts.tensors.at(entry.spec.name);
    if (list.cuts_pixels_first != (entry.spec.file_order == FileOrder::kChannelsBeforePixels))
      fail("the values of tensor '{}' are stored in an order that this program does not read", entry.spec.name);
    for (const io::Piece& piece : list.pieces) by_part[piece.part].push_back({&entry, piece});
  }
  return by_part;
}

/// The host's copy of the values that the rank will hold.
class StageValues {
 public:
  StageValues(const TrainingStep& training, bool has_ema)
      : owned_(training), has_ema_(has_ema), parameters_(training.runtime().stage().plan().layout.count, 0.0f) {
    shards_.resize(owned_.groups().size() - 1, std::vector<float>(owned_.shard().count, 0.0f));
  }

  void read(const io::PartReader& part, const StagePiece& from, const std::string& where) {
    const ParameterSpec& spec = from.entry->spec;
    std::vector<float> values = part.read(owned_.groups().front(), spec.name, from.piece.count);
    check_values({{.name = spec.name, .dims = {from.piece.count}, .values = values}}, where);
    std::ranges::copy(values, parameters_.begin() + from.begin());
    for (std::int64_t group = 1; group < owned_.num_groups(); ++group) {
      const bool is_there = owned_.groups()[group] == io::groups::kEma ? has_ema_ : !spec.is_statistic();
      if (is_there && is_mine(from))
        copy_mine(from, part.read(owned_.groups()[group], spec.name, from.piece.count), group);
    }
  }
  const std::vector<float>& parameters() const { return parameters_; }
  /// Returns the shards of the optimizer states, then that of the moving average.
  const std::vector<std::vector<float>>& shards() const { return shards_; }

 private:
  bool is_mine(const StagePiece& piece) const {
    return std::ranges::any_of(owned_.shard().slices, [&](const Slice& slice) {
      return std::max(slice.begin, piece.begin()) < std::min(slice.end, piece.end());
    });
  }
  void copy_mine(const StagePiece& piece, const std::vector<float>& values, std::int64_t group) {
    const Shard& shard = owned_.shard();
    for (std::size_t b = 0; b < shard.slices.size(); ++b) {
      const std::int64_t begin = std::max(shard.slices[b].begin, piece.begin());
      const std::int64_t end = std::min(shard.slices[b].end, piece.end());
      if (begin < end)
        std::copy_n(values.begin() + (begin - piece.begin()), end - begin,
                    shards_[group - 1].begin() + shard.offsets[b] + begin - shard.slices[b].begin);
    }
  }

  OwnedValues owned_;
  bool has_ema_;
  std::vector<float> parameters_;
  std::vector<std::vector<float>> shards_;
};

}  // namespace

void restore_parts(const io::Checkpoint& checkpoint, const std::string& path, TrainingStep& training) {
  RankRuntime& runtime = training.runtime();
  const bool has_ema = training.has_ema() && !checkpoint.ema.empty();
  StageValues values(training, has_ema);
  for (const auto& [part, pieces] : pieces_by_part(runtime.stage().plan().layout, *checkpoint.parts)) {
    const io::PartReader reader(path, *checkpoint.parts, part);
    for (const StagePiece& piece : pieces) values.read(reader, piece, path);
  }
  runtime.finish();
  Device& device = runtime.device();
  const auto copy = [&](float* to, const std::vector<float>& from) {
    device.copy_to_device(to, from.data(), std::ssize(from) * kFloatBytes);
  };
  copy(runtime.stage().parameters().masters, values.parameters());
  device.synchronize();
  runtime.take_new_parameters();
  const auto states = training.update().states();
  for (std::size_t k = 0; k < states.size(); ++k) copy(states[k], values.shards()[k]);
  if (has_ema) copy(training.update().ema(), values.shards().back());
  device.synchronize();  // the host's copies are freed at the end of this scope
}

}  // namespace convoy
