/// Ownership of memory: the device's, and the host's that the device sees.
#include <utility>

#include "convoy/device/device.h"

namespace convoy {

Buffer::Buffer(Device& device, std::int64_t size_bytes) : device_(&device), size_bytes_(size_bytes) {
  if (size_bytes > 0) data_ = static_cast<std::byte*>(device.allocate(size_bytes));
}

Buffer::~Buffer() {
  if (data_ != nullptr) device_->release(data_, size_bytes_);
}

Buffer::Buffer(Buffer&& other) noexcept
    : device_(other.device_),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

HostBuffer::HostBuffer(Device& device, std::int64_t size_bytes) : device_(&device), size_bytes_(size_bytes) {
  if (size_bytes > 0) data_ = static_cast<std::byte*>(device.allocate_host(size_bytes));
}

HostBuffer::~HostBuffer() {
  if (data_ != nullptr) device_->release_host(data_, size_bytes_);
}

HostBuffer::HostBuffer(HostBuffer&& other) noexcept
    : device_(other.device_),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

}  // namespace convoy
