/// The HDF5 calls that Convoy's files need, checked.
#include "io/hdf5.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/log.h"

namespace convoy::io::hdf5 {

namespace {

// Keeps the deepest entry of the error stack: it says what went wrong, the others only who called.
herr_t keep_deepest(unsigned position, const H5E_error2_t* entry, void* text) noexcept {
  if (position == 0 && entry->desc != nullptr) *static_cast<const char**>(text) = entry->desc;
  return 0;
}

std::string deepest_message() {
  const char* text = "no message";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_deepest, &text);
  return text;
}

PropertyList without_times(hid_t kind) {
  PropertyList properties(CONVOY_CHECK_HDF5(H5Pcreate(kind)));
  CONVOY_CHECK_HDF5(H5Pset_obj_track_times(properties, 0));
  return properties;
}

void require_link(hid_t parent, const std::string& name) {
  if (!exists(parent, name)) fail("it has no '{}'", name);
}

Attribute open_attribute(hid_t object, const std::string& name, hid_t type, std::size_t count) {
  if (CONVOY_CHECK_HDF5(H5Aexists(object, name.c_str())) == 0) fail("it has no attribute '{}'", name);
  Attribute attribute(CONVOY_CHECK_HDF5(H5Aopen(object, name.c_str(), H5P_DEFAULT)));
  const Datatype stored(CONVOY_CHECK_HDF5(H5Aget_type(attribute)));
  const Dataspace space(CONVOY_CHECK_HDF5(H5Aget_space(attribute)));
  const auto found = CONVOY_CHECK_HDF5(H5Sget_simple_extent_npoints(space));
  if (CONVOY_CHECK_HDF5(H5Tequal(stored, type)) == 0) fail("its attribute '{}' is of another type", name);
  if (found != static_cast<hssize_t>(count)) fail("its attribute '{}' has {} values, not {}", name, found, count);
  return attribute;
}

void create_attribute(hid_t object, const std::string& name, hid_t type, const Dataspace& space, hid_t memory_type,
                      const void* values) {
  const Attribute attribute(CONVOY_CHECK_HDF5(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT)));
  CONVOY_CHECK_HDF5(H5Awrite(attribute, memory_type, values));
}

Dataspace scalar_space() {
  return Dataspace(CONVOY_CHECK_HDF5(H5Screate(H5S_SCALAR)));
}

}  // namespace

void be_silent() {
  thread_local const bool kSilent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  (void)kSilent;
}

void fail_call(const char* call, const char* file, int line) {
  fail("HDF5: {} ({} at {}:{})", deepest_message(), call, std::filesystem::path(file).filename().string(), line);
}

void warn_about_close(hid_t id) noexcept {
  try {
    log_warning(fmt::format("HDF5 could not close object {}: {}", id, deepest_message()));
  } catch (...) {  // no memory for the message
  }
}

Lock lock_library() {
  static std::recursive_mutex mutex;
  return Lock(mutex);
}

PropertyList file_creation() {
  return without_times(H5P_FILE_CREATE);
}

Group create_group(hid_t parent, const std::string& name) {
  return Group(
      CONVOY_CHECK_HDF5(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, without_times(H5P_GROUP_CREATE), H5P_DEFAULT)));
}

Group open_group(hid_t parent, const std::string& name) {
  require_link(parent, name);
  return Group(CONVOY_CHECK_HDF5(H5Gopen2(parent, name.c_str(), H5P_DEFAULT)));
}

Group open_or_create_groups(hid_t parent, const std::string& path) {
  const std::size_t slash = path.find('/');
  const std::string name = path.substr(0, slash);
  Group group = exists(parent, name) ? open_group(parent, name) : create_group(parent, name);
  return slash == std::string::npos ? std::move(group) : open_or_create_groups(group, path.substr(slash + 1));
}

std::vector<std::string> member_names(hid_t group) {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* list) noexcept -> herr_t {
    try {
      static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    } catch (const std::exception&) {  // out of memory
      return -1;
    }
    return 0;
  };
  CONVOY_CHECK_HDF5(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add,
                               &names));  // member by member would take quadratic time
  return names;
}

void write_attribute(hid_t object, const std::string& name, std::int64_t value) {
  create_attribute(object, name, H5T_STD_I64LE, scalar_space(), H5T_NATIVE_INT64, &value);
}

void write_attribute(hid_t object, const std::string& name, double value) {
  create_attribute(object, name, H5T_IEEE_F64LE, scalar_space(), H5T_NATIVE_DOUBLE, &value);
}

void write_attribute(hid_t object, const std::string& name, std::span<const double> values) {
  const hsize_t count = values.size();
  const Dataspace space(CONVOY_CHECK_HDF5(H5Screate_simple(1, &count, nullptr)));
  create_attribute(object, name, H5T_IEEE_F64LE, space, H5T_NATIVE_DOUBLE, values.data());
}

bool has_attribute(hid_t object, const std::string& name) {
  return CONVOY_CHECK_HDF5(H5Aexists(object, name.c_str())) > 0;
}

