/// HDF5 with ownership and errors: handles that close themselves, calls that throw what HDF5 says.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hdf5.h>

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
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

using File = Handle<&H5Fclose>;
using Group = Handle<&H5Gclose>;
using Dataset = Handle<&H5Dclose>;
using Dataspace = Handle<&H5Sclose>;
using Datatype = Handle<&H5Tclose>;
using Attribute = Handle<&H5Aclose>;
using PropertyList = Handle<&H5Pclose>;

/// Creation properties without times of day, so that the same content gives the same bytes.
PropertyList file_creation();
PropertyList group_creation();
PropertyList dataset_creation();

Group create_group(hid_t parent, const std::string& name);
Group open_group(hid_t parent, const std::string& name);
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
/// A contiguous data set gets its place with its first write, behind all that was placed before: its first element
/// does. For arrays whose values are then written past HDF5.
void place(const Array& array, hid_t type);
/// Throws Error where it is absent, of another type, not contiguous, or of more bytes than `limit_bytes`.
Array open_array(hid_t parent, const std::string& name, hid_t type, std::uint64_t limit_bytes);
/// The same for texts of any fixed length.
Array open_texts(hid_t parent, const std::string& name, std::uint64_t limit_bytes);

}  // namespace convoy::io::hdf5
