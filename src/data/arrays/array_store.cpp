/// Each array of the samples has a source of its own, which reads its part of the files in order.
#include "data/arrays/array_store.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/comm/gather.h"
#include "convoy/comm/on_root.h"
#include "convoy/ops/softmax_cross_entropy.h"

#include "data/arrays/array_files.h"
#include "data/arrays/element_values.h"
#include "data/arrays/target_columns.h"

namespace convoy {

namespace {

// Returns where each array of the network is: as import.inputs says, else where its name or its columns are.
std::vector<PartSpec> parts_of(const ArrayFileOptions& options) {
  const std::vector<PartSpec> given =
      options.inputs.empty() ? std::vector<PartSpec>() : parse_parts(options.inputs, "import.inputs");
  const bool is_only = options.arrays.size() == 1 && given.size() == 1;
  std::vector<PartSpec> parts;
  for (const io::ArrayInfo& array : options.arrays) {
    PartSpec part{
        .name = array.name, .where = "", .columns = array.channel_names, .array = array.source, .dims = array.dims};
    for (const PartSpec& one : given)
      if (one.name == array.name || (is_only && one.name.empty())) part.where = one.where;
    if (!given.empty() && part.where.empty())
      refuse("import.inputs = {} does not name '{}', which the network reads: {}. Name all of them, as in '{}: WHERE'",
             options.inputs, array.name, io::describe_forms(options.arrays), array.name);
    parts.push_back(std::move(part));
  }
  return parts;
}

// Whether an array has as many values for each sample as the network answers.
bool may_be_target(ArrayFileKind kind, const std::string& path, const std::string& name,
                   const ArrayFileOptions& options) {
  const Target& answer = options.answer;
  const std::int64_t given = open_array(kind, path, name)->form().values_of_sample();
  const std::int64_t wanted =
      answer.kind == TargetKind::kClass ? 1 : answer.num_values(std::ssize(options.output_names));
  if (given == wanted || (answer.kind == TargetKind::kLabels && given == 1)) return true;
  log_warning(
      fmt::format("'{}': the array '{}' has {} for each sample, but the network answers {}. It is not used as the "
                  "target",
                  path, excerpt(name), counted(given, "value"), wanted));
  return false;
}

// Returns import.target or, if that is empty, the array or column of a file that is named as the target of the import,
// or the columns that are named as the labels or numbers of the network; empty if there are none.
std::string find_target(const std::string& path, const ArrayFileOptions& options) {
  if (!options.target.empty()) return options.target;
  const auto kind = find_array_file_kind(path);
  if (!kind || *kind == ArrayFileKind::kNpy) return "";
  const bool is_table = *kind == ArrayFileKind::kTable;
  const std::vector<std::string> names = names_in({.kind = *kind, .paths = {path}});
  const auto has = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
  const std::string& source = options.answer.source;
  if (!source.empty() && has(source) && (is_table || may_be_target(*kind, path, source, options))) return source;
  if (!is_table || options.answer.kind == TargetKind::kClass || !std::ranges::all_of(options.output_names, has))
    return "";
  return fmt::format("{}", fmt::join(options.output_names, "|"));
}

// Returns the form of a target, which must be that of the network. Labels of several columns, or of a list in one.
TargetForm form_of(const ArraySource& source, const ArrayFileOptions& options) {
  const SamplePart& part = *source.target();
  const std::int64_t given = part.num_values(), wanted = std::ssize(options.output_names);
  TargetForm form{.kind = options.answer.kind, .names = options.output_names};
  if (const Target& found = source.form_of_target(); found.dims != options.answer.dims)
    refuse(
        "import.target: {} is {} for each sample, with channels last, but the network answers {}. Predict samples "
        "of the size that it was trained on",
        source.target_place(), io::describe_extents(found, given), io::describe_extents(options.answer, wanted));
  if (options.answer.is_in_record()) return form;
  form.are_lists = options.answer.kind == TargetKind::kLabels && given == 1 && (wanted > 1 || !part.type());
  check_part(part, form, source.target_place());
  return form;
}

}  // namespace

/// A source, and the record that was read last.
struct ArrayStore::Reader {
  Reader(const ArraySourceSpec& spec, const std::vector<io::ArrayInfo>& expected, const mpi::Communicator& world)
      : source(spec, world), inputs(source.inputs()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].fills_missing = expected[i].fills_missing;
    source.count(world);
    record.resize(static_cast<std::size_t>(source.record_bytes()));
  }

