/// What computes, and the memory it computes in. Operations are planned on it by ops::Library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "convoy/base/shape.h"

namespace convoy {

class Device;

/// Memory of a device, given back on destruction. 64-byte aligned, zeroed.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, std::int64_t size_bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  std::byte* data() const { return data_; }
  float* floats() const { return reinterpret_cast<float*>(data_); }
  std::int64_t size_bytes() const { return size_bytes_; }

 private:
  Device* device_ = nullptr;
  std::byte* data_ = nullptr;
  std::int64_t size_bytes_ = 0;
};

/// One rank's processor. Work is issued in order; synchronize() waits for it.
class Device {
 public:
  virtual ~Device() = default;

  /// "CPU, AVX-512, 2 threads".
  virtual std::string description() const = 0;
  virtual void* allocate(std::int64_t size_bytes) = 0;
  virtual void release(void* data, std::int64_t size_bytes) noexcept = 0;
  virtual void copy_to_device(void* device, const void* host, std::int64_t size_bytes) = 0;
  virtual void copy_to_host(void* host, const void* device, std::int64_t size_bytes) = 0;
  virtual void synchronize() = 0;
  std::int64_t allocated_bytes() const { return allocated_bytes_; }

 protected:
  std::int64_t allocated_bytes_ = 0;
};

/// The CPU device: `threads` OpenMP threads a rank, fixed for the whole run (results depend on their number).
std::unique_ptr<Device> make_cpu_device(std::int64_t threads);

}  // namespace convoy
