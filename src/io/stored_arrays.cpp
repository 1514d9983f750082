/// Compound types, statistics and targets, checked as the content of hostile files.
#include "io/stored_arrays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/input_shape.h"
#include "convoy/base/text.h"

namespace convoy::io {

namespace {

constexpr std::int64_t kMaxRecordBytes = std::int64_t{1} << 31;
constexpr std::size_t kMaxRank = 4, kMaxNameLength = 50;
constexpr float kNotKnown = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint8_t kNotKnownLabel = 255;
constexpr TargetKind kTargetKinds[] = {TargetKind::kClass, TargetKind::kLabels, TargetKind::kNumbers};
constexpr ChannelAxis kChannelAxes[] = {ChannelAxis::kLast, ChannelAxis::kFirst, ChannelAxis::kNone};
constexpr const char* kChannelAxis = "target_channel_axis";
constexpr const char* kSource = "source";
constexpr const char* kFillsMissing = "fills_missing";
constexpr const char* kTargetSource = "target_source";

// HDF5 has no name for float16: 1 bit of sign, 5 of exponent, 10 of fraction.
hdf5::Datatype half_type() {
  hdf5::Datatype type(CONVOY_CHECK_HDF5(H5Tcopy(H5T_IEEE_F32LE)));
  CONVOY_CHECK_HDF5(H5Tset_fields(type, 15, 10, 5, 0, 10));
  CONVOY_CHECK_HDF5(H5Tset_size(type, 2));
  CONVOY_CHECK_HDF5(H5Tset_ebias(type, 15));
  return type;
}

hdf5::Datatype stored_type(ElementType type) {
  const auto copy = [](hid_t standard) { return hdf5::Datatype(CONVOY_CHECK_HDF5(H5Tcopy(standard))); };
  using enum ElementType;
  switch (type) {
    case kInt8:
      return copy(H5T_STD_I8LE);
    case kInt16:
      return copy(H5T_STD_I16LE);
    case kInt32:
      return copy(H5T_STD_I32LE);
    case kInt64:
      return copy(H5T_STD_I64LE);
    case kUint8:
      return copy(H5T_STD_U8LE);
    case kUint16:
      return copy(H5T_STD_U16LE);
    case kUint32:
      return copy(H5T_STD_U32LE);
    case kUint64:
      return copy(H5T_STD_U64LE);
    case kFloat16:
      return half_type();
    case kFloat32:
      return copy(H5T_IEEE_F32LE);
    default:
      return copy(H5T_IEEE_F64LE);
  }
}

void check_name(const std::string& name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || name.size() > kMaxNameLength || !is_letter(name.front()) ||
      !std::ranges::all_of(name, is_allowed))
    fail("'{}' cannot be the name of an array: names have lower-case letters, digits and _, and begin with a letter",
         excerpt(name));
  for (const char* const answer : {features::kTarget, features::kLabel, features::kMixedLabel})
    if (name == answer) fail("'{}' cannot be the name of an array: it is what a network has to answer", name);
}

// Checks the extents of a member, and adds its size in bytes to that of the record.
void add_member(const ArrayInfo& member, std::int64_t& record_bytes) {
  if (member.dims.empty() || member.dims.size() > kMaxRank || std::ranges::min(member.dims) < 1)
    fail("its array '{}' has the form {}, and not 1 to {} extents of at least 1", member.name, describe_form(member),
         kMaxRank);
  std::int64_t bytes = size_of(member.type);  // the product is kept below the limit at each step
  for (const std::int64_t dim : member.dims) bytes = dim > kMaxRecordBytes / bytes ? kMaxRecordBytes : bytes * dim;
  record_bytes += bytes;
  if (record_bytes >= kMaxRecordBytes)
    fail("its samples have {} or more each, which is not possible", human_bytes(kMaxRecordBytes));
}

std::string member_name(hid_t type, unsigned member) {
  char* const name = H5Tget_member_name(type, member);
  if (name == nullptr) fail("the name of array {} of its samples cannot be read", member);
  std::string copy = name;
  H5free_memory(name);
  return copy;
}

ArrayInfo read_member(hid_t type, unsigned member) {
  ArrayInfo array{.name = member_name(type, member), .dims = {}};
  const hdf5::Datatype stored(CONVOY_CHECK_HDF5(H5Tget_member_type(type, member)));
  if (H5Tget_class(stored) != H5T_ARRAY) fail("'{}' of its samples is no array", excerpt(array.name));
  const int rank = CONVOY_CHECK_HDF5(H5Tget_array_ndims(stored));
  hsize_t dims[H5S_MAX_RANK] = {};
  CONVOY_CHECK_HDF5(H5Tget_array_dims2(stored, dims));
  for (const hsize_t dim : std::span(dims).first(static_cast<std::size_t>(rank)))
    array.dims.push_back(static_cast<std::int64_t>(std::min<hsize_t>(dim, kMaxRecordBytes + 1)));
  const auto type_of_values = find_element_type(hdf5::Datatype(CONVOY_CHECK_HDF5(H5Tget_super(stored))));
  if (!type_of_values) fail("its array '{}' has values of another type", excerpt(array.name));
  array.type = *type_of_values;
  return array;
}

std::vector<double> read_statistic(hid_t group, const char* name, std::int64_t count, std::uint64_t limit_bytes) {
  std::vector<double> values = hdf5::read_list<double>(group, name, limit_bytes);
  if (std::ssize(values) != count || !std::ranges::all_of(values, [](double v) { return std::isfinite(v); }))
    fail("its '{}' is not {} finite numbers", name, count);
  return values;
}

std::vector<double> read_deviations(hid_t group, const char* name, std::int64_t count, std::uint64_t limit_bytes) {
  std::vector<double> values = read_statistic(group, name, count, limit_bytes);
  if (std::ranges::any_of(values, [](double v) { return v < 0; })) fail("its '{}' has negative numbers", name);
  return values;
}

void write_source(hid_t object, const char* name, const std::string& source) {
  if (!source.empty()) hdf5::write_texts(object, name, {&source, 1});
}

std::string read_source(hid_t object, const char* name, std::uint64_t limit_bytes) {
  if (!hdf5::exists(object, name)) return "";
  std::string source = hdf5::read_text(object, name, limit_bytes);
  check_is_name(source, "the name of an array or a column that was imported");
  return source;
}

}  // namespace

