/// The time that oneDNN itself needs for a network's products and nothing else: the bound with which a step is
/// compared.
#pragma once

#include <memory>
#include <vector>

#include "convoy/ops/operations.h"

#include "unit/ops/forwarding_backend.h"

namespace convoy::bench {

/// The matrix products and convolutions of a step.
struct Products {
  std::vector<ops::ConvolutionSpec> convolutions;
  std::vector<ops::LinearSpec> linears;
  std::vector<ops::AttentionSpec> attentions;
};

/// Lists the products of all operations that are created.
class ProductList final : public ops::ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;

  const Products& products() const { return products_; }
  ops::AnyOp create_any(const ops::AnyRequest& request) override;

 private:
  Products products_;
};

/// Every convolution and matrix product of a step by direct calls of oneDNN's primitives, in the memory formats that
/// oneDNN prefers (`any`), with no reordering and nothing between them. Convolutions are in float32.
class Yardstick {
 public:
  explicit Yardstick(const Products& products);
  ~Yardstick();

  /// Runs forward, data gradient (if needed) and weight gradient of all of them once, and returns the seconds.
  double run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy::bench
