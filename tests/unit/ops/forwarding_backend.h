/// A backend that forwards every call to another: a test or a benchmark overrides one kind of operation to watch it.
#pragma once

#include "convoy/ops/backend.h"
#include "convoy/ops/operations.h"

namespace convoy::ops {

class ForwardingBackend : public Backend {
 public:
  explicit ForwardingBackend(Backend& inner) : inner_(inner) {}

  Device& device() override { return inner_.device(); }
  AnyOp create_any(const AnyRequest& request) override { return inner_.create_any(request); }
  ElementwiseOps& elementwise() override { return inner_.elementwise(); }
  std::int64_t scratch_bytes() const override { return inner_.scratch_bytes(); }
  EngineCache* engine_cache() override { return inner_.engine_cache(); }

 protected:
  Backend& inner() { return inner_; }

 private:
  Backend& inner_;
};

}  // namespace convoy::ops