std::optional<ElementType> find_element_type(hid_t little_endian) {
  for (int i = 0; i <= static_cast<int>(ElementType::kFloat64); ++i)
    if (const auto type = static_cast<ElementType>(i);
        CONVOY_CHECK_HDF5(H5Tequal(little_endian, stored_type(type))) > 0)
      return type;
  return std::nullopt;
}

void check_arrays(std::span<const ArrayInfo> arrays, const Target& target) {
  if (arrays.empty() || arrays.size() > kMaxArrays)
    fail("its samples have {} arrays, and not 1 to {}", arrays.size(), kMaxArrays);
  std::set<std::string> names;
  std::int64_t record_bytes = 0;
  for (const ArrayInfo& array : arrays) {
    check_name(array.name);
    if (!names.insert(array.name).second) fail("two arrays of its samples are called '{}'", array.name);
    add_member(array, record_bytes);
  }
  for (const ArrayInfo& answer : record_of({}, target)) add_member(answer, record_bytes);
}

void check_target(const Target& target, std::int64_t num_outputs) {
  const char* const outputs = outputs_of(target.kind);
  if (target.is_in_record() && target.kind != TargetKind::kNumbers)
    fail("the targets in its samples are {}, but this program reads only numbers there", outputs);
  if (target.is_in_record() && target.dims.back() != num_outputs)
    fail("the targets in its samples have {} channels, but names of {}", target.dims.back(), num_outputs);
  if (target.kind == TargetKind::kClass || target.is_in_record()) return;
  if (num_outputs < 1 || num_outputs > kMaxTargetValues)
    fail("its samples have {} {} each, and not 1 to {}", num_outputs, outputs, kMaxTargetValues);
}

hdf5::Datatype record_type(std::span<const ArrayInfo> record) {
  std::int64_t bytes = 0;
  for (const ArrayInfo& array : record) bytes += array.bytes();
  hdf5::Datatype compound(CONVOY_CHECK_HDF5(H5Tcreate(H5T_COMPOUND, static_cast<std::size_t>(bytes))));
  std::size_t offset = 0;
  for (const ArrayInfo& array : record) {
    const std::vector<hsize_t> dims(array.dims.begin(), array.dims.end());
    const hdf5::Datatype member(
        CONVOY_CHECK_HDF5(H5Tarray_create2(stored_type(array.type), static_cast<unsigned>(dims.size()), dims.data())));
    CONVOY_CHECK_HDF5(H5Tinsert(compound, array.name.c_str(), offset, member));
    offset += static_cast<std::size_t>(array.bytes());
  }
  return compound;
}

Record read_record_type(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND) fail("its samples are not records of arrays");
  const auto count = static_cast<unsigned>(CONVOY_CHECK_HDF5(H5Tget_nmembers(type)));
  if (count > kMaxArrays + 1) fail("its samples have {} arrays, and not 1 to {}", count, kMaxArrays);
  Record record;
  for (unsigned i = 0; i < count; ++i) record.arrays.push_back(read_member(type, i));
  if (count > 1 && record.arrays.back().name == features::kTarget) {
    record.target.dims = std::move(record.arrays.back().dims);
    record.arrays.pop_back();
  }
  check_arrays(record.arrays, record.target);
  if (CONVOY_CHECK_HDF5(H5Tequal(type, record_type(record_of(record.arrays, record.target)))) == 0)
    fail("the arrays of its samples do not lie one after the other{}",
         record.target.is_in_record() ? ", or their targets are not float32" : "");
  if (record.target.is_in_record()) record.target.shape = array_shape(record.target.dims);
  return record;
}

