/// Data sets of users' HDF5 files. Unlike our own files, they are opened by HDF5 itself: they may be larger than
/// memory, in chunks, and compressed.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/array_reader.h"
#include "convoy/io/atomic_file.h"

#include "io/arrays/array_form.h"
#include "io/hdf5.h"
#include "io/stored_arrays.h"

namespace convoy::io {

namespace {

constexpr std::size_t kMaxNames = 1000, kNumNamesShown = 10;
constexpr int kMaxDepth = 16;  // of groups; a link may lead in a circle
constexpr std::size_t kMaxTextBytes = 4096;

hdf5::File open_file(const std::string& path) {
  file_size(open_for_reading(path), path);  // names what is no regular file
  hdf5::Lock lock = hdf5::lock_library();
  const hdf5::PropertyList access(CONVOY_CHECK_HDF5(H5Pcreate(H5P_FILE_ACCESS)));
  // Some file systems have no locks, and nothing is written.
  CONVOY_CHECK_HDF5(H5Pset_file_locking(access, /*use_file_locking=*/0, /*ignore_when_disabled=*/1));
  const hid_t file = CONVOY_CHECK_HDF5(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
  return {std::move(lock), file};
}

// Calls `read` with the open file. Messages begin with the path.
template <typename Read>
auto with_file(const std::string& path, const Read& read) try {
  const hdf5::File file = open_file(path);
  return read(static_cast<hid_t>(file));
} catch (const Error& error) {
  fail("'{}': {}", path, error.what());
}

void add_names(hid_t group, const std::string& prefix, int depth, std::vector<std::string>& names) {
  using Object = hdf5::Handle<&H5Oclose>;
  for (const std::string& name : hdf5::member_names(group)) {
    if (names.size() == kMaxNames) return;
    if (CONVOY_CHECK_HDF5(H5Oexists_by_name(group, name.c_str(), H5P_DEFAULT)) == 0) continue;  // a broken link
    const Object object(CONVOY_CHECK_HDF5(H5Oopen(group, name.c_str(), H5P_DEFAULT)));
    const H5I_type_t kind = H5Iget_type(object);
    if (kind == H5I_DATASET) names.push_back(prefix + name);
    if (kind == H5I_GROUP && depth < kMaxDepth) add_names(object, prefix + name + "/", depth + 1, names);
  }
}

std::vector<std::string> names_in(hid_t file) {
  const hdf5::Group root(CONVOY_CHECK_HDF5(H5Gopen2(file, "/", H5P_DEFAULT)));
  std::vector<std::string> names;
  add_names(root, "", 0, names);
  return names;
}

// Whether each group of the path, and its end, exist.
bool exists(hid_t file, const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (slash > 0 && H5Oexists_by_name(file, path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
  return !path.empty() && path != "/" && H5Oexists_by_name(file, path.c_str(), H5P_DEFAULT) > 0;
}

hdf5::Dataset open_dataset(hid_t file, const std::string& path) {
  using Object = hdf5::Handle<&H5Oclose>;
  const auto is_dataset = [&] {
    return H5Iget_type(Object(CONVOY_CHECK_HDF5(H5Oopen(file, path.c_str(), H5P_DEFAULT)))) == H5I_DATASET;
  };
  if (!exists(file, path) || !is_dataset()) {
    std::vector<std::string> names;
    for (const std::string& name : names_in(file)) names.push_back(excerpt(name));
    fail("it has no data set '{}'. {}", excerpt(path),
         names.empty() ? "It has none" : fmt::format("It has: {}", first_few(names, kNumNamesShown)));
  }
  return hdf5::Dataset(CONVOY_CHECK_HDF5(H5Dopen2(file, path.c_str(), H5P_DEFAULT)));
}

// --- Types -----------------------------------------------------------------------------------------------------------

// Returns the stored type with the least significant byte first.
hdf5::Datatype little_endian(hid_t stored) {
  hdf5::Datatype type(CONVOY_CHECK_HDF5(H5Tcopy(stored)));
  CONVOY_CHECK_HDF5(H5Tset_order(type, H5T_ORDER_LE));
  return type;
}

ElementType type_of_numbers(hid_t stored) {
  if (const auto type = find_element_type(little_endian(stored))) return *type;
  fail("it holds numbers of {} bits in {} bytes, which no array of NumPy has", H5Tget_precision(stored),
       H5Tget_size(stored));
}

// Returns the type of the values, as `stored` has them; nothing if they are texts.
std::optional<ElementType> element_type(hid_t stored) {
  switch (CONVOY_CHECK_HDF5(H5Tget_class(stored))) {
    case H5T_INTEGER:
    case H5T_FLOAT:
      return type_of_numbers(stored);
    case H5T_ENUM:  // h5py writes booleans as one
      return type_of_numbers(hdf5::Datatype(CONVOY_CHECK_HDF5(H5Tget_super(stored))));
    case H5T_STRING:
      return std::nullopt;
    case H5T_COMPOUND:
      fail("it holds records. Write each field to a data set of its own");
    default:
      fail("it holds neither numbers nor texts");
  }
}

// Returns the type in which values are read: as they are stored, but in the byte order of this machine.
hdf5::Datatype memory_type(hid_t stored) {
  if (H5Tget_class(stored) == H5T_ENUM) return little_endian(hdf5::Datatype(CONVOY_CHECK_HDF5(H5Tget_super(stored))));
  return little_endian(stored);
}

std::vector<std::int64_t> extents_of(hid_t dataset) {
  const hdf5::Dataspace space(CONVOY_CHECK_HDF5(H5Dget_space(dataset)));
  if (CONVOY_CHECK_HDF5(H5Sget_simple_extent_type(space)) != H5S_SIMPLE)
    fail("it is a single value or has none, and is no array with an extent for its samples");
  std::vector<hsize_t> extents(static_cast<std::size_t>(CONVOY_CHECK_HDF5(H5Sget_simple_extent_ndims(space))));
  CONVOY_CHECK_HDF5(H5Sget_simple_extent_dims(space, extents.data(), nullptr));
  return {extents.begin(), extents.end()};
}

// --- The array -------------------------------------------------------------------------------------------------------

class Hdf5Array final : public ArrayReader {
 public:
  Hdf5Array(std::string path, std::string dataset) : path_(std::move(path)), dataset_(std::move(dataset)) {
    with_file(path_, [this](hid_t file) {
      const hdf5::Dataset opened = open_dataset(file, dataset_);
      const hdf5::Datatype stored(CONVOY_CHECK_HDF5(H5Dget_type(opened)));
      form_.type = element_type(stored);
      form_.dims = extents_of(opened);
      check_dims(form_.dims, form_.type ? size_of(*form_.type) : 1);
    });
  }

  const ArrayForm& form() const override { return form_; }

  void read(std::int64_t first, std::int64_t count, std::span<std::byte> values) override {
    if (!form_.type) fail("'{}', '{}': numbers were requested, but it holds texts", path_, dataset_);
    check_range(first, count);
    if (std::ssize(values) != count * form_.values_of_sample() * size_of(*form_.type))
      fail("'{}', '{}': {} bytes cannot hold {} of {}", path_, dataset_, values.size(), counted(count, "sample"),
           to_string(form_));
    with_file(path_, [&](hid_t file) {
      const hdf5::Dataset opened = open_dataset(file, dataset_);
      const hdf5::Datatype stored(CONVOY_CHECK_HDF5(H5Dget_type(opened)));
      if (element_type(stored) != form_.type) fail("'{}' has changed since it was opened", dataset_);
      read_range(opened, memory_type(stored), first, count, values.data());
    });
  }

  std::vector<std::string> read_texts(std::int64_t first, std::int64_t count) override {
    if (form_.type || form_.values_of_sample() != 1)
      fail("'{}', '{}': a text for each sample was requested, but it holds {}", path_, dataset_, to_string(form_));
    check_range(first, count);
    return with_file(path_, [&](hid_t file) {
      const hdf5::Dataset opened = open_dataset(file, dataset_);
      const hdf5::Datatype stored(CONVOY_CHECK_HDF5(H5Dget_type(opened)));
      if (element_type(stored)) fail("'{}' has changed since it was opened", dataset_);
      return CONVOY_CHECK_HDF5(H5Tis_variable_str(stored)) > 0 ? read_variable(opened, stored, first, count)
                                                               : read_fixed(opened, stored, first, count);
    });
  }

 private:
  void check_range(std::int64_t first, std::int64_t count) const {
    if (first < 0 || count < 0 || first > form_.num_samples() - count)
      fail("'{}', '{}': samples {} to {} were requested, but it holds {}", path_, dataset_, first, first + count - 1,
           to_string(form_));
  }

  hdf5::Dataspace select(hid_t opened, std::int64_t first, std::vector<hsize_t> extents) const {
    if (extents_of(opened) != form_.dims) fail("'{}' has changed since it was opened", dataset_);
    std::vector<hsize_t> begin(extents.size(), 0);
    begin.front() = static_cast<hsize_t>(first);
    hdf5::Dataspace space(CONVOY_CHECK_HDF5(H5Dget_space(opened)));
    CONVOY_CHECK_HDF5(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, extents.data(), nullptr));
    return space;
  }

  std::vector<hsize_t> extents_of_range(std::int64_t count) const {
    std::vector<hsize_t> extents(form_.dims.begin(), form_.dims.end());
    extents.front() = static_cast<hsize_t>(count);
    return extents;
  }

  void read_range(hid_t opened, hid_t type, std::int64_t first, std::int64_t count, void* values) const {
    const std::vector<hsize_t> extents = extents_of_range(count);
    const hdf5::Dataspace space = select(opened, first, extents);
    if (count == 0) return;
    const hdf5::Dataspace memory(
        CONVOY_CHECK_HDF5(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr)));
    CONVOY_CHECK_HDF5(H5Dread(opened, type, memory, space, H5P_DEFAULT, values));
  }

  std::vector<std::string> read_fixed(hid_t opened, hid_t stored, std::int64_t first, std::int64_t count) const {
    const std::size_t length = H5Tget_size(stored);
    if (length > kMaxTextBytes) fail("it has texts of {} bytes. Allowed: {}", length, kMaxTextBytes);
    std::string packed(static_cast<std::size_t>(count) * length, '\0');
    read_range(opened, stored, first, count, packed.data());
    const bool ends_with_blanks = H5Tget_strpad(stored) == H5T_STR_SPACEPAD;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < packed.size(); i += length) {
      std::string text(packed.data() + i, strnlen(packed.data() + i, length));
      if (ends_with_blanks) text.resize(text.find_last_not_of(' ') + 1);
      texts.push_back(std::move(text));
    }
    return texts;
  }

  std::vector<std::string> read_variable(hid_t opened, hid_t stored, std::int64_t first, std::int64_t count) const {
    // Many elements may refer to one long text, of which HDF5 would allocate a copy for each.
    hsize_t bytes = 0;
    if (count > 0)
      CONVOY_CHECK_HDF5(H5Dvlen_get_buf_size(opened, stored, select(opened, first, extents_of_range(count)), &bytes));
    if (bytes > static_cast<hsize_t>(count) * (kMaxTextBytes + 1))
      fail("it has texts of more than {} bytes", kMaxTextBytes);
    std::vector<char*> pointers(static_cast<std::size_t>(count), nullptr);
    read_range(opened, stored, first, count, pointers.data());
    std::vector<std::string> texts;
    bool is_too_long = false;
    for (char*& pointer : pointers) {
      texts.emplace_back(pointer != nullptr ? std::string_view(pointer).substr(0, kMaxTextBytes + 1) : "");
      is_too_long = is_too_long || texts.back().size() > kMaxTextBytes;
      H5free_memory(std::exchange(pointer, nullptr));
    }
    if (is_too_long) fail("it has texts of more than {} bytes", kMaxTextBytes);
    return texts;
  }

  std::string path_, dataset_;
  ArrayForm form_;
};

}  // namespace

std::unique_ptr<ArrayReader> open_hdf5(const std::string& path, const std::string& dataset) try {
  return std::make_unique<Hdf5Array>(path, dataset);
} catch (const Error& error) {
  refuse("{}", error.what());
}

std::vector<std::string> names_in_hdf5(const std::string& path) try {
  return with_file(path, names_in);
} catch (const Error& error) {
  refuse("{}", error.what());
}

}  // namespace convoy::io
