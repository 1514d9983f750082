/// Each array of the samples has a source of its own, which reads its part of the files in order.
#include "data/arrays/array_store.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/ops/softmax_cross_entropy.h"

#include "data/arrays/array_files.h"
#include "data/arrays/element_values.h"

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
  if (!options.target.empty() || options.kind == TargetKind::kClass) return options.target;
  if (!std::filesystem::is_regular_file(path) || find_array_file_kind(path) != ArrayFileKind::kTable) return "";
  const std::vector<std::string> names = names_in({.kind = ArrayFileKind::kTable, .paths = {path}});
  for (const std::string& name : options.output_names)
    if (std::ranges::find(names, name) == names.end()) return "";
  return fmt::format("{}", fmt::join(options.output_names, "|"));
}

// Reads one target after the other.
class ColumnReader {
 public:
  ColumnReader(ArraySource& source, const ArrayFileOptions& options)
      : part_(*source.target()), options_(options), place_(source.target_place()) {}

  // Returns an index in the names of the classes; kNoLabel for a class that the network does not know.
  std::int32_t label(std::int64_t row) {
    const std::string_view text = part_.text(row, 0);
    const auto found = std::ranges::find(options_.output_names, text);
    return found == options_.output_names.end() ? ops::kNoLabel
                                                : static_cast<std::int32_t>(found - options_.output_names.begin());
  }

  void read(std::int64_t row, std::span<float> values) {
    if (is_list()) return read_listed(part_.text(row, 0), values);
    const std::span<const std::byte> bytes = part_.values(row);
    doubles_.resize(values.size());
    convert_to_doubles(*part_.type(), bytes, doubles_);
    std::ranges::transform(doubles_, values.begin(), [](double value) { return static_cast<float>(value); });
  }

  // Refuses targets that cannot be those of the network.
  void check() const {
    const std::int64_t wanted = options_.kind == TargetKind::kClass ? 1 : std::ssize(options_.output_names);
    if (part_.num_values() != wanted && !is_list())
      refuse("import.target: {} has {} for each sample, but the network predicts {} {}", place_,
             counted(part_.num_values(), "value"), wanted, outputs_of(options_.kind));
    if (options_.kind == TargetKind::kNumbers && !part_.type())
      refuse("import.target: {} holds texts, but the network predicts numbers", place_);
    if (options_.kind == TargetKind::kClass || is_list() || part_.columns().empty()) return;
    if (part_.columns() != options_.output_names)
      refuse("import.target: the columns are {}, but the network predicts {}. Give them in this order",
             fmt::join(part_.columns(), ", "), fmt::join(options_.output_names, ", "));
  }

 private:
  // Whether a sample has one text with the names of its labels.
  bool is_list() const {
    return options_.kind == TargetKind::kLabels && part_.num_values() == 1 &&
           (options_.output_names.size() > 1 || !part_.type());
  }

  // Reads "rain|wind". A label that the network does not know is left out.
  void read_listed(std::string_view text, std::span<float> values) const {
    std::ranges::fill(values, 0.0F);
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('|'), text.size());
      const auto found = std::ranges::find(options_.output_names, text.substr(0, end));
      if (found != options_.output_names.end())
        values[static_cast<std::size_t>(found - options_.output_names.begin())] = 1;
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  SamplePart& part_;
  const ArrayFileOptions& options_;
  std::string place_;
  std::vector<double> doubles_;
};

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
        fail("it is not finite: {} ({})",
             array.channel_names.empty() ? fmt::format("value {} of '{}'", bad, array.name)
                                         : fmt::format("column '{}'", excerpt(array.channel_names[bad])),
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
  mpi::on_root(world, [&] { target = find_target(path, options); });
  target = world.broadcast(target, 0);
  for (std::size_t i = 0; i < options.arrays.size(); ++i) {
    ArraySourceSpec spec{.path = path, .key = key, .inputs = parts_of(options), .axes = options.axes};
    if (i == 0) spec.target = target, spec.id = options.id;
    readers_.push_back(std::make_unique<Reader>(spec, world));
  }
  const ArraySource& source = readers_.front()->source;
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
  info_.target = {.kind = options.kind,
                  .shape = Shape::vectors(1, options.kind == TargetKind::kClass ? 1 : std::ssize(info_.class_names))};
  mpi::on_root(world, [&] {
    ColumnReader reader(readers_.front()->source, options);
    reader.check();
    const std::size_t width = info_.class_names.size();
    if (options.kind == TargetKind::kClass)
      labels_.resize(static_cast<std::size_t>(info_.num_samples));
    else
      targets_.resize(static_cast<std::size_t>(info_.num_samples) * width);
    for (std::int64_t row = 0; row < info_.num_samples; ++row) {
      const auto place = static_cast<std::size_t>(row);
      if (options.kind == TargetKind::kClass)
        labels_[place] = reader.label(row);
      else
        reader.read(row, std::span(targets_).subspan(place * width, width));
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

void ArrayStore::read_target(std::int64_t sample, std::span<float> values) const {
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
