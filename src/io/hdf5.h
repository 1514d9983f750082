/// A thin layer over the C library HDF5: handles that close themselves, and calls that throw an Error with HDF5's
/// message.
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

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>

#include "convoy/base/error.h"
#include "convoy/io/tokenization.h"

namespace convoy::io::hdf5 {

/// Turns off HDF5's printing of errors for this thread, since exceptions have its messages.
void be_silent();
/// Throws Error with the call's text, HDF5's message, file and line.
[[noreturn]] void fail_call(const char* call, const char* file, int line);
/// Logs a warning with HDF5's message that an object could not be closed. Destructors call it, which must not throw.
void warn_about_close(hid_t id) noexcept;

template <typename Result>
Result check(Result result, const char* call, const char* file, int line) {
  if (result < 0) fail_call(call, file, line);
  return result;
}

/// Returns the call's result; throws Error if it is negative.
#define CONVOY_CHECK_HDF5(call) \
  (::convoy::io::hdf5::be_silent(), ::convoy::io::hdf5::check((call), #call, __FILE__, __LINE__))

/// Owns an HDF5 object and closes it by `close`, HDF5's function for its kind.
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

/// A lock on the library HDF5, which two threads must not use at the same time. The thread that holds it may lock
/// again.
using Lock = std::unique_lock<std::recursive_mutex>;
/// Waits until no other thread holds the lock (has a file open), and returns the lock.
Lock lock_library();

/// An open HDF5 file. It holds the lock on HDF5 until the file is closed, so that no other thread calls HDF5 meanwhile.
/// A thread must close its file soon, and must not open one during a training step.
class File {
 public:
  File(Lock lock, hid_t id) : lock_(std::move(lock)), handle_(id) {}
  operator hid_t() const { return handle_; }

 private:
  Lock lock_;  ///< released after the file is closed
  Handle<&H5Fclose> handle_;
};

/// Returns creation properties of a file without timestamps, so that the same content gives the same bytes.
PropertyList file_creation();

Group create_group(hid_t parent, const std::string& name);
Group open_group(hid_t parent, const std::string& name);
/// Opens the last group of a path such as "optimizer/momentum". Groups that are missing are created.
Group open_or_create_groups(hid_t parent, const std::string& path);
/// Returns the names of a group's members, in alphabetical order.
std::vector<std::string> member_names(hid_t group);

// Functions that write and read attributes of an HDF5 object: a 64-bit integer, a double, a list of doubles. Reading
// throws Error if the attribute is absent or of another type.
void write_attribute(hid_t object, const std::string& name, std::int64_t value);
void write_attribute(hid_t object, const std::string& name, double value);
void write_attribute(hid_t object, const std::string& name, std::span<const double> values);
bool has_attribute(hid_t object, const std::string& name);
void read_attribute(hid_t object, const std::string& name, std::int64_t& value);
void read_attribute(hid_t object, const std::string& name, double& value);
/// Reads a list of doubles. Throws Error if the attribute is absent or does not have exactly values.size() values.
void read_attribute(hid_t object, const std::string& name, std::span<double> values);

/// Returns whether the group `parent` has a member of this name.
bool exists(hid_t parent, const std::string& name);

/// Returns the HDF5 type of texts of `length` bytes, padded with bytes 0.
Datatype text_type(std::size_t length);
/// Creates an HDF5 data set of texts, all padded to the longest.
void write_texts(hid_t parent, const std::string& name, std::span<const std::string> texts);
/// Reads an HDF5 data set of texts. Throws Error if it is larger than `limit_bytes`, before it allocates memory.
std::vector<std::string> read_texts(hid_t parent, const std::string& name, std::uint64_t limit_bytes);
/// Reads an HDF5 data set of one text. Throws Error if it is larger than `limit_bytes`.
std::string read_text(hid_t parent, const std::string& name, std::uint64_t limit_bytes);

/// An HDF5 data set that is stored contiguously, and its dimensions.
struct Array {
  Dataset dataset;
  std::vector<std::int64_t> dims;

  std::int64_t count() const;
};
/// Creates a contiguous data set of `type`.
Array create_array(hid_t parent, const std::string& name, hid_t type, std::span<const std::int64_t> dims);
/// Makes HDF5 give a contiguous data set its offset in the file, after everything that has an offset already, by
/// writing its first element. It is for arrays whose values are then written without HDF5.
void allocate(const Array& array, hid_t type);
/// Opens a contiguous data set. Throws Error if it is absent, has another type, is not contiguous, is larger than
/// `limit_bytes`, has no values, or has its values in another file.
Array open_array(hid_t parent, const std::string& name, hid_t type, std::uint64_t limit_bytes);
/// Gives a type a name in a file or group. open_type() opens it, and throws Error if it is absent or no type.
void commit(hid_t parent, const std::string& name, hid_t type);
Datatype open_type(hid_t parent, const std::string& name);
/// Returns the type of a data set. Throws Error if it is absent.
Datatype type_of(hid_t parent, const std::string& name);
/// Opens a contiguous data set of texts of any fixed length. Throws Error in the same cases as open_array().
Array open_texts(hid_t parent, const std::string& name, std::uint64_t limit_bytes);

/// The HDF5 types of values in a file (`stored`) and in memory (`native`). They are no constants, because HDF5 creates
/// its types at run time.
struct ValueType {
  hid_t stored, native;
};
template <typename Value>
ValueType value_type() {
  if constexpr (std::is_same_v<Value, float>) {
    return {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT};
  } else if constexpr (std::is_same_v<Value, double>) {
    return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
  } else if constexpr (std::is_same_v<Value, std::uint8_t>) {
    return {H5T_STD_U8LE, H5T_NATIVE_UINT8};
  } else if constexpr (std::is_same_v<Value, std::uint16_t>) {
    return {H5T_STD_U16LE, H5T_NATIVE_UINT16};
  } else if constexpr (std::is_same_v<Value, std::int32_t>) {
    return {H5T_STD_I32LE, H5T_NATIVE_INT32};
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    return {H5T_STD_I64LE, H5T_NATIVE_INT64};
  } else {
    static_assert(std::is_same_v<Value, std::uint64_t>);
    return {H5T_STD_U64LE, H5T_NATIVE_UINT64};
  }
}

/// Writes all values of an array, in row-major order. `values` must have array.count() of them, which is not checked;
/// if it is empty, nothing is written.
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

/// Writes a list of numbers as an HDF5 data set with one dimension.
template <typename Value>
void write_list(hid_t parent, const std::string& name, const std::vector<Value>& values) {
  const std::int64_t count = std::ssize(values);
  write_values(create_array(parent, name, value_type<Value>().stored, {&count, 1}), values);
}
/// Reads a list that write_list() wrote. Throws Error in the same cases as open_array(), or if it has another rank.
template <typename Value>
std::vector<Value> read_list(hid_t parent, const std::string& name, std::uint64_t limit_bytes) {
  const Array array = open_array(parent, name, value_type<Value>().stored, limit_bytes);
  if (array.dims.size() != 1) fail("its '{}' has {} dimensions, not 1", name, array.dims.size());
  return read_values<Value>(array);
}
/// The same for a table with `columns` values per row.
template <typename Value>
void write_table(hid_t parent, const std::string& name, const std::vector<Value>& values, std::int64_t columns) {
  if (columns < 1) fail("'{}' cannot have {} columns", name, columns);
  const std::int64_t dims[] = {std::ssize(values) / columns, columns};
  write_values(create_array(parent, name, value_type<Value>().stored, dims), values);
}
/// Reads a table. Throws Error also if it has not exactly `rows` rows of `columns` values.
template <typename Value>
std::vector<Value> read_table(hid_t parent, const std::string& name, std::int64_t rows, std::int64_t columns,
                              std::uint64_t limit_bytes) {
  const Array array = open_array(parent, name, value_type<Value>().stored, limit_bytes);
  if (array.dims != std::vector{rows, columns})
    fail("its '{}' has the dimensions {}, not {} x {}", name, fmt::join(array.dims, " x "), rows, columns);
  return read_values<Value>(array);
}

// --- Files in memory (io/memory_driver.cpp) --------------------------------------------------------------------------

/// Creates an HDF5 file in memory. When it is closed, `bytes` has its content up to the last byte that was written.
/// `bytes` must outlive the file.
File create_in_memory(std::vector<std::byte>& bytes);
/// Opens an HDF5 file in memory for reading. Its content is `bytes`, then zeros up to `size_bytes` bytes. `bytes` must
/// outlive the file.
File open_in_memory(std::span<const std::byte> bytes, std::uint64_t size_bytes);
/// Completes the image of a file in memory, and returns its size in bytes.
std::uint64_t flushed_size(const File& file);
/// Creates an HDF5 file in memory, calls write(file), which adds its content, and returns the bytes of the file. It
/// reserves memory for `value_bytes` bytes of values and for some names, so that the memory does not grow step by step.
std::vector<std::byte> encode_in_memory(std::uint64_t value_bytes, const std::function<void(hid_t file)>& write);

// --- Common content of our files -------------------------------------------------------------------------------------

/// Writes the kind of input, such as "images", as the text /kind of a file or group.
void write_kind(hid_t object, const std::string& kind);
/// Reads the kind of input, the text /kind of a file or group. If it is missing, the file is from an older version and
/// has images. Throws RequestError if this program does not know the kind; `what` is the beginning of the message: "it
/// holds".
std::string read_kind(hid_t object, const std::string& what, std::uint64_t limit_bytes);

/// Writes a tokenization to a file or group: /tokenizer (text), /vocabulary (uint8: the bytes of the model) and the
/// attribute vocabulary_size. read_tokenization() reads them.
void write_tokenization(hid_t object, const Tokenization& tokenization);
Tokenization read_tokenization(hid_t object, std::uint64_t limit_bytes);

/// Writes the names of a table's columns to a file or group, unless they are empty. read_columns() reads them, and
/// returns empty names if there are none.
void write_columns(hid_t object, const ColumnNames& columns);
ColumnNames read_columns(hid_t object, std::uint64_t limit_bytes);

}  // namespace convoy::io::hdf5
