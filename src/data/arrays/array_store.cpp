/// Each array of the samples has a source of its own, which reads its part of the files in order.
#include "data/arrays/array_store.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
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
    PartSpec part{.name = array.name, .where = "", .columns = array.channel_names, .dims = array.dims};
    for (const PartSpec& one : given)
      if (one.name == array.name || (is_only && one.name.empty())) part.where = one.where;
    if (!given.empty() && part.where.empty())
      refuse("import.inputs = {} does not name '{}', which the network reads: {}. Name all of them, as in '{}: WHERE'",
             options.inputs, array.name, io::describe_forms(options.arrays), array.name);
    parts.push_back(std::move(part));
  }
  return parts;
}

// Returns import.target or, if that is empty, the columns of a table that are named as the labels or numbers of the
// network; empty if there are none.
std::string find_target(const std::string& path, const ArrayFileOptions& options) {
  if (!options.target.empty() || options.answer.kind == TargetKind::kClass) return options.target;
  if (!std::filesystem::is_regular_file(path) || find_array_file_kind(path) != ArrayFileKind::kTable) return "";
  const std::vector<std::string> names = names_in({.kind = ArrayFileKind::kTable, .paths = {path}});
  for (const std::string& name : options.output_names)
    if (std::ranges::find(names, name) == names.end()) return "";
  return fmt::format("{}", fmt::join(options.output_names, "|"));
}

// Returns the form of a target, which must be that of the network. Labels of several columns, or of a list in one.
TargetForm form_of(const ArraySource& source, const ArrayFileOptions& options) {
  const SamplePart& part = *source.target();
  const std::int64_t given = part.num_values(), wanted = std::ssize(options.output_names);
  TargetForm form{.kind = options.answer.kind, .names = options.output_names};
  if (const Target& found = source.form_of_target(); found.dims != options.answer.dims)
    refuse("import.target: {} is {} for each sample, with channels last, but the network answers {}",
           source.target_place(), io::describe_extents(found, given), io::describe_extents(options.answer, wanted));
  if (options.answer.is_in_record()) return form;
  form.are_lists = options.answer.kind == TargetKind::kLabels && given == 1 && (wanted > 1 || !part.type());
  check_part(part, form, source.target_place());
  return form;
}

template <typename Value>
void broadcast(std::vector<Value>& values, const mpi::Communicator& world) {
  const auto bytes = std::as_bytes(std::span(values));
  const std::vector<std::byte> all = world.broadcast(std::vector<std::byte>(bytes.begin(), bytes.end()), 0);
  values.resize(all.size() / sizeof(Value));
  if (!all.empty()) std::memcpy(values.data(), all.data(), all.size());
}

}  // namespace

/// A source, and the record that was read last.
struct ArrayStore::Reader {
  Reader(const ArraySourceSpec& spec, const mpi::Communicator& world) : source(spec, world) {
    source.count(world);
    record.resize(static_cast<std::size_t>(source.record_bytes()));
  }

  // Reads the whole record of a sample, since a sample is bad for all stages if one of its arrays is.
  void read(std::int64_t sample) {
    if (sample == row) return;
    row = -1;
    source.read_record(sample, record);
    std::span<const std::byte> rest = record;
    for (const io::ArrayInfo& array : source.inputs()) {
      const auto bytes = static_cast<std::size_t>(array.bytes());
      if (const std::int64_t bad = find_not_finite(array.type, rest.first(bytes)); bad >= 0)
        fail("{} is NaN or infinite ({})",
             array.channel_names.empty() ? fmt::format("its value {} of '{}'", bad, array.name)
                                         : fmt::format("its column '{}'", excerpt(array.channel_names[bad])),
             source.place(sample));
      rest = rest.subspan(bytes);
    }
    row = sample;
  }

  std::mutex mutex;
  ArraySource source;
  std::vector<std::byte> record;
  std::int64_t row = -1;
};

ArrayStore::ArrayStore(const std::string& path, const std::string& key, const ArrayFileOptions& options,
                       const mpi::Communicator& world) {
  std::vector<PartSpec> parts;
  std::string target;
  std::optional<PictureSource> pictures;
  mpi::on_root(world, [&] {
    target = find_target(path, options);
    if (options.arrays.size() == 1 && holds_pictures(path, key)) pictures = list_pictures(path, key);
  });
  target = world.broadcast(target, 0);
  ArraySourceSpec spec{.path = path, .key = key, .inputs = parts_of(options), .target = target, .axes = options.axes};
  spec.id = options.id;
  spec.pictures = std::move(pictures);
  readers_.push_back(std::make_unique<Reader>(spec, world));
  const ArraySource& source = readers_.front()->source;
  const bool has_target_in_record = source.form_of_target().is_in_record();
  spec.id = "";
  if (!has_target_in_record) spec.target = "";
  while (readers_.size() < options.arrays.size()) readers_.push_back(std::make_unique<Reader>(spec, world));
  for (auto& reader : target_readers_)
    if (has_target_in_record) reader = std::make_unique<Reader>(spec, world);
  info_.kind = input_kinds::kArrays;
  info_.num_samples = source.num_samples();
  info_.arrays = source.inputs();
  info_.source = path;
  if (info_.num_samples == 0) refuse("{} = {}: it has no samples", key, path);
  if (source.target() != nullptr) read_targets(options, world);
}

ArrayStore::~ArrayStore() = default;

// Rank 0 reads for all.
void ArrayStore::read_targets(const ArrayFileOptions& options, const mpi::Communicator& world) {
  info_.class_names = options.output_names;
  info_.target = options.answer;
  mpi::on_root(world, [&] {
    ArraySource& source = readers_.front()->source;
    TargetReader reader(*source.target(), form_of(source, options));
    if (info_.target.is_in_record()) return;
    for (std::int64_t row = 0; row < info_.num_samples; ++row) {
      const io::SampleAnswer answer = reader.read(row);
      if (options.answer.kind == TargetKind::kClass) labels_.push_back(answer.label);
      targets_.insert(targets_.end(), answer.target.begin(), answer.target.end());
    }
  });
  broadcast(labels_, world);
  broadcast(targets_, world);
}

std::span<const std::byte> ArrayStore::read_array(std::int64_t sample, std::size_t input,
                                                  std::vector<std::byte>& memory) const {
  Reader& reader = *readers_.at(input);
  const std::lock_guard lock(reader.mutex);
  reader.read(sample);
  std::size_t offset = 0;
  for (std::size_t i = 0; i < input; ++i) offset += static_cast<std::size_t>(info_.arrays[i].bytes());
  const auto array = std::span(reader.record).subspan(offset, static_cast<std::size_t>(info_.arrays[input].bytes()));
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
