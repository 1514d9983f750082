/// The files of a checkpoint in parts: their names, their content, and which of them are still needed.
#include "convoy/io/checkpoint_parts.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"

#include "io/hash.h"
#include "io/hdf5.h"
#include "io/parts_list.h"
#include "io/trailer.h"

namespace convoy::io {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderSuffix = ".parts";

const FileKind& part_kind() {
  static const FileKind kKind{.name = "part of a checkpoint", .magics = {magic::kPart}};
  return kKind;
}

// The number in "step-00000100-7.parts"; nothing for other names.
std::optional<std::int64_t> save_of(std::string_view name) {
  if (!name.starts_with("step-") || !name.ends_with(kFolderSuffix)) return std::nullopt;
  name.remove_suffix(kFolderSuffix.size());
  return parse_number<std::int64_t>(name.substr(name.rfind('-') + 1));
}

// The entries of a directory; none if it does not exist.
std::vector<fs::directory_entry> entries_of(const std::string& directory) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    entries.push_back(*entry);
  return entries;
}

// Reorders values from (O,H,W,I) to (O,I,H,W).
std::vector<float> with_channels_first(const std::vector<float>& values, const std::vector<std::int64_t>& dims) {
  const std::int64_t filters = dims[0], channels = dims[1], area = dims[2] * dims[3];
  std::vector<float> sorted(values.size());
  for (std::int64_t o = 0; o < filters; ++o)
    for (std::int64_t p = 0; p < area; ++p)
      for (std::int64_t i = 0; i < channels; ++i)
        sorted[(o * channels + i) * area + p] = values[(o * area + p) * channels + i];
  return sorted;
}

/// The piece of a tensor that a part holds.
struct Wanted {
  std::string group;
  NamedTensor* tensor;
  Piece piece;
};

}  // namespace

std::int64_t CheckpointParts::size_bytes() const {
  std::int64_t bytes = 0;
  for (const PartFile& file : files) bytes += file.size_bytes;
  return bytes;
}

std::string parts_folder(std::int64_t step, std::int64_t save) {
  return fmt::format("step-{:08}-{}{}", step, save, kFolderSuffix);
}

std::int64_t last_save(const std::string& directory) {
  std::int64_t last = 0;
  for (const fs::directory_entry& entry : entries_of(directory))
    last = std::max(last, save_of(entry.path().filename().string()).value_or(0));
  return last;
}

std::string part_path(const std::string& directory, const std::string& folder, std::int64_t part) {
  return (fs::path(directory) / folder / fmt::format("{}.h5", part)).string();
}

std::vector<std::byte> encode_part(const std::vector<PartEntry>& entries) {
  std::size_t value_bytes = 0;
  for (const PartEntry& entry : entries) value_bytes += entry.values.size_bytes();
  std::vector<std::byte> bytes = hdf5::encode_in_memory(value_bytes, [&](hid_t file) {
    for (const PartEntry& entry : entries) {
      const hdf5::Group group = hdf5::open_or_create_groups(file, entry.group);
      const std::int64_t count = std::ssize(entry.values);
      hdf5::write_values(hdf5::create_array(group, entry.name, H5T_IEEE_F32LE, {&count, 1}), entry.values);
    }
  });
  append_trailer(bytes, magic::kPart);
  return bytes;
}

PartFile describe_part(std::span<const std::byte> bytes) {
  return {.size_bytes = std::ssize(bytes), .hash = fmt::format("{:02x}", fmt::join(hash_of(bytes), ""))};
}

struct PartReader::Open {
  std::vector<std::byte> bytes;
  hdf5::File file;

  explicit Open(std::vector<std::byte> all)
      : bytes(std::move(all)),
        file(hdf5::open_in_memory(std::span(bytes).first(bytes.size() - kTrailerBytes), bytes.size() - kTrailerBytes)) {
  }
};