  // Reads the whole record of a sample, since a sample is bad for all stages if one of its arrays is.
  void read(std::int64_t sample) {
    if (sample == row) return;
    row = -1;
    source.read_record(sample, record);
    std::span<const std::byte> rest = record;
    for (const io::ArrayInfo& array : inputs) {
      const auto bytes = static_cast<std::size_t>(array.bytes());
      const auto find_bad = array.fills_missing ? find_infinite : find_not_finite;
      if (const std::int64_t bad = find_bad(array.type, rest.first(bytes), 0); bad >= 0)
        fail("{} is {} ({})",
             array.channel_names.empty() ? fmt::format("its value {} of '{}'", bad, array.name)
                                         : fmt::format("its column '{}'", excerpt(array.channel_names[bad])),
             array.fills_missing ? "infinite" : "NaN or infinite", source.place(sample));
      rest = rest.subspan(bytes);
    }
    row = sample;
  }

  std::mutex mutex;
  ArraySource source;
  std::vector<io::ArrayInfo> inputs;
  std::vector<std::byte> record;
  std::int64_t row = -1;
};

ArrayStore::ArrayStore(const std::string& path, const std::string& key, const ArrayFileOptions& options,
                       const mpi::Communicator& world) {
  std::string target;
  mpi::on_root(world, [&] { target = find_target(path, options); });
  target = world.broadcast(target, 0);
  SourceListing pictures =
      list_on_root(world, [&] { return options.arrays.size() == 1 ? list_pictures(path, key) : SourceListing(); });
  ArraySourceSpec spec{.path = path, .key = key, .inputs = parts_of(options), .target = target, .axes = options.axes};
  spec.id = options.id;
  if (!pictures.splits.empty()) add_pictures(pictures, spec);
  readers_.push_back(std::make_unique<Reader>(spec, options.arrays, world));
  const ArraySource& source = readers_.front()->source;
  const bool has_target_in_record = source.form_of_target().is_in_record();
  spec.id = "";
  if (!has_target_in_record) spec.target = "";
  while (readers_.size() < options.arrays.size())
    readers_.push_back(std::make_unique<Reader>(spec, options.arrays, world));
  for (auto& reader : target_readers_)
    if (has_target_in_record) reader = std::make_unique<Reader>(spec, options.arrays, world);
  info_.kind = input_kinds::kArrays;
  info_.num_samples = source.num_samples();
  info_.arrays = readers_.front()->inputs;
  info_.source = path;
  if (info_.num_samples == 0) refuse("{} = {}: it has no samples", key, path);
  are_good_ = std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(info_.num_samples));
  if (source.target() != nullptr)
    read_targets(options, world);
  else if (!pictures.splits.empty() && options.answer.kind == TargetKind::kClass)
    use_folders(std::move(pictures));
}

ArrayStore::~ArrayStore() = default;

// The samples are named below the folder that holds them.
void ArrayStore::add_pictures(const SourceListing& pictures, ArraySourceSpec& spec) {
  const std::filesystem::path path = spec.path;
  std::error_code unknown;
  is_one_picture_ = !std::filesystem::is_directory(path, unknown);
  if (is_one_picture_) spec.path = path.has_parent_path() ? path.parent_path().string() : ".";
  PictureSource& names = spec.pictures.emplace();
  const SourceSplit& all = pictures.splits.front();
  for (std::int64_t i = 0; i < all.size(); ++i) names.names.emplace_back(all.names[i]);
}

