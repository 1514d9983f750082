/// Binds the device's embedding to its table; for positions it reads no tokens.
#include "model/layers/embedding.h"

#include "convoy/ops/operations.h"

namespace convoy {

namespace {

class Embedding final : public Layer {
 public:
  Embedding(ParameterRef weight, const ops::EmbeddingSpec& spec, bool reads_tokens)
      : spec_(spec), reads_tokens_(reads_tokens), weight_(weight) {}

  std::string operation() const override { return ops::EmbeddingOp::kName; }
  bool has_weights() const override { return true; }
  bool backward_weight_reads_dy() const override { return true; }
  Reads read_by_forward() const override { return reads(); }
  Reads read_by_backward_weight() const override { return reads(); }

  void create_ops(ops::Backend& backend) override { op_ = backend.create<ops::EmbeddingOp>(spec_); }
  void forward(const Frame& frame) const override {
    op_->forward(tokens(frame), frame.weights[weight_], frame[y().location]);
  }
  void backward_input(const Frame&) const override {}
  void backward_weight(const Frame& frame) const override {
    op_->backward_weight(tokens(frame), frame[dy()], frame.gradient(weight_));
  }

 private:
  Reads reads() const { return reads_tokens_ ? Reads{&x()} : Reads{}; }
  const std::int32_t* tokens(const Frame& frame) const {
    return reads_tokens_ ? reinterpret_cast<const std::int32_t*>(frame[x().location]) : nullptr;
  }

  ops::EmbeddingSpec spec_;
  bool reads_tokens_;
  ParameterRef weight_;
  std::unique_ptr<ops::EmbeddingOp> op_;
};

ParameterRef table(CellBuilder& cell, const std::string& name, const std::vector<std::int64_t>& dims,
                   double deviation) {
  return cell.memory().parameter({.name = cell.parameter_name(name),
                                  .dims = dims,
                                  .initial = {InitialValues::Kind::kNormal, deviation},
                                  .role = ParameterRole::kEmbedding});
}

ParameterRef table(const std::string& name, const Value& x, const EmbeddingSettings& settings) {
  return table(x.cell(), name + ".weight", {settings.num_rows, settings.width}, settings.deviation);
}

Value add_embedding(ParameterRef weight, const Value& x, const EmbeddingSettings& settings, bool reads_tokens) {
  CellBuilder& cell = x.cell();
  const ops::EmbeddingSpec spec{.n = x.shape().n,
                                .length = x.shape().length(),
                                .num_rows = settings.num_rows,
                                .width = settings.width,
                                .scale = settings.scale,
                                .sinusoids = settings.sinusoids,
                                .type = cell.type()};
  return cell.add(std::make_unique<Embedding>(weight, spec, reads_tokens), {{&x.tensor(), GradientRule::kNone}},
                  {.spec = {Shape::sequences(spec.n, spec.length, spec.width), cell.type()}});
}

}  // namespace

Value embedding(const std::string& name, const Value& tokens, const EmbeddingSettings& settings) {
  return add_embedding(table(name, tokens, settings), tokens, settings, /*reads_tokens=*/true);
}

Value position_embedding(const std::string& name, const Value& x, const EmbeddingSettings& settings) {
  return add_embedding(table(name, x, settings), x, settings, /*reads_tokens=*/false);
}

Value position_table(const std::string& name, const Value& x, double deviation) {
  const EmbeddingSettings settings{.num_rows = x.shape().length(), .width = x.shape().c};
  return add_embedding(table(x.cell(), name, {1, settings.num_rows, settings.width}, deviation), x, settings,
                       /*reads_tokens=*/false);
}

}  // namespace convoy
