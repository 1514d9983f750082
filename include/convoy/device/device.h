/// The device on which a rank computes, and its memory. ops::Backend creates operations on it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace convoy {

/// Work on fixed memory that is issued again and again with the same arguments. A device with graphs issues it at the
/// first run, captures it at the second and then replays it; other devices issue it at each run.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Runs the work. `issue` must issue the same work at every call, to this device only. It is not called if a captured
  /// graph is replayed.
  virtual void run(const std::function<void()>& issue) = 0;
};

/// A lane on which one copy at a time runs while the device computes. It is made once and used again and again.
class CopyLane {
 public:
  virtual ~CopyLane() = default;
  /// The next copy waits for the work issued before this call, and for nothing issued later.
  virtual void mark() = 0;
  /// Starts a copy from the device. `host` must be in a HostBuffer, and the copy before must be done().
  virtual void start_to_host(void* host, const void* device, std::int64_t size_bytes) = 0;
  virtual void start_to_device(void* device, const void* host, std::int64_t size_bytes) = 0;
  /// Whether the last copy has ended, or none was started. Does not wait.
  virtual bool done() = 0;
  /// Work issued after this call waits for the last copy.
  virtual void join() = 0;
};

/// Measures when a device did its work. It is made once, with room for a fixed number of marks.
class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  /// Sets mark `number` to the time at which the work issued so far is done. Neither waits nor allocates. Marks are set
  /// in the order of their numbers, from 0.
  virtual void mark(std::int64_t number) = 0;
  /// The times of the first `num_marks` marks, in seconds of now_seconds(). All of them must have been set. Waits for
  /// the device.
  virtual std::vector<double> read(std::int64_t num_marks) = 0;
};

/// The processor of one rank. Work is issued in order and may run later; synchronize() waits for it.
class Device {
 public:
  virtual ~Device() = default;

  /// What the device is, for messages: "CPU, AVX-512, 2 threads".
  virtual std::string description() const = 0;
  /// Whether its memory is the host's: MPI and the host may read and write it once work on it is done.
  virtual bool is_host() const = 0;
  /// The size of its own memory in bytes; 0 if its memory is the host's.
  virtual std::int64_t memory_bytes() const { return 0; }
  /// A name of the hardware, "GPU-5e1fd8a0-...", which is the same for ranks that share the device. Empty if its memory
  /// is the host's.
  virtual std::string hardware_id() const { return {}; }

  // Buffer and HostBuffer call these.
  virtual void* allocate(std::int64_t size_bytes) = 0;
  virtual void release(void* data, std::int64_t size_bytes) noexcept = 0;
  virtual void* allocate_host(std::int64_t size_bytes) = 0;
  virtual void release_host(void* data, std::int64_t size_bytes) noexcept = 0;

  // Copies between any memory of the host and the device's, in order with the work issued so far; complete when they
  // return. They are for setup and checkpoints: a step uses copy lanes.
  virtual void copy_to_device(void* device, const void* host, std::int64_t size_bytes) = 0;
  virtual void copy_to_host(void* host, const void* device, std::int64_t size_bytes) = 0;

  virtual std::unique_ptr<CopyLane> make_copy_lane() = 0;
  virtual std::unique_ptr<Recording> make_recording() = 0;
  virtual std::unique_ptr<Stopwatch> make_stopwatch(std::int64_t num_marks) = 0;
  virtual void synchronize() = 0;
  /// Whether all work issued so far is done. Does not wait.
  virtual bool idle() = 0;
  /// Bytes that its Buffers hold now.
  std::int64_t allocated_bytes() const { return allocated_bytes_; }

 protected:
  std::atomic<std::int64_t> allocated_bytes_ = 0;  ///< any thread may allocate
};

/// Memory of a device, released on destruction: 64-byte aligned, zeroed. A move exchanges what the two objects hold.
/// part_of() makes one that does not own its memory, for SharedMemory (convoy/comm/shared_memory.h).
template <auto kAllocate, auto kRelease>
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(Device& device, std::int64_t size_bytes) {
    if (size_bytes > 0)
      data_ = {static_cast<std::byte*>((device.*kAllocate)(size_bytes)), Release{&device, size_bytes}};
  }
  /// Memory that is not released on destruction: `data` must outlive the object and all that it is moved to.
  static DeviceMemory part_of(std::byte* data, std::int64_t size_bytes) {
    DeviceMemory part;
    if (size_bytes > 0) part.data_ = {data, Release{nullptr, size_bytes}};
    return part;
  }
  DeviceMemory(DeviceMemory&& other) noexcept = default;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    data_.swap(other.data_);
    return *this;
  }

  std::byte* data() const { return data_.get(); }
  std::int64_t size_bytes() const { return data_ == nullptr ? 0 : data_.get_deleter().size_bytes; }
  float* floats() const { return as<float>().data(); }
  template <typename T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data()), static_cast<std::size_t>(size_bytes()) / sizeof(T)};
  }

 private:
  struct Release {
    Device* device = nullptr;  ///< null: the memory is not owned
    std::int64_t size_bytes = 0;

    void operator()(std::byte* data) const noexcept {
      if (device != nullptr) (device->*kRelease)(data, size_bytes);
    }
  };
  std::unique_ptr<std::byte, Release> data_;
};

/// Memory of the device.
using Buffer = DeviceMemory<&Device::allocate, &Device::release>;

/// Memory of the host that the device also reads and writes, under the same address. The host sees what the device
/// writes there after Device::synchronize() or the end of a copy.
using HostBuffer = DeviceMemory<&Device::allocate_host, &Device::release_host>;

/// Makes a CPU device with `threads` OpenMP threads per rank, fixed for the whole run. Its work is done when the call
/// that issues it returns.
std::unique_ptr<Device> make_cpu_device(std::int64_t threads);

}  // namespace convoy