void read_attribute(hid_t object, const std::string& name, std::int64_t& value) {
  CONVOY_CHECK_HDF5(H5Aread(open_attribute(object, name, H5T_STD_I64LE, 1), H5T_NATIVE_INT64, &value));
}

void read_attribute(hid_t object, const std::string& name, double& value) {
  read_attribute(object, name, {&value, 1});
}

void read_attribute(hid_t object, const std::string& name, std::span<double> values) {
  const Attribute attribute = open_attribute(object, name, H5T_IEEE_F64LE, values.size());
  CONVOY_CHECK_HDF5(H5Aread(attribute, H5T_NATIVE_DOUBLE, values.data()));
}

bool exists(hid_t parent, const std::string& name) {
  return CONVOY_CHECK_HDF5(H5Lexists(parent, name.c_str(), H5P_DEFAULT)) > 0;
}

Datatype text_type(std::size_t length) {
  Datatype type(CONVOY_CHECK_HDF5(H5Tcopy(H5T_C_S1)));
  CONVOY_CHECK_HDF5(H5Tset_size(type, length));
  CONVOY_CHECK_HDF5(H5Tset_strpad(type, H5T_STR_NULLPAD));
  CONVOY_CHECK_HDF5(H5Tset_cset(type, H5T_CSET_UTF8));
  return type;
}

void write_texts(hid_t parent, const std::string& name, std::span<const std::string> texts) {
  std::size_t longest = 1;  // HDF5 has no texts of length 0
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  std::string packed;
  for (const std::string& text : texts) packed.append(text).append(longest - text.size(), '\0');

  const Datatype type = text_type(longest);
  const std::int64_t count = static_cast<std::int64_t>(texts.size());
  const Array array = create_array(parent, name, type, {&count, 1});
  CONVOY_CHECK_HDF5(H5Dwrite(array.dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.data()));
}

void commit(hid_t parent, const std::string& name, hid_t type) {
  const PropertyList creation = without_times(H5P_DATATYPE_CREATE);
  CONVOY_CHECK_HDF5(H5Tcommit2(parent, name.c_str(), type, H5P_DEFAULT, creation, H5P_DEFAULT));
}

Datatype open_type(hid_t parent, const std::string& name) {
  require_link(parent, name);
  return Datatype(CONVOY_CHECK_HDF5(H5Topen2(parent, name.c_str(), H5P_DEFAULT)));
}

Datatype type_of(hid_t parent, const std::string& name) {
  require_link(parent, name);
  const Dataset dataset(CONVOY_CHECK_HDF5(H5Dopen2(parent, name.c_str(), H5P_DEFAULT)));
  return Datatype(CONVOY_CHECK_HDF5(H5Dget_type(dataset)));
}

Array open_texts(hid_t parent, const std::string& name, std::uint64_t limit_bytes) {
  const Datatype stored = type_of(parent, name);
  if (CONVOY_CHECK_HDF5(H5Tget_class(stored)) != H5T_STRING || CONVOY_CHECK_HDF5(H5Tis_variable_str(stored)) != 0 ||
      H5Tget_size(stored) == 0) {
    fail("its '{}' is not a string of fixed length", name);
  }
  return open_array(parent, name, stored, limit_bytes);
}

std::vector<std::string> read_texts(hid_t parent, const std::string& name, std::uint64_t limit_bytes) {
  const Array array = open_texts(parent, name, limit_bytes);
  const Datatype stored(CONVOY_CHECK_HDF5(H5Dget_type(array.dataset)));
  const std::size_t length = H5Tget_size(stored);
  std::string packed(static_cast<std::size_t>(array.count()) * length, '\0');
  CONVOY_CHECK_HDF5(H5Dread(array.dataset, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.data()));

  std::vector<std::string> texts;
  for (std::size_t begin = 0; begin < packed.size(); begin += length) {
    texts.emplace_back(packed.data() + begin, strnlen(packed.data() + begin, length));
  }
  return texts;
}

std::string read_text(hid_t parent, const std::string& name, std::uint64_t limit_bytes) {
  auto texts = read_texts(parent, name, limit_bytes);
  if (texts.size() != 1) fail("its '{}' holds {} strings, not one", name, texts.size());
  return std::move(texts.front());
}

std::int64_t Array::count() const {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) product *= dim;
  return product;
}

Array create_array(hid_t parent, const std::string& name, hid_t type, std::span<const std::int64_t> dims) {
  const std::vector<hsize_t> extent(dims.begin(), dims.end());
  const Dataspace space(
      extent.empty() ? CONVOY_CHECK_HDF5(H5Screate(H5S_SCALAR))
                     : CONVOY_CHECK_HDF5(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr)));
  const PropertyList creation = without_times(H5P_DATASET_CREATE);
  CONVOY_CHECK_HDF5(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));  // all values are written later
  Dataset dataset(CONVOY_CHECK_HDF5(H5Dcreate2(parent, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT)));
  return {std::move(dataset), {dims.begin(), dims.end()}};
}

