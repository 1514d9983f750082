/// Rank 0 finds the parts; each rank opens their files. Tables are read once up to their ends, by rank 0.
#include "data/arrays/array_source.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/input_shape.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/comm/gather.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/packed.h"

namespace convoy {

namespace {

constexpr std::int64_t kReadAheadBytes = std::int64_t{16} << 20;  // what all arrays read ahead together
constexpr const char* kValues = "values";                         // name of the only input, if it is no image
constexpr const char* kInputsKey = "import.inputs";
constexpr std::size_t kMaxIdBytes = 255;                     // a shard gives every name as many bytes as its longest
constexpr std::int64_t kMaxSamples = std::int64_t{1} << 40;  // so that no product with a size in bytes overflows

// --- Locations as bytes ----------------------------------------------------------------------------------------------

void pack(mpi::Packer& packed, const std::vector<std::string>& texts) {
  packed.add(std::ssize(texts));
  for (const std::string& text : texts) packed.add(text);
}

std::vector<std::string> unpack_texts(mpi::Unpacker& packed) {
  std::vector<std::string> texts;
  for (std::int64_t n = packed.number(); n > 0; --n) texts.emplace_back(packed.text());
  return texts;
}

std::vector<std::byte> pack(const std::vector<PartLocation>& locations) {
  mpi::Packer packed;
  for (const PartLocation& location : locations) {
    packed.add(static_cast<std::int64_t>(location.files.kind));
    pack(packed, location.files.paths);
    packed.add(location.array);
    pack(packed, location.columns);
  }
  return packed.bytes();
}

std::vector<PartLocation> unpack_locations(std::span<const std::byte> bytes) {
  std::vector<PartLocation> locations;
  for (mpi::Unpacker packed(bytes); !packed.is_empty();) {
    PartLocation& location = locations.emplace_back();
    location.files.kind = static_cast<ArrayFileKind>(packed.number());
    location.files.paths = unpack_texts(packed);
    location.array = packed.text();
    location.columns = unpack_texts(packed);
  }
  return locations;
}

// --- Finding ---------------------------------------------------------------------------------------------------------

// Finds the folder of pictures, then the target and the names of the pictures, and the groups.
std::vector<PartLocation> find_picture_parts(const ArraySourceSpec& spec, std::vector<std::string>& notes) {
  if (spec.inputs.size() > 1 || (!spec.inputs.empty() && !spec.inputs.front().where.empty()))
    refuse("{}: a sample of '{}' is one picture. Leave it out", kInputsKey, spec.path);
  if (spec.axes != AxesKind::kAuto) refuse("import.axes: pictures have rows, columns and channels. Leave it out");
  const ArrayFinder finder(spec.path, spec.key);
  const PartLocation folder{.files = {.kind = ArrayFileKind::kPictures, .paths = {spec.path}}};
  std::vector<PartLocation> all = {folder};
  std::optional<PartLocation> group;
  if (!spec.group.empty()) group = finder.find(spec.group, "import.group");
  if (!spec.target.empty())
    all.push_back(finder.find(spec.target, "import.target"));
  else if (spec.pictures->are_classes_folders)
    all.push_back(folder);
  if (!spec.id.empty())
    all.push_back(finder.find(spec.id, "import.id"));
  else if (!spec.target.empty() || group)
    all.push_back(find_picture_names(group ? *group : all.back(), spec.path, notes));
  else
    all.push_back({.files = {.kind = ArrayFileKind::kPictures, .paths = spec.pictures->names}, .array = spec.path});
  if (group) all.push_back(*group);
  return all;
}

// Finds inputs, then the target, the ids and the groups. The latter are looked for first, as a single input is what
// they leave.
std::vector<PartLocation> find_parts(const ArraySourceSpec& spec, std::vector<std::string>& notes) {
  if (spec.pictures) return find_picture_parts(spec, notes);
  const ArrayFinder finder(spec.path, spec.key);
  std::vector<PartLocation> others;
  const auto find_other = [&](const std::string& where, const char* key) {
    if (!where.empty()) others.push_back(finder.find(where, key));
  };
  find_other(spec.target, "import.target");
  find_other(spec.id, "import.id");
  find_other(spec.group, "import.group");
  std::vector<PartLocation> all;
  const std::vector<PartSpec> only(1);
  for (const PartSpec& part : spec.inputs.empty() ? only : spec.inputs)
    all.push_back(finder.find_input(part, kInputsKey, others));
  if (all.size() > io::kMaxArrays)
    refuse("{}: a sample has {} arrays. Allowed: 1 to {}", kInputsKey, all.size(), io::kMaxArrays);
  for (const PartLocation& input : all)
    if (!spec.target.empty() && input.files == others.front().files && input.array == others.front().array)
      for (const std::string& column : input.columns.empty() ? std::vector{input.array} : input.columns)
        if (input.columns.empty() || std::ranges::count(others.front().columns, column) > 0)
          refuse("{}: {} is the target, and cannot be an input, too", kInputsKey,
                 describe(input.columns.empty() ? input : others.front()));
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

// "x" of x.npy, of /data/x and of the folder x; the column, if there is only one.
std::string name_of(const PartLocation& location) {
  if (location.columns.size() == 1) return location.columns.front();
  if (!location.array.empty()) return location.array.substr(location.array.rfind('/') + 1);
  const std::filesystem::path path = location.files.paths.front();
  return location.files.paths.size() > 1 ? path.parent_path().filename().string() : path.stem().string();
}

// --- Axes ------------------------------------------------------------------------------------------------------------

/// Extents as they are stored, channels last, and where the file has the channels.
struct Axes {
  std::vector<std::int64_t> dims;
  ChannelAxis channels = ChannelAxis::kLast;

  bool has_channels_first() const { return channels == ChannelAxis::kFirst; }
};

Axes axes_of(const std::vector<std::int64_t>& dims, AxesKind axes) {
  Axes stored{.dims = dims};
  if (axes == AxesKind::kNone) {
    stored.dims.push_back(1);
    stored.channels = ChannelAxis::kNone;
  }
  if (axes != AxesKind::kChannelsFirst) return stored;
  std::rotate(stored.dims.begin(), stored.dims.begin() + 1, stored.dims.end());
  stored.channels = ChannelAxis::kFirst;
  return stored;
}

std::string meanings_of(const std::vector<std::int64_t>& dims) {
  if (dims.size() == 2)
    return fmt::format(
        "import.axes = channels_first if they are {0} channels of {1} values, channels_last if they are {0} positions "
        "of {1} channels, none if they are an image of {0} x {1} pixels",
        dims[0], dims[1]);
  return fmt::format(
      "import.axes = channels_first if the first axis is that of the channels ({}), channels_last if it is the last "
      "one ({}){}",
      dims.front(), dims.back(), dims.size() == 3 ? ", none if there is none" : "");
}

// Finds the axis of the channels. `part` is the input's name and place in messages.
Axes find_axes(const std::vector<std::int64_t>& dims, AxesKind axes, const std::vector<std::int64_t>& expected,
               const std::string& part, std::vector<std::string>& notes) {
  if (dims.size() < 2) return {.dims = dims.empty() ? std::vector<std::int64_t>{1} : dims};
  if (axes == AxesKind::kNone && dims.size() > 3)
    refuse("{}: import.axes = none would give a sample {} five axes with its channel. Allowed: at most four", part,
           in_brackets(dims));
  if (axes != AxesKind::kAuto) return axes_of(dims, axes);
  if (!expected.empty()) {
    std::vector<Axes> possible;
    for (const AxesKind kind : {AxesKind::kChannelsLast, AxesKind::kChannelsFirst, AxesKind::kNone})
      if (Axes stored = axes_of(dims, kind); stored.dims == expected) possible.push_back(std::move(stored));
    if (possible.size() == 1) return possible.front();
    if (possible.empty())
      refuse("{}: a sample is {}, but the network reads {}, with channels last. No order of its axes gives that. {}",
             part, in_brackets(dims), in_brackets(expected),
             dims.size() + 1 == expected.size() ? "If the file holds a single sample, save it as x[None]"
                                                : "Give samples of this shape, or say in import.inputs where they are");
  } else if (dims.size() > 2 && dims.front() != dims.back()) {
    const bool is_first = dims.front() < dims.back();
    notes.push_back(fmt::format(
        "{}: a sample is {}; its {} axis, the shorter one, is that of the channels "
        "(import.axes = {})",
        part, in_brackets(dims), is_first ? "first" : "last", is_first ? "channels_first" : "channels_last"));
    return axes_of(dims, is_first ? AxesKind::kChannelsFirst : AxesKind::kChannelsLast);
  }
  refuse("{}: a sample is {}. Which axis is that of the channels? {}", part, in_brackets(dims), meanings_of(dims));
}

// Finds the axis of the channels of a target: it has the pixels of an input, and may have no axis of channels. A target
// with other pixels is read as an input.
Axes find_target_axes(const std::vector<std::int64_t>& dims, AxesKind axes, const std::vector<io::ArrayInfo>& inputs,
                      bool has_channels_first, const std::string& part, std::vector<std::string>& notes) {
  if (dims.size() < 2) return {.dims = dims};
  const auto usual = has_channels_first ? AxesKind::kChannelsFirst : AxesKind::kChannelsLast;
  const auto other = has_channels_first ? AxesKind::kChannelsLast : AxesKind::kChannelsFirst;
  std::vector<AxesKind> kinds = {usual, AxesKind::kNone, other};
  if (axes == AxesKind::kChannelsFirst || axes == AxesKind::kChannelsLast) kinds = {axes, AxesKind::kNone};
  for (const AxesKind kind : kinds) {
    Axes stored = axes_of(dims, kind);
    for (const io::ArrayInfo& input : inputs)
      if (std::ranges::equal(input.dims.begin(), input.dims.end() - 1, stored.dims.begin(), stored.dims.end() - 1))
        return stored;
  }
  return find_axes(dims, axes, {}, part, notes);
}

}  // namespace

std::string describe(const PartLocation& location) {
  if (location.files.kind == ArrayFileKind::kPictures)
    return fmt::format("'{}'", location.array.empty() ? location.files.paths.front() : location.array);
  const std::string file = location.files.paths.size() > 1
                               ? std::filesystem::path(location.files.paths.front()).parent_path().string()
                               : location.files.paths.front();
  if (!location.array.empty()) return fmt::format("'{}', array '{}'", file, excerpt(location.array));
  if (location.columns.size() == 1) return fmt::format("'{}', column '{}'", file, excerpt(location.columns.front()));
  if (!location.columns.empty()) return fmt::format("'{}', {} columns", file, location.columns.size());
  return fmt::format("'{}'", file);
}

// --- Opening ---------------------------------------------------------------------------------------------------------

ArraySource::ArraySource(const ArraySourceSpec& spec, const mpi::Communicator& world) : key_(spec.key) {
  std::vector<std::byte> found;
  mpi::on_root(world, [&] { found = pack(find_parts(spec, notes_)); });
  locations_ = unpack_locations(world.broadcast(found, 0));
  mpi::on_all(world, [&] { open(spec, locations_); });
  if (world.rank() != 0) notes_.clear();
}

ArraySource::~ArraySource() = default;
ArraySource::ArraySource(ArraySource&&) noexcept = default;

void ArraySource::open(const ArraySourceSpec& spec, const std::vector<PartLocation>& locations) {
  if (locations.front().files.kind == ArrayFileKind::kPictures) return open_pictures(spec, locations);
  auto next = locations.begin();
  const std::vector<PartSpec> only(1);
  for (const PartSpec& part : spec.inputs.empty() ? only : spec.inputs) add_input(part, *next++, spec);
  if (!spec.target.empty()) {
    target_place_ = describe(*next);
    target_name_ = name_of(*next);
    source_of_target_ = source_of(*next);
    target_ = add_part(*next++);
    add_target(spec.axes);
  }
  if (!spec.id.empty()) id_ = add_part(*next++);
  if (!spec.group.empty()) group_ = add_part(*next++);
  if (id_ != nullptr && id_->num_values() != 1)
    refuse("import.id = {}: it has {} values for each sample. Give an array or a column with one", spec.id,
           id_->num_values());
  check_names();
}

SamplePart* ArraySource::add_part(const PartLocation& location) {
  return all_parts_.emplace_back(open_part(location, tables_, kReadAheadBytes / std::ssize(locations_))).get();
}

void ArraySource::add_input(const PartSpec& spec, const PartLocation& location, const ArraySourceSpec& source) {
  const bool is_only = source.inputs.size() < 2;
  const SamplePart& part = *add_part(location);
  if (!part.type()) refuse("{}: {} holds texts, and an input is numbers", kInputsKey, describe(location));
  const std::string of_network = spec.dims.empty() ? "" : fmt::format(", input '{}' of the network", spec.name);
  Axes stored = find_axes(part.dims(), source.axes, spec.dims, describe(location) + of_network, notes_);
  const bool has_channels_first = stored.has_channels_first();
  io::ArrayInfo& info = inputs_.emplace_back();
  const std::string usual = !is_only ? name_of(location) : stored.dims.size() > 2 ? features::kImage : kValues;
  info.name = spec.name.empty() ? usual : spec.name;
  info.type = part.type() == ElementType::kFloat64 ? ElementType::kFloat32 : *part.type();
  info.dims = std::move(stored.dims);
  info.channel_names = part.columns();
  if (info.channel_names.empty()) info.source = source_of(location);
  stored_.push_back({all_parts_.back().get(), info.type, info.channels(), has_channels_first});
}

void ArraySource::add_target(AxesKind axes) {
  if (!target_->type() || (target_->dims().size() < 2 && target_->num_values() <= io::kMaxTargetValues)) return;
  const auto is_first = [](const StoredPart& part) { return part.has_channels_first; };
  Axes stored =
      find_target_axes(target_->dims(), axes, inputs_, std::ranges::any_of(stored_, is_first), target_place_, notes_);
  form_of_target_ = {.shape = array_shape(stored.dims), .dims = stored.dims, .channel_axis = stored.channels};
  stored_.push_back({target_, ElementType::kFloat32, stored.dims.back(), stored.has_channels_first()});
}

void ArraySource::open_pictures(const ArraySourceSpec& spec, const std::vector<PartLocation>& locations) {
  const bool has_target = locations.size() > (spec.group.empty() ? 2u : 3u);
  std::unique_ptr<SamplePart> names = open_picture_names(locations[has_target ? 2 : 1], tables_, kReadAheadBytes);
  id_ = names.get();
  const SamplePart& pictures = *all_parts_.emplace_back(open_pictures_called(*id_, spec.path));
  io::ArrayInfo& info = inputs_.emplace_back();
  info = {.name = features::kImage, .type = *pictures.type(), .dims = pictures.dims()};
  if (info.type == ElementType::kFloat64) info.type = ElementType::kFloat32;
  stored_.push_back({all_parts_.back().get(), info.type, info.channels()});
  if (!spec.inputs.empty()) {
    info.name = spec.inputs.front().name;
    if (!spec.inputs.front().dims.empty() && spec.inputs.front().dims != info.dims)
      refuse("{} = {}: a picture is {}, but the network reads {} as its input '{}', with channels last", key_,
             spec.path, in_brackets(info.dims), in_brackets(spec.inputs.front().dims), info.name);
  }
  if (has_target) {
    const bool are_folders = locations[1].files.kind == ArrayFileKind::kPictures;
    target_place_ = describe(locations[1]);
    target_name_ = are_folders ? "class" : name_of(locations[1]);
    source_of_target_ = source_of(locations[1]);
    target_ = are_folders ? all_parts_.emplace_back(open_picture_classes(*id_)).get() : add_part(locations[1]);
  }
  all_parts_.push_back(std::move(names));
  if (!spec.group.empty()) group_ = add_part(locations.back());
  check_names();
}

void ArraySource::check_names() {
  try {
    io::check_arrays(inputs_, form_of_target_);
  } catch (const Error& error) {
    refuse("{}: {}", kInputsKey, error.what());
  }
}

// --- Counting --------------------------------------------------------------------------------------------------------

bool ArraySource::has(std::int64_t row) {
  return std::ranges::all_of(all_parts_, [row](const auto& part) { return part->has(row); });
}

void ArraySource::count(const mpi::Communicator& world) {
  mpi::on_root(world, [this] {
    try {
      check_counts(locations_);
    } catch (const Error& error) {
      refuse("{}", error.what());
    }
  });
  for (auto& [paths, table] : tables_) {
    std::vector<RowMark> marks = table->marks();
    mpi::broadcast_values(world, marks);
    if (world.rank() == 0 && !table->note().empty()) notes_.push_back(table->note());
    std::int64_t num_rows = table->num_rows();
    world.broadcast(&num_rows, sizeof num_rows, 0);
    table->set_marks(std::move(marks), num_rows);
  }
  num_samples_ = all_parts_.front()->num_samples();
  if (num_samples_ > kMaxSamples)
    refuse("{} has {} samples. Allowed: up to {}", describe(locations_.front()), num_samples_, kMaxSamples);
}

void ArraySource::check_counts(const std::vector<PartLocation>& locations) {
  const std::int64_t wanted = all_parts_.front()->num_samples();
  for (std::size_t i = 1; i < all_parts_.size(); ++i)
    if (const std::int64_t found = all_parts_[i]->num_samples(); found != wanted)
      refuse("{}: {} has {}, but {} has {}. All parts need the same number", key_, describe(locations.front()),
             counted(wanted, "sample"), describe(locations[i]), counted(found, "sample"));
}

// --- Reading ---------------------------------------------------------------------------------------------------------

std::int64_t ArraySource::record_bytes() const {
  std::int64_t bytes = 0;
  for (const StoredPart& part : stored_) bytes += part.part->num_values() * size_of(part.type);
  return bytes;
}

// Returns the values of a part in the type of the record, still in the file's order.
std::span<const std::byte> ArraySource::as_stored(StoredPart& part, std::int64_t row) {
  const std::span<const std::byte> values = part.part->values(row);
  if (part.part->type() == part.type) return values;
  doubles_.resize(static_cast<std::size_t>(part.part->num_values()));
  rounded_.resize(doubles_.size());
  convert_to_doubles(*part.part->type(), values, doubles_);
  if (const std::int64_t beyond = round_to_float32(doubles_, rounded_, part.loss); beyond >= 0)
    fail("{}: value {} of the sample is {}, which is beyond float32. Scale it, or take its logarithm",
         part.part->place(row), beyond, doubles_[static_cast<std::size_t>(beyond)]);
  return std::as_bytes(std::span(rounded_));
}

void ArraySource::read_record(std::int64_t row, std::span<std::byte> record) {
  for (StoredPart& part : stored_) record = record.subspan(read_part(part, row, record));
}

// Returns the size of the part.
std::size_t ArraySource::read_part(StoredPart& part, std::int64_t row, std::span<std::byte> to) {
  const std::span<const std::byte> values = as_stored(part, row);
  if (part.has_channels_first)
    move_channels_last(part.channels, size_of(part.type), values, to.first(values.size()));
  else
    std::ranges::copy(values, to.begin());
  return values.size();
}

std::string ArraySource::name(std::int64_t row) {
  if (id_ == nullptr) return place(row);
  std::string name(id_->text(row, 0));
  if (name.size() > kMaxIdBytes)
    refuse("import.id: {} has a name of {} bytes. Allowed: up to {}", id_->place(row), name.size(), kMaxIdBytes);
  return name;
}

std::vector<LossOfPrecision> ArraySource::losses() const {
  std::vector<LossOfPrecision> losses;
  for (const StoredPart& part : stored_) losses.push_back(part.loss);
  return losses;
}

}  // namespace convoy
