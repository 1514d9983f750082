/// Tells the two kinds of files apart by their content: a safetensors file begins with its header, a checkpoint ends
/// with its hash.
#include "checkpoint/weights_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/wording.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/foreign_kind.h"

namespace convoy {

namespace fs = std::filesystem;

namespace {

// Returns "runs/a/checkpoints/best.h5, ..." for a run's directory or a folder of checkpoints; empty if there are none.
std::string files_of_weights(const fs::path& folder) {
  std::vector<std::string> found;
  for (const fs::path& path : {folder, folder / "checkpoints"}) {
    std::error_code unknown;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, unknown)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".h5" || extension == ".safetensors") found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());  // best.h5 before step-00000001.h5
  return first_few(found, 3);
}

}  // namespace

void check_is_no_folder(const std::string& path) {
  std::error_code unknown;
  if (!fs::is_directory(path, unknown)) return;
  const std::string files = files_of_weights(path);
  refuse("it is a folder. Give a file{}",
         files.empty() ? ": a checkpoint, or weights in safetensors" : ", as in " + files);
}

std::vector<std::byte> read_weights_file(const std::string& path) {
  check_is_no_folder(path);
  if (io::is_safetensors_file(path)) return io::read_safetensors_file(path);  // first: it may begin with any number
  if (const auto foreign = io::find_foreign_kind(path))
    refuse("it is {}, neither a checkpoint nor a .safetensors file. {}", foreign->name, foreign->remedy);
  return io::join_parts(io::read_checkpoint_file(path), path, /*with_optimizer=*/false);
}

void check_values(const std::vector<io::NamedTensor>& tensors, const std::string& where) {
  for (const io::NamedTensor& tensor : tensors) {
    const bool is_variance = tensor.name.ends_with("running_var");
    const auto is_wrong = [&](float value) { return !std::isfinite(value) || (is_variance && value < 0); };
    const auto found = std::find_if(tensor.values.begin(), tensor.values.end(), is_wrong);
    if (found == tensor.values.end()) continue;
    refuse(
        "'{}': value {} of {} of tensor '{}' is {}, which is not a {}. The file is damaged, or comes from a training "
        "that diverged: use an earlier checkpoint, or other weights",
        where, found - tensor.values.begin() + 1, tensor.values.size(), tensor.name, *found,
        std::isfinite(*found) ? "variance" : "finite number (in float32)");
  }
}

namespace {

void strip_prefix(io::StateDict& dict, const std::string& prefix, const std::string& where) {
  std::set<std::string> names;
  bool is_found = false;
  for (io::NamedTensor& tensor : dict.tensors) {
    const bool has_prefix = tensor.name.starts_with(prefix);
    if (has_prefix) tensor.name.erase(0, prefix.size());
    is_found = is_found || has_prefix;
    if (!names.insert(tensor.name).second)
      refuse("init.strip_prefix = {}: '{}' would then have two tensors named '{}'. Give another prefix, or none",
             prefix, where, tensor.name);
  }
  if (!is_found && !dict.tensors.empty())
    refuse(
        "init.strip_prefix = {}: no tensor name in '{}' begins with this prefix; the first name is '{}'. Give another "
        "prefix, or none",
        prefix, where, dict.tensors.front().name);
  std::map<std::string, std::int64_t> counters;
  for (const auto& [name, count] : dict.counters)
    counters[name.starts_with(prefix) ? name.substr(prefix.size()) : name] = count;
  dict.counters = std::move(counters);
}

}  // namespace

FileWeights decode_weights(std::span<const std::byte> bytes, const std::string& where, WeightsKind kind,
                           const std::string& prefix) {
  FileWeights weights;
  io::StateDict& dict = weights.dict;
  if (io::looks_like_safetensors(bytes)) {
    dict = io::decode_safetensors(bytes, where);
  } else {
    io::Checkpoint checkpoint = io::decode_checkpoint(bytes, where);
    weights.of_ema = kind == WeightsKind::kEma && !checkpoint.ema.empty();
    dict.tensors = std::move(weights.of_ema ? checkpoint.ema : checkpoint.model);
    weights.metadata = std::move(checkpoint.metadata);
    weights.parameters = std::move(checkpoint.parameters);
    dict.counters = std::move(checkpoint.counters);
  }
  if (!prefix.empty()) strip_prefix(dict, prefix, where);
  check_values(dict.tensors, where);
  for (const io::NamedTensor& tensor : dict.tensors)
    if (const std::string name = io::counter_name(tensor.name); !name.empty()) dict.counters.emplace(name, 0);
  return weights;
}

}  // namespace convoy
