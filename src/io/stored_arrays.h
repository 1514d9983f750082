/// How our HDF5 files describe arrays and targets. The arrays of a sample are a record: a packed compound type whose
/// members are arrays of little-endian numbers. This type is the only description of their names, types and extents. A
/// target that is a field, or a long row of numbers, is the last member, called "target", of float32.
/// What else is known of them is written next to it:
///   /arrays/NAME/mean, deviation, channel_names   double (C); texts (C), absent if the channels have no names
///   /arrays/NAME/source                           text: name of the array in the user's .npz or HDF5 file; absent
///                                                 if it had none, and in older files
///   /target_kind                                  text: "class", "labels" or "numbers"
///   /target_mean, /target_deviation               double (K), only of numbers
///   /target_source                                text: name of the target's array or column in the user's files;
///                                                 absent if it had none or several, and in older files
///   /target_channel_axis                          text: "last", "first" or "none", of the user's files; only of a
///                                                 target in the records
///   /targets                                      (N,K) labels, uint8 (255: not known), or numbers, float32 (NaN: not
///                                                 known); only in shards, of a target that is not in the records
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoy/base/element_type.h"
#include "convoy/base/target.h"
#include "convoy/io/sample_store.h"

#include "io/hdf5.h"

namespace convoy::io {

/// The members of a record.
struct Record {
  std::vector<ArrayInfo> arrays;  ///< without their statistics
  Target target = {};             ///< its extents and its shape, if it is in the record
};

/// Returns the type of numbers that HDF5 stores like this, with the least significant byte first; nothing if NumPy has
/// no such type.
std::optional<ElementType> find_element_type(hid_t little_endian);
/// Returns the type of a record (record_of()).
hdf5::Datatype record_type(std::span<const ArrayInfo> record);
/// Returns the members of the records of this type. Throws Error if it is no such type, or as check_arrays() does.
Record read_record_type(hid_t type);

/// Writes everything but the record's type to a file or group.
void write_arrays(hid_t object, std::span<const ArrayInfo> arrays, const Target& target);
/// Sets statistics and channel names of `arrays`. Throws Error if they are absent, or do not fit.
void read_array_statistics(hid_t object, std::uint64_t limit_bytes, std::span<ArrayInfo> arrays);
/// Returns the target of samples with `num_outputs` classes, labels or numbers; `target` is Record::target.
Target read_target(hid_t object, std::uint64_t limit_bytes, std::int64_t num_outputs, Target target);

/// Writes labels or numbers (N,K), whose NaN are not known.
void write_targets(hid_t file, TargetKind kind, const std::vector<float>& targets, std::int64_t num_outputs);
/// Reads them. Throws Error if they are not (num_samples, num_outputs), labels other than 0 and 1, or infinite.
std::vector<float> read_targets(hid_t file, TargetKind kind, std::int64_t num_samples, std::int64_t num_outputs,
                                std::uint64_t limit_bytes);

}  // namespace convoy::io