// Folders of pictures are their classes, as in an import.
void ArrayStore::use_folders(SourceListing pictures) {
  info_.class_names = std::move(pictures.class_names);
  if (!info_.class_names.empty()) labels_ = std::move(pictures.splits.front().labels);
}

// Rank 0 reads for all. Targets that the user has not named do not stop a prediction.
void ArrayStore::read_targets(const ArrayFileOptions& options, const mpi::Communicator& world) {
  bool are_known = true;
  mpi::on_root(world, [&] {
    try {
      read_on_root(options);
    } catch (const Error& error) {
      if (!options.target.empty()) throw;
      log_warning(fmt::format("the true values in the file are not used: {}. Give import.target if they are elsewhere",
                              error.what()));
      are_known = false;
    }
  });
  world.broadcast(&are_known, sizeof are_known, 0);
  if (!are_known) return;
  info_.class_names = options.output_names;
  info_.target = options.answer;
  mpi::broadcast_values(world, labels_);
  mpi::broadcast_values(world, targets_);
}

void ArrayStore::read_on_root(const ArrayFileOptions& options) {
  ArraySource& source = readers_.front()->source;
  TargetReader reader(*source.target(), form_of(source, options));
  if (options.answer.is_in_record()) return;
  std::vector<std::int32_t> labels;
  std::vector<float> targets;
  for (std::int64_t row = 0; row < info_.num_samples; ++row) {
    const io::SampleAnswer answer = reader.read(row);
    if (options.answer.kind == TargetKind::kClass) labels.push_back(answer.label);
    targets.insert(targets.end(), answer.target.begin(), answer.target.end());
  }
  labels_ = std::move(labels);
  targets_ = std::move(targets);
}

std::span<const std::byte> ArrayStore::read_array(std::int64_t sample, std::size_t input,
                                                  std::vector<std::byte>& memory) const {
  Reader& reader = *readers_.at(input);
  std::atomic<bool>& is_good = are_good_[static_cast<std::size_t>(sample)];
  const auto bytes = static_cast<std::size_t>(info_.arrays[input].bytes());
  const std::lock_guard lock(reader.mutex);
  if (is_good && reader.row != sample) {  // another reader has looked at all arrays of the sample
    memory.resize(bytes);
    reader.source.read_input(input, sample, memory);
    return memory;
  }
  reader.read(sample);
  is_good = true;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < input; ++i) offset += static_cast<std::size_t>(info_.arrays[i].bytes());
  const auto array = std::span(reader.record).subspan(offset, bytes);
  memory.assign(array.begin(), array.end());
  return memory;
}

// The loader reads ahead of the scores. Each keeps a reader of its own, the nearest before the sample that it wants.
void ArrayStore::read_from_record(std::int64_t sample, std::span<float> values) const {
  const std::lock_guard lock(targets_mutex_);
  const auto distance = [sample](const std::unique_ptr<Reader>& reader) {
    return reader->row > sample ? std::numeric_limits<std::int64_t>::max() : sample - reader->row;
  };
  Reader& reader = **std::ranges::min_element(target_readers_, {}, distance);
  reader.read(sample);
  const std::span<std::byte> bytes = std::as_writable_bytes(values);
  std::ranges::copy(std::span(reader.record).last(bytes.size()), bytes.begin());
}

void ArrayStore::read_target(std::int64_t sample, std::span<float> values) const {
  if (info_.target.is_in_record()) return read_from_record(sample, values);
  if (targets_.empty()) {
    std::ranges::fill(values, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  std::ranges::copy(std::span(targets_).subspan(static_cast<std::size_t>(sample) * values.size(), values.size()),
                    values.begin());
}

std::int32_t ArrayStore::label(std::int64_t sample) const {
  return labels_.empty() ? ops::kNoLabel : labels_[static_cast<std::size_t>(sample)];
}

std::string ArrayStore::name(std::int64_t sample) const {
  Reader& reader = *readers_.front();
  const std::lock_guard lock(reader.mutex);
  return reader.source.name(sample);
}

}  // namespace convoy