void allocate(const Array& array, hid_t type) {
  const Dataspace space(CONVOY_CHECK_HDF5(H5Dget_space(array.dataset)));
  const std::vector<hsize_t> first(array.dims.size(), 0);
  CONVOY_CHECK_HDF5(H5Sselect_elements(space, H5S_SELECT_SET, 1, first.data()));
  const hsize_t one = 1;
  const Dataspace one_element(CONVOY_CHECK_HDF5(H5Screate_simple(1, &one, nullptr)));
  const std::vector<std::byte> zeros(H5Tget_size(type));
  CONVOY_CHECK_HDF5(H5Dwrite(array.dataset, type, one_element, space, H5P_DEFAULT, zeros.data()));
}

Array open_array(hid_t parent, const std::string& name, hid_t type, std::uint64_t limit_bytes) {
  require_link(parent, name);
  Dataset dataset(CONVOY_CHECK_HDF5(H5Dopen2(parent, name.c_str(), H5P_DEFAULT)));
  const Datatype stored(CONVOY_CHECK_HDF5(H5Dget_type(dataset)));
  if (CONVOY_CHECK_HDF5(H5Tequal(stored, type)) == 0) fail("its '{}' is of another type", name);
  const PropertyList creation(CONVOY_CHECK_HDF5(H5Dget_create_plist(dataset)));
  if (CONVOY_CHECK_HDF5(H5Pget_layout(creation)) != H5D_CONTIGUOUS) fail("its '{}' is not contiguous", name);
  if (CONVOY_CHECK_HDF5(H5Pget_external_count(creation)) != 0) fail("the values of its '{}' are in another file", name);

  const Dataspace space(CONVOY_CHECK_HDF5(H5Dget_space(dataset)));
  if (CONVOY_CHECK_HDF5(H5Sget_simple_extent_type(space)) == H5S_NULL) fail("its '{}' has no values", name);
  const int rank = CONVOY_CHECK_HDF5(H5Sget_simple_extent_ndims(space));
  std::vector<hsize_t> extent(static_cast<std::size_t>(rank));
  CONVOY_CHECK_HDF5(H5Sget_simple_extent_dims(space, extent.data(), nullptr));
  // The product is kept below the limit at each step, so that it cannot overflow; a 0 anywhere makes it harmless.
  const auto refuse_size = [&] {
    fail("its '{}' claims more bytes than the file can hold for it ({})", name, limit_bytes);
  };
  std::uint64_t bytes = H5Tget_size(stored);
  if (bytes > limit_bytes) refuse_size();  // also for a single value, which has no dimensions
  for (const hsize_t dim : extent) {
    if (dim != 0 && bytes > limit_bytes / dim) refuse_size();
    bytes *= dim;
  }
  return {std::move(dataset), {extent.begin(), extent.end()}};
}

void write_kind(hid_t object, const std::string& kind) {
  write_texts(object, "kind", {&kind, 1});
}

std::string read_kind(hid_t object, const std::string& what, std::uint64_t limit_bytes) {
  if (!exists(object, "kind")) return input_kinds::kImages;
  std::string kind = read_text(object, "kind", limit_bytes);
  if (std::ranges::find(input_kinds::kAll, kind) == std::end(input_kinds::kAll))
    refuse("{} {}, but this program reads only {}", what, kind, fmt::join(input_kinds::kAll, ", "));
  return kind;
}

void write_tokenization(hid_t object, const Tokenization& tokenization) {
  write_attribute(object, "vocabulary_size", tokenization.vocabulary);
  write_texts(object, "tokenizer", {&tokenization.kind, 1});
  const std::int64_t size = std::ssize(tokenization.model);
  const Array model = create_array(object, "vocabulary", H5T_STD_U8LE, {&size, 1});
  if (size == 0) return;
  CONVOY_CHECK_HDF5(
      H5Dwrite(model.dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, tokenization.model.data()));
}

Tokenization read_tokenization(hid_t object, std::uint64_t limit_bytes) {
  Tokenization tokenization;
  read_attribute(object, "vocabulary_size", tokenization.vocabulary);
  tokenization.kind = read_text(object, "tokenizer", limit_bytes);
  const Array model = open_array(object, "vocabulary", H5T_STD_U8LE, limit_bytes);
  tokenization.model.resize(static_cast<std::size_t>(model.count()));
  if (tokenization.model.empty()) return tokenization;
  CONVOY_CHECK_HDF5(H5Dread(model.dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, tokenization.model.data()));
  return tokenization;
}

void write_columns(hid_t object, const ColumnNames& columns) {
  if (columns.text.empty()) return;
  write_texts(object, "text_column", {&columns.text, 1});
  write_texts(object, "label_column", {&columns.label, 1});
}

ColumnNames read_columns(hid_t object, std::uint64_t limit_bytes) {
  if (!exists(object, "text_column")) return {};
  return {.text = read_text(object, "text_column", limit_bytes),
          .label = read_text(object, "label_column", limit_bytes)};
}

}  // namespace convoy::io::hdf5
