/// HDF5 files in memory that Convoy owns, created and opened without a file system, by an HDF5 file driver.
///
/// HDF5's core driver would copy whole images in and out, and needs memory for every byte between the first and the
/// last. This driver keeps only what is written, so that a shard's images can be a hole. It writes into the vector that
/// goes to the disk later, and reads from the bytes whose hash was verified.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>  // where HDF5 1.14 declares what drivers are made of
#endif

#include "io/hdf5.h"

namespace convoy::io::hdf5 {

namespace {

constexpr haddr_t kLargestAddress = haddr_t{1} << 62;

/// The memory of a file. The access properties carry it, and HDF5 copies it byte by byte.
struct Contents {
  std::vector<std::byte>* output = nullptr;  ///< null: read only
  const std::byte* input = nullptr;
  std::size_t input_bytes = 0;
  std::uint64_t size_bytes = 0;  ///< of the input with the zeros after it
};

/// An open file, of which HDF5 sees the first member.
struct MemoryFile {
  H5FD_t base;
  Contents contents;
  haddr_t end_of_allocation;
};

// HDF5, in C, calls the functions below, so they throw nothing.

MemoryFile& file_of(H5FD_t* file) {
  return *reinterpret_cast<MemoryFile*>(file);
}
const MemoryFile& file_of(const H5FD_t* file) {
  return *reinterpret_cast<const MemoryFile*>(file);
}

std::span<const std::byte> present_bytes(const Contents& contents) {
  if (contents.output != nullptr) return *contents.output;
  return {contents.input, contents.input_bytes};
}

H5FD_t* open_file(const char*, unsigned, hid_t access, haddr_t) noexcept {
  const auto* contents = static_cast<const Contents*>(H5Pget_driver_info(access));
  auto* file = contents != nullptr ? new (std::nothrow) MemoryFile{{}, *contents, 0} : nullptr;
  return file != nullptr ? &file->base : nullptr;
}

herr_t close_file(H5FD_t* file) noexcept {
  delete &file_of(file);
  return 0;
}

haddr_t get_end_of_allocation(const H5FD_t* file, H5FD_mem_t) noexcept {
  return file_of(file).end_of_allocation;
}

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t address) noexcept {
  file_of(file).end_of_allocation = address;
  return 0;
}

haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t) noexcept {
  const Contents& contents = file_of(file).contents;
  return contents.output != nullptr ? contents.output->size() : contents.size_bytes;
}

herr_t read_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) noexcept {
  const auto present = present_bytes(file_of(file).contents);
  const std::size_t from = std::min<haddr_t>(address, present.size());
  const std::size_t count = std::min(size, present.size() - from);
  if (count > 0) std::memcpy(buffer, present.data() + from, count);
  std::memset(static_cast<std::byte*>(buffer) + count, 0, size - count);
  return 0;
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, const void* buffer) noexcept {
  std::vector<std::byte>* const output = file_of(file).contents.output;
  if (output == nullptr || address > kLargestAddress - size) return -1;
  try {
    if (output->size() < address + size) output->resize(address + size);
  } catch (const std::exception&) {  // out of memory
    return -1;
  }
  if (size > 0) std::memcpy(output->data() + address, buffer, size);
  return 0;
}

hid_t register_driver() {
  static H5FD_class_t driver = {};
#ifdef H5FD_CLASS_VERSION
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(600);  // any above those that HDF5 reserves
#endif
  driver.name = "convoy_memory";
  driver.maxaddr = kLargestAddress;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(Contents);
  driver.open = open_file;
  driver.close = close_file;
  driver.get_eoa = get_end_of_allocation;
  driver.set_eoa = set_end_of_allocation;
  driver.get_eof = get_end_of_file;
  driver.read = read_bytes;
  driver.write = write_bytes;
  // Metadata and arrays have separate lists of free space: no array is put into a gap between metadata.
  std::fill(std::begin(driver.fl_map), std::end(driver.fl_map), H5FD_MEM_SUPER);
  driver.fl_map[H5FD_MEM_DRAW] = H5FD_MEM_DRAW;
  return CONVOY_CHECK_HDF5(H5FDregister(&driver));
}

PropertyList access_to(const Contents& contents) {
  static const hid_t kDriver = register_driver();
  PropertyList access(CONVOY_CHECK_HDF5(H5Pcreate(H5P_FILE_ACCESS)));
  CONVOY_CHECK_HDF5(H5Pset_driver(access, kDriver, &contents));
  CONVOY_CHECK_HDF5(H5Pset_small_data_block_size(access, 0));  // small arrays go after all others, too
  return access;
}

const char* const kName = "memory";  // HDF5 requires a name

}  // namespace

File create_in_memory(std::vector<std::byte>& bytes) {
  Contents contents;
  contents.output = &bytes;
  Lock lock = lock_library();
  const hid_t id = CONVOY_CHECK_HDF5(H5Fcreate(kName, H5F_ACC_TRUNC, file_creation(), access_to(contents)));
  return File(std::move(lock), id);
}

File open_in_memory(std::span<const std::byte> bytes, std::uint64_t size_bytes) {
  const Contents contents{nullptr, bytes.data(), bytes.size(), size_bytes};
  Lock lock = lock_library();
  const hid_t id = CONVOY_CHECK_HDF5(H5Fopen(kName, H5F_ACC_RDONLY, access_to(contents)));
  return File(std::move(lock), id);
}

std::uint64_t flushed_size(const File& file) {
  CONVOY_CHECK_HDF5(H5Fflush(file, H5F_SCOPE_LOCAL));
  hsize_t size = 0;
  CONVOY_CHECK_HDF5(H5Fget_filesize(file, &size));
  return size;
}

std::vector<std::byte> encode_in_memory(std::uint64_t value_bytes, const std::function<void(hid_t file)>& write) {
  constexpr std::uint64_t kUsualBytesBeside = std::uint64_t{1} << 20;
  std::vector<std::byte> bytes;
  bytes.reserve(value_bytes + kUsualBytesBeside);
  std::uint64_t size = 0;
  {
    const File file = create_in_memory(bytes);
    write(file);
    size = flushed_size(file);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace convoy::io::hdf5
