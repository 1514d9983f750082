/// Checkpoints in parts to test with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"

namespace convoy::test {

/// The values of a tensor (O,I,H,W) in the order (O,H,W,I), in which it is cut.
inline std::vector<float> with_pixels_first(const io::NamedTensor& tensor) {
  const std::int64_t filters = tensor.dims[0], channels = tensor.dims[1], area = tensor.dims[2] * tensor.dims[3];
  std::vector<float> values;
  for (std::int64_t o = 0; o < filters; ++o)
    for (std::int64_t p = 0; p < area; ++p)
      for (std::int64_t i = 0; i < channels; ++i) values.push_back(tensor.values[(o * channels + i) * area + p]);
  return values;
}

/// A checkpoint and its parts as ranks would write them: parts of about equal size, the last ones of small tensors
/// empty.
struct SplitCheckpoint {
  io::Checkpoint checkpoint;                  ///< names, shapes and the list of parts
  std::vector<std::vector<std::byte>> files;  ///< by part
};

inline SplitCheckpoint split(const io::Checkpoint& whole, std::int64_t num_parts, std::int64_t save = 7) {
  SplitCheckpoint split{.checkpoint = whole, .files = {}};
  io::CheckpointParts& parts = split.checkpoint.parts.emplace();
  parts.folder = io::parts_folder(whole.state.step, save);
  std::vector<std::vector<io::PartEntry>> entries(static_cast<std::size_t>(num_parts));
  std::map<std::string, std::vector<float>> kept;  // values that entries refer to
  const auto cut = [&](const std::string& group, std::vector<io::NamedTensor>& tensors) {
    for (io::NamedTensor& tensor : tensors) {
      io::PieceList list{.cuts_pixels_first = tensor.dims.size() == 4, .pieces = {}};
      std::vector<float>& values = kept[group + " " + tensor.name];
      values = list.cuts_pixels_first ? with_pixels_first(tensor) : tensor.values;
      const std::int64_t size = tensor.count() / num_parts + 1;
      for (std::int64_t part = 0; part < num_parts && part * size < tensor.count(); ++part) {
        list.pieces.push_back({part, part * size, std::min(size, tensor.count() - part * size)});
        entries[part].push_back(
            {group, tensor.name,
             std::span(values).subspan(part * size, static_cast<std::size_t>(list.pieces.back().count))});
      }
      parts.tensors[tensor.name] = std::move(list);
      tensor.values.clear();
    }
  };
  cut(io::groups::kModel, split.checkpoint.model);
  cut(io::groups::kEma, split.checkpoint.ema);
  for (auto& [state, tensors] : split.checkpoint.optimizer) cut(io::groups::of_optimizer(state), tensors);
  for (const auto& part : entries) {
    split.files.push_back(io::encode_part(part));
    parts.files.push_back(io::describe_part(split.files.back()));
  }
  return split;
}

/// Writes the parts first, then the checkpoint, as a run does.
inline void write_parts(const SplitCheckpoint& split, const std::string& path) {
  const std::string &folder = split.checkpoint.parts->folder, directory = std::filesystem::path(path).parent_path();
  io::make_directory(directory + "/" + folder);
  for (std::int64_t part = 0; part < std::ssize(split.files); ++part)
    io::write_file_atomically(io::part_path(directory, folder, part), split.files[part]);
  io::write_file_atomically(path, io::encode_checkpoint(split.checkpoint));
}

}  // namespace convoy::test
