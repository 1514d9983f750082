/// Copies rows from the loader's buffers to the device, and rounds them there.
#include "data/row_reader.h"

#include <thread>
#include <utility>

#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"

namespace convoy {

namespace {

/// Copies rows straight from the buffer to the feature's memory.
class RowReader final : public FeatureReader {
 public:
  RowReader(const TensorSpec& spec, Device& device, MakeBufferWriter make_writer)
      : bytes_(spec.bytes()), make_writer_(std::move(make_writer)), lane_(device.make_copy_lane()) {}

  std::int64_t buffer_bytes() const override { return bytes_; }
  std::unique_ptr<BufferWriter> make_writer() const override { return make_writer_(); }
  bool ready() const override { return true; }
  void start(const std::byte* buffer) override { buffer_ = buffer; }
  void finish(void* to) override {
    while (!lane_->done()) std::this_thread::yield();
    lane_->mark();  // waits for work that still reads the old values
    lane_->start_to_device(to, buffer_, bytes_);
    lane_->join();
  }
  bool has_left() const override { return lane_->done(); }

 private:
  std::int64_t bytes_;
  MakeBufferWriter make_writer_;
  std::unique_ptr<CopyLane> lane_;
  const std::byte* buffer_ = nullptr;
};

/// Rounds float32 rows to the feature's type. The host reads a buffer in place; another device gets a copy of it.
class RoundingRowReader final : public FeatureReader {
 public:
  RoundingRowReader(const TensorSpec& spec, ops::Backend& backend, MakeBufferWriter make_writer)
      : spec_(spec),
        elementwise_(backend.elementwise()),
        make_writer_(std::move(make_writer)),
        lane_(backend.device().make_copy_lane()) {
    if (!backend.device().is_host()) copy_ = Buffer(backend.device(), buffer_bytes());
  }

  std::int64_t buffer_bytes() const override { return spec_.shape.count() * static_cast<std::int64_t>(sizeof(float)); }
  std::unique_ptr<BufferWriter> make_writer() const override { return make_writer_(); }
  bool ready() const override { return lane_->done(); }
  void start(const std::byte* buffer) override {
    while (!ready()) std::this_thread::yield();
    rows_ = buffer;
    if (copy_.data() == nullptr) return;
    lane_->start_to_device(copy_.data(), buffer, buffer_bytes());
    rows_ = copy_.data();
  }
  void finish(void* to) override {
    lane_->join();
    elementwise_.round_to(spec_.type, reinterpret_cast<const float*>(rows_), to, spec_.shape.count());
    lane_->mark();  // the next copy waits until this one has been rounded
  }
  bool has_left() const override { return lane_->done(); }

 private:
  TensorSpec spec_;
  ops::ElementwiseOps& elementwise_;
  MakeBufferWriter make_writer_;
  std::unique_ptr<CopyLane> lane_;
  Buffer copy_;  ///< empty on the host
  const std::byte* rows_ = nullptr;
};

}  // namespace

std::unique_ptr<FeatureReader> make_row_reader(const TensorSpec& spec, ops::Backend& backend,
                                               MakeBufferWriter make_writer) {
  if (size_of(spec.type) == sizeof(float))
    return std::make_unique<RowReader>(spec, backend.device(), std::move(make_writer));
  return std::make_unique<RoundingRowReader>(spec, backend, std::move(make_writer));
}

}  // namespace convoy
