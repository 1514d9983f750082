/// HDF5 with ownership and errors: handles that close themselves, calls that throw HDF5's message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <hdf5.h>

#include "convoy/io/tokenization.h"

namespace convoy::io::hdf5 {

/// Turns off HDF5's own printing for this thread: exceptions carry its messages.
void be_silent();
/// Throws Error with the call's text, HDF5's message, file and line.
[[noreturn]] void fail_call(const char* call, const char* file, int line);
/// Logs HDF5's message as a warning, for destructors.
void warn_about_close(hid_t id) noexcept;

template <typename Result>
Result check(Result result, const char* call, const char* file, int line) {
  if (result < 0) fail_call(call, file, line);
  return result;
}

/// Returns the call's result; throws Error if it is negative.
#define CONVOY_CHECK_HDF5(call) \
  (::convoy::io::hdf5::be_silent(), ::convoy::io::hdf5::check((call), #call, __FILE__, __LINE__))

/// Owns an HDF5 object; `close` is the library's function for its kind.
template <herr_t (*close)(hid_t)>
class Handle {
 public:
  explicit Handle(hid_t id) : id_(id) {}
  ~Handle() {
    if (id_ >= 0 && close(id_) < 0) warn_about_close(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

using Group = Handle<&H5Gclose>;
using Dataset = Handle<&H5Dclose>;
using Dataspace = Handle<&H5Sclose>;
using Datatype = Handle<&H5Tclose>;
using Attribute = Handle<&H5Aclose>;
using PropertyList = Handle<&H5Pclose>;

/// HDF5 must not be used by two threads at once. The thread that holds this lock uses it alone, and may lock again.
using Lock = std::unique_lock<std::recursive_mutex>;
/// Takes the lock, once no other thread has a file open.
Lock lock_library();

/// An open file, and the library's lock until it is closed: so reading and writing in a file is safe, and HDF5 is
/// called for nothing else. A thread keeps a file open no longer than it must, and opens none within a step.
class File {
 public:
  File(Lock lock, hid_t id) : lock_(std::move(lock)), handle_(id) {}
  operator hid_t() const { return handle_; }

 private:
  Lock lock_;  ///< released after the file is closed
  Handle<&H5Fclose> handle_;
};

/// Creation properties of a file without times of day, so that the same content gives the same bytes.
PropertyList file_creation();

Group create_group(hid_t parent, const std::string& name);
Group open_group(hid_t parent, const std::string& name);
/// Opens the groups of a path such as "optimizer/momentum"; those that are missing are made.
Group open_or_create_groups(hid_t parent, const std::string& path);
/// Names of a group's members, in the order of the names.
std::vector<std::string> member_names(hid_t group);

/// Write and read attributes of `object`: a 64-bit integer, a double, a list of doubles, a text. Reading throws Error
/// if the attribute is absent or of another kind.
void write_attribute(hid_t object, const std::string& name, std::int64_t value);
void write_attribute(hid_t object, const std::string& name, double value);
void write_attribute(hid_t object, const std::string& name, std::span<const double> values);
bool has_attribute(hid_t object, const std::string& name);
void read_attribute(hid_t object, const std::string& name, std::int64_t& value);
void read_attribute(hid_t object, const std::string& name, double& value);
/// Throws Error if the attribute does not have exactly values.size() values.
void read_attribute(hid_t object, const std::string& name, std::span<double> values);

/// Whether `parent` has a member of this name.
bool exists(hid_t parent, const std::string& name);

/// The type of texts of `length` bytes, padded with 0.
Datatype text_type(std::size_t length);
/// Writes a data set of texts, all padded to the longest.
void write_texts(hid_t parent, const std::string& name, std::span<const std::string> texts);
/// Reads a data set of texts. Throws Error if it is larger than `limit_bytes`, before memory is taken.
std::vector<std::string> read_texts(hid_t parent, const std::string& name, std::uint64_t limit_bytes);
/// Reads a data set of one text.
std::string read_text(hid_t parent, const std::string& name, std::uint64_t limit_bytes);

/// A contiguous data set of `type`.
struct Array {
  Dataset dataset;
  std::vector<std::int64_t> dims;

  std::int64_t count() const;
};
Array create_array(hid_t parent, const std::string& name, hid_t type, std::span<const std::int64_t> dims);
/// Gives a contiguous data set its offset in the file, after all that was placed before, by writing its first element.
/// For arrays whose values are then written without HDF5.
void allocate(const Array& array, hid_t type);
/// Opens an array. Throws Error if it is absent, of another type, not contiguous, larger than `limit_bytes`, has no
/// values, or has them in another file.
Array open_array(hid_t parent, const std::string& name, hid_t type, std::uint64_t limit_bytes);
/// Opens an array of texts of any fixed length; otherwise like open_array().
Array open_texts(hid_t parent, const std::string& name, std::uint64_t limit_bytes);

/// The HDF5 types of values in a file and in memory. They are variables, because HDF5's names are values that the
/// library knows only once it runs.
struct ValueType {
  hid_t stored, native;
};
template <typename Value>
ValueType value_type() {
  if constexpr (std::is_same_v<Value, float>) {
    return {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT};
  } else if constexpr (std::is_same_v<Value, std::int32_t>) {
    return {H5T_STD_I32LE, H5T_NATIVE_INT32};
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    return {H5T_STD_I64LE, H5T_NATIVE_INT64};
  } else {
    static_assert(std::is_same_v<Value, std::uint64_t>);
    return {H5T_STD_U64LE, H5T_NATIVE_UINT64};
  }
}

/// Writes all values of an array, row-major.
template <typename Values>
void write_values(const Array& array, const Values& values) {
  using Value = std::remove_cv_t<typename Values::value_type>;
  if (values.empty()) return;
  CONVOY_CHECK_HDF5(H5Dwrite(array.dataset, value_type<Value>().native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
}
template <typename Value>
std::vector<Value> read_values(const Array& array) {
  std::vector<Value> values(static_cast<std::size_t>(array.count()));
  if (values.empty()) return values;
  CONVOY_CHECK_HDF5(H5Dread(array.dataset, value_type<Value>().native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  return values;
}

/// Writes a list of numbers as a data set of one dimension.
template <typename Value>
void write_list(hid_t parent, const std::string& name, const std::vector<Value>& values) {
  const std::int64_t count = std::ssize(values);
  write_values(create_array(parent, name, value_type<Value>().stored, {&count, 1}), values);
}

// --- Files in memory (io/memory_driver.cpp) --------------------------------------------------------------------------

/// Creates a file in memory. When it is closed, `bytes` holds it up to the last byte written. `bytes` must outlive it.
File create_in_memory(std::vector<std::byte>& bytes);
/// Opens a file of `size_bytes` for reading: first `bytes`, then zeros. `bytes` must outlive it.
File open_in_memory(std::span<const std::byte> bytes, std::uint64_t size_bytes);
/// The size of a file in bytes after all that was asked for is written.
std::uint64_t flushed_size(const File& file);
/// Returns all bytes of a new file that `write` fills. Memory for `value_bytes`, and in addition for names, is taken
/// once.
std::vector<std::byte> encode_in_memory(std::uint64_t value_bytes, const std::function<void(hid_t file)>& write);

// --- Common content of our files -------------------------------------------------------------------------------------

/// Writes the kind of input as the text /kind of a record.
void write_kind(hid_t record, const std::string& kind);
/// Reads /kind. A record without one is older than kinds and holds images. `what` begins the message: "it holds".
/// Throws RequestError if this program does not know the kind.
std::string read_kind(hid_t record, const std::string& what, std::uint64_t limit_bytes);

/// Write and read /tokenizer (text), /vocabulary (uint8: the model's bytes) and the attribute vocabulary_size of a
/// record.
void write_tokenization(hid_t record, const Tokenization& tokenization);
Tokenization read_tokenization(hid_t record, std::uint64_t limit_bytes);

/// Write and read the names of columns, if there are any; a record without them gives empty names.
void write_columns(hid_t record, const ColumnNames& columns);
ColumnNames read_columns(hid_t record, std::uint64_t limit_bytes);

}  // namespace convoy::io::hdf5
