/// The program on a processor that computes wrongly: the linker puts this file's make_backend() where the program calls
/// its own. CONVOY_TEST_FAULT=1:9 makes rank 1 compute another gradient of the loss in the training's 9th micro-batch
/// on it. CONVOY_TEST_FAULT=1:9:crash lets it crash at the end, too, as it may if memory was damaged.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include <mpi.h>

#include "convoy/ops/backend.h"
#include "convoy/ops/operations.h"

namespace convoy::ops {

// The name that --wrap gives it (tests/app/CMakeLists.txt).
std::unique_ptr<Backend> sound_backend(const BackendSpec& spec) asm(
    "__real__ZN6convoy3ops12make_backendERKNS0_11BackendSpecE");
std::unique_ptr<Backend> faulty_backend(const BackendSpec& spec) asm(
    "__wrap__ZN6convoy3ops12make_backendERKNS0_11BackendSpecE");

namespace {

class FaultyLoss final : public SoftmaxCrossEntropyOp {
 public:
  FaultyLoss(std::unique_ptr<SoftmaxCrossEntropyOp> sound, int faulty_run)
      : sound_(std::move(sound)), faulty_run_(faulty_run) {}

  void run(const LossArguments& args) override {
    sound_->run(args);
    if (++num_runs_ >= faulty_run_) *static_cast<float*>(args.dlogits) *= 1.0f + 0x1p-23f;
  }

 private:
  std::unique_ptr<SoftmaxCrossEntropyOp> sound_;
  int faulty_run_, num_runs_ = 0;
};

class FaultyBackend final : public Backend {
 public:
  FaultyBackend(std::unique_ptr<Backend> sound, int faulty_run, bool crashes)
      : sound_(std::move(sound)), faulty_run_(faulty_run), crashes_(crashes) {}
  ~FaultyBackend() override {
    if (crashes_) std::abort();
  }

  Device& device() override { return sound_->device(); }
  ElementwiseOps& elementwise() override { return sound_->elementwise(); }
  std::int64_t scratch_bytes() const override { return sound_->scratch_bytes(); }
  EngineCache* engine_cache() override { return sound_->engine_cache(); }

  // The first loss that is created is that of the training.
  AnyOp create_any(const AnyRequest& request) override {
    AnyOp op = sound_->create_any(request);
    auto* loss = std::get_if<std::unique_ptr<SoftmaxCrossEntropyOp>>(&op);
    if (loss == nullptr || std::exchange(has_loss_, true)) return op;
    return std::make_unique<FaultyLoss>(std::move(*loss), faulty_run_);
  }

 private:
  std::unique_ptr<Backend> sound_;
  int faulty_run_;
  bool crashes_;
  bool has_loss_ = false;
};

}  // namespace

std::unique_ptr<Backend> faulty_backend(const BackendSpec& spec) {
  std::unique_ptr<Backend> sound = sound_backend(spec);
  int rank = 0, faulty_rank = -1, faulty_run = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* fault = std::getenv("CONVOY_TEST_FAULT");
  if (fault == nullptr || std::sscanf(fault, "%d:%d", &faulty_rank, &faulty_run) != 2 || rank != faulty_rank)
    return sound;
  return std::make_unique<FaultyBackend>(std::move(sound), faulty_run, std::strstr(fault, "crash") != nullptr);
}

}  // namespace convoy::ops