void write_arrays(hid_t object, std::span<const ArrayInfo> arrays, const Target& target) {
  const hdf5::Group all = hdf5::create_group(object, "arrays");
  for (const ArrayInfo& array : arrays) {
    const hdf5::Group group = hdf5::create_group(all, array.name);
    hdf5::write_list(group, "mean", array.mean);
    hdf5::write_list(group, "deviation", array.stddev);
    if (!array.channel_names.empty()) hdf5::write_texts(group, "channel_names", array.channel_names);
    if (array.fills_missing) hdf5::write_attribute(group, kFillsMissing, std::int64_t{1});
    write_source(group, kSource, array.source);
  }
  const std::string kind = to_string(target.kind);
  hdf5::write_texts(object, "target_kind", {&kind, 1});
  if (const std::string axis = to_string(target.channel_axis); target.is_in_record())
    hdf5::write_texts(object, kChannelAxis, {&axis, 1});
  write_source(object, kTargetSource, target.source);
  if (target.kind != TargetKind::kNumbers) return;
  hdf5::write_list(object, "target_mean", target.mean);
  hdf5::write_list(object, "target_deviation", target.stddev);
}

void read_array_statistics(hid_t object, std::uint64_t limit_bytes, std::span<ArrayInfo> arrays) {
  const hdf5::Group all = hdf5::open_group(object, "arrays");
  for (ArrayInfo& array : arrays) {
    const hdf5::Group group = hdf5::open_group(all, array.name);
    array.mean = read_statistic(group, "mean", array.channels(), limit_bytes);
    array.stddev = read_deviations(group, "deviation", array.channels(), limit_bytes);
    array.fills_missing = hdf5::has_attribute(group, kFillsMissing);
    array.source = read_source(group, kSource, limit_bytes);
    if (!hdf5::exists(group, "channel_names")) continue;
    array.channel_names = hdf5::read_texts(group, "channel_names", limit_bytes);
    if (std::ssize(array.channel_names) != array.channels())
      fail("its array '{}' has {} channels, but names of {}", array.name, array.channels(), array.channel_names.size());
    for (const std::string& name : array.channel_names) check_is_name(name, "the name of a channel");
  }
}

Target read_target(hid_t object, std::uint64_t limit_bytes, std::int64_t num_outputs, Target target) {
  const std::string kind = hdf5::read_text(object, "target_kind", limit_bytes);
  const auto* const found =
      std::ranges::find(kTargetKinds, kind, [](TargetKind k) { return std::string(to_string(k)); });
  if (found == std::end(kTargetKinds))
    refuse("its targets are '{}', but this program reads only classes, labels and numbers", excerpt(kind));
  target.kind = *found;
  target.source = read_source(object, kTargetSource, limit_bytes);
  check_target(target, num_outputs);
  if (!target.is_in_record()) {
    target.shape = Shape::vectors(1, target.kind == TargetKind::kClass ? 1 : num_outputs);
  } else {
    const std::string axis = hdf5::read_text(object, kChannelAxis, limit_bytes);
    const auto* const known =
        std::ranges::find(kChannelAxes, axis, [](ChannelAxis a) { return std::string(to_string(a)); });
    if (known == std::end(kChannelAxes)) fail("the axis of its targets' channels is '{}'", excerpt(axis));
    target.channel_axis = *known;
  }
  if (target.kind != TargetKind::kNumbers) return target;
  target.mean = read_statistic(object, "target_mean", num_outputs, limit_bytes);
  target.stddev = read_deviations(object, "target_deviation", num_outputs, limit_bytes);
  return target;
}

void write_targets(hid_t file, TargetKind kind, const std::vector<float>& targets, std::int64_t num_outputs) {
  if (kind == TargetKind::kNumbers) return hdf5::write_table(file, "targets", targets, num_outputs);
  std::vector<std::uint8_t> labels;
  labels.reserve(targets.size());
  for (const float value : targets)
    labels.push_back(std::isnan(value) ? kNotKnownLabel : static_cast<std::uint8_t>(value != 0));
  hdf5::write_table(file, "targets", labels, num_outputs);
}

std::vector<float> read_targets(hid_t file, TargetKind kind, std::int64_t num_samples, std::int64_t num_outputs,
                                std::uint64_t limit_bytes) {
  if (kind == TargetKind::kNumbers) {
    std::vector<float> numbers = hdf5::read_table<float>(file, "targets", num_samples, num_outputs, limit_bytes);
    if (std::ranges::any_of(numbers, [](float value) { return std::isinf(value); }))
      fail("its 'targets' hold infinities");
    return numbers;
  }
  std::vector<float> targets;
  for (const std::uint8_t label :
       hdf5::read_table<std::uint8_t>(file, "targets", num_samples, num_outputs, limit_bytes)) {
    if (label > 1 && label != kNotKnownLabel) fail("its 'targets' hold {}, and not only 0, 1 and 255", label);
    targets.push_back(label == kNotKnownLabel ? kNotKnown : static_cast<float>(label));
  }
  return targets;
}

}  // namespace convoy::io
