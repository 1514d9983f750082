/// What oneDNN itself needs for a network's products and nothing else: the bound that a step is measured against.
#pragma once

#include <memory>
#include <vector>

#include "unit/ops/forwarding_backend.h"

namespace convoy::bench {

/// Products that a step cannot do without.
struct Products {
  std::vector<ops::ConvolutionSpec> convolutions;
  std::vector<ops::LinearSpec> linears;
  std::vector<ops::AttentionSpec> attentions;
};

/// Notes the products of all operations that are created.
class ProductList final : public ops::ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;

  const Products& products() const { return products_; }
  ops::AnyOp create_any(const ops::AnyRequest& request) override;

 private:
  Products products_;
};

/// Every convolution and matrix product of a step with oneDNN's primitives called directly, in the memory formats that
/// oneDNN likes best (`any`), nothing reordered, nothing between them. Of convolutions in float32.
class Yardstick {
 public:
  explicit Yardstick(const Products& products);
  ~Yardstick();

  /// Seconds of forward, data gradient (where it is needed) and weight gradient of all of them, once.
  double run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy::bench
