/// Data sets in users' HDF5 files, made for tests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/hdf5.h"

namespace convoy::test {

/// Writes a data set to the file, which is created unless it exists; in chunks of two samples that are compressed if
/// `chunked`. Without dims it is a single value; without values it is not written.
inline void write_hdf5(const std::string& path, const std::string& name, hid_t stored, hid_t given,
                       const std::vector<hsize_t>& dims, const void* values, bool chunked = false) {
  namespace hdf5 = io::hdf5;
  const hdf5::Lock lock = hdf5::lock_library();
  const bool is_new = !std::filesystem::exists(path);
  const hdf5::Handle<&H5Fclose> file(
      CONVOY_CHECK_HDF5(is_new ? H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT)
                               : H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)));
  const hdf5::PropertyList links(CONVOY_CHECK_HDF5(H5Pcreate(H5P_LINK_CREATE)));
  CONVOY_CHECK_HDF5(H5Pset_create_intermediate_group(links, 1));
  const hdf5::PropertyList creation(CONVOY_CHECK_HDF5(H5Pcreate(H5P_DATASET_CREATE)));
  std::vector<hsize_t> chunk = dims;
  if (chunked) {
    chunk.front() = 2;
    CONVOY_CHECK_HDF5(H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data()));
    CONVOY_CHECK_HDF5(H5Pset_shuffle(creation));
    CONVOY_CHECK_HDF5(H5Pset_deflate(creation, 4));
  }
  const hdf5::Dataspace space(CONVOY_CHECK_HDF5(
      dims.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr)));
  const hdf5::Dataset dataset(
      CONVOY_CHECK_HDF5(H5Dcreate2(file, name.c_str(), stored, space, links, creation, H5P_DEFAULT)));
  if (values != nullptr) CONVOY_CHECK_HDF5(H5Dwrite(dataset, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
}

}  // namespace convoy::test