PartReader::PartReader(const std::string& path, const CheckpointParts& parts, std::int64_t part)
    : path_(part_path(fs::path(path).parent_path().string(), parts.folder, part)) {
  if (std::error_code unknown; fs::status(path_, unknown).type() == fs::file_type::not_found)
    fail("its part '{}' is missing: the directory {} must be next to the checkpoint", path_, parts.folder);
  try {
    std::vector<std::byte> bytes = read_with_trailer(path_, part_kind());
    if (describe_part(bytes) != parts.files.at(static_cast<std::size_t>(part)))
      fail("it is whole, but not the part that was written for this checkpoint");
    open_ = std::make_unique<Open>(std::move(bytes));
  } catch (const Error& error) {
    fail("its part '{}': {}", path_, error.what());
  }
}

PartReader::~PartReader() = default;

std::vector<float> PartReader::read(const std::string& group, const std::string& name, std::int64_t count) const {
  try {
    const hdf5::Group parent = hdf5::open_group(open_->file, group);
    const hdf5::Array array = hdf5::open_array(parent, name, H5T_IEEE_F32LE, open_->bytes.size());
    if (array.count() != count) fail("it holds {} values of {}/{}, not {}", array.count(), group, name, count);
    return hdf5::read_values<float>(array);
  } catch (const Error& error) {
    fail("its part '{}': {}", path_, error.what());
  }
}

std::optional<std::string> find_damage_in_parts(const std::string& path, const CheckpointParts& parts) {
  try {
    for (std::int64_t part = 0; part < std::ssize(parts.files); ++part) PartReader(path, parts, part);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

void load_values(Checkpoint& checkpoint, const std::string& path, std::optional<std::string> group) {
  if (!checkpoint.parts) return;
  // 1. List the pieces in each part
  std::map<std::int64_t, std::vector<Wanted>> wanted;
  std::vector<NamedTensor*> with_pixels_first;
  for_each_group(checkpoint, [&](const std::string& each, std::vector<NamedTensor>& tensors) {
    if (group && *group != each) return;
    for (NamedTensor& tensor : tensors) {
      const PieceList& list = checkpoint.parts->tensors.at(tensor.name);
      for (const Piece& piece : list.pieces) wanted[piece.part].push_back({each, &tensor, piece});
      if (list.cuts_pixels_first) with_pixels_first.push_back(&tensor);
      tensor.values.resize(static_cast<std::size_t>(tensor.count()));
    }
  });
  // 2. Read part after part
  for (const auto& [part, of_part] : wanted) {
    const PartReader reader(path, *checkpoint.parts, part);
    for (const Wanted& each : of_part)
      std::ranges::copy(reader.read(each.group, each.tensor->name, each.piece.count),
                        each.tensor->values.begin() + each.piece.first);
  }
  for (NamedTensor* tensor : with_pixels_first) tensor->values = with_channels_first(tensor->values, tensor->dims);
}

void remove_unlisted_parts(const std::string& directory) {
  const std::vector<fs::directory_entry> entries = entries_of(directory);
  std::set<std::string> listed;
  std::vector<fs::path> folders;
  try {
    for (const fs::directory_entry& entry : entries) {
      const std::string path = entry.path().string();
      if (entry.is_directory() && save_of(entry.path().filename().string())) folders.push_back(entry.path());
      if (!entry.is_regular_file() || !ends_with(read_trailer(path), magic::kCheckpointOfParts)) continue;
      listed.insert(decode_checkpoint(read_with_trailer(path, checkpoint_kind()), path).parts->folder);
    }
  } catch (const std::exception&) {  // the unreadable file may list any of the folders
    return;
  }
  for (const fs::path& folder : folders) {
    if (listed.contains(folder.filename().string())) continue;
    std::error_code error;
    fs::remove_all(folder, error);
    if (error) log_warning(fmt::format("cannot remove '{}': {}", folder.string(), error.message()));
  }
}

}  // namespace convoy::io
