/// HDF5 with ownership and errors: handles that close themselves, calls that throw what HDF5 says.
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

/// Turns off HDF5's own printing for this thread: its messages travel in exceptions.
void be_silent();
/// Throws Error with the call's text, HDF5's message and the place.
[[noreturn]] void fail_call(const char* call, const char* file, int line);
/// HDF5's message as a warning, for destructors.
void warn_about_close(hid_t id) noexcept;

template <typename Result>
Result check(Result result, const char* call, const char* file, int line) {
  if (result < 0) fail_call(call, file, line);
  return result;
}

/// The call's result where it is not negative; throws Error otherwise.
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

/// HDF5 is not safe to use by two threads at once. Whoever holds this has it alone, and may take it again.
using Lock = std::unique_lock<std::recursive_mutex>;
/// Waits until no other thread has a file open.
Lock lock_library();

/// An open file, and the lock of the library until it is closed: what is read or written in a file is safe, and nothing
/// else is called. So a thread keeps a file open no longer than it must, and none is opened within a step.
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
/// "optimizer/momentum": each is made where it is missing.
Group open_or_create_groups(hid_t parent, const std::string& path);
/// Names of a group's members, in the order of the names.
std::vector<std::string> member_names(hid_t group);

/// Attributes of `object`: one 64-bit integer or double, a list of doubles, a text. Reading throws Error where there is
/// none of the name or of another kind.
void write_attribute(hid_t object, const std::string& name, std::int64_t value);
void write_attribute(hid_t object, const std::string& name, double value);
void write_attribute(hid_t object, const std::string& name, std::span<const double> values);
bool has_attribute(hid_t object, const std::string& name);
void read_attribute(hid_t object, const std::string& name, std::int64_t& value);
void read_attribute(hid_t object, const std::string& name, double& value);
/// Throws where there are not exactly values.size().
void read_attribute(hid_t object, const std::string& name, std::span<double> values);

/// Whether `parent` has a member of the name.
bool exists(hid_t parent, const std::string& name);

/// Texts of so many bytes, padded with 0.
Datatype text_type(std::size_t length);
/// A data set of texts, all padded to the longest.
void write_texts(hid_t parent, const std::string& name, std::span<const std::string> texts);
/// `limit_bytes`: no honest file holds more; checked before memory is taken.
std::vector<std::string> read_texts(hid_t parent, const std::string& name, std::uint64_t limit_bytes);
/// The only text of such a data set.
std::string read_text(hid_t parent, const std::string& name, std::uint64_t limit_bytes);

/// A contiguous data set of `type`.
struct Array {
  Dataset dataset;
  std::vector<std::int64_t> dims;

  std::int64_t count() const;
};
Array create_array(hid_t parent, const std::string& name, hid_t type, std::span<const std::int64_t> dims);
/// A contiguous data set gets its offset with its first write, after all that was placed before: its first element
/// does. For arrays whose values are then written past HDF5.
void allocate(const Array& array, hid_t type);
/// Throws Error where it is absent, of another type, not contiguous, of more bytes than `limit_bytes`, has no values,
/// or has them in another file.
Array open_array(hid_t parent, const std::string& name, hid_t type, std::uint64_t limit_bytes);
/// The same for texts of any fixed length.
Array open_texts(hid_t parent, const std::string& name, std::uint64_t limit_bytes);

/// How values lie in a file, and in memory. HDF5's names are values that the library knows only once it runs.
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

/// All values of an array, row-major.
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

/// A list of numbers as a data set of one dimension.
template <typename Value>
void write_list(hid_t parent, const std::string& name, const std::vector<Value>& values) {
  const std::int64_t count = std::ssize(values);
  write_values(create_array(parent, name, value_type<Value>().stored, {&count, 1}), values);
}

// --- Files in memory (io/memory_driver.cpp) --------------------------------------------------------------------------

/// A new file. Once it is closed `bytes` holds it up to the last byte written. `bytes` must outlive it.
File create_in_memory(std::vector<std::byte>& bytes);
/// A file of `size_bytes` for reading: first `bytes`, then zeros. `bytes` must outlive it.
File open_in_memory(std::span<const std::byte> bytes, std::uint64_t size_bytes);
/// Bytes that a file has when all that was asked for is written.
std::uint64_t flushed_size(const File& file);
/// All bytes of a new file that `write` fills. Memory for `value_bytes`, and for names beside them, is taken once.
std::vector<std::byte> encode_in_memory(std::uint64_t value_bytes, const std::function<void(hid_t file)>& write);

// --- What our files have in common -----------------------------------------------------------------------------------

/// Which kind of input a record is of: the text /kind in it.
void write_kind(hid_t record, const std::string& kind);
/// A record without one is older than kinds and of images. `what`: "it holds", for the message. Throws RequestError
/// where this program does not know the kind.
std::string read_kind(hid_t record, const std::string& what, std::uint64_t limit_bytes);

/// /tokenizer, /vocabulary: text; uint8, the model's bytes. vocabulary_size: attribute of the record.
void write_tokenization(hid_t record, const Tokenization& tokenization);
Tokenization read_tokenization(hid_t record, std::uint64_t limit_bytes);

/// Writes the names of columns, if there are any; reads empty ones from a record without them.
void write_columns(hid_t record, const ColumnNames& columns);
ColumnNames read_columns(hid_t record, std::uint64_t limit_bytes);

}  // namespace convoy::io::hdf5
