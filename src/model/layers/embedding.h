/// Tables with a row for each word, and for each place in a sequence.
#pragma once

#include <string>

#include "model/cell_builder.h"

namespace convoy {

struct EmbeddingSettings {
  std::int64_t num_rows = 0;  ///< V
  std::int64_t width = 0;     ///< C
  double deviation = 1;       ///< of the initial values, normal around 0
  float scale = 1;            ///< what rows are multiplied by
  bool sinusoids = false;     ///< sinusoidal positions are added
};

/// y = scale * table[tokens], as ops::EmbeddingOp has it    tokens (N,T,1,1)   NAME.weight (V,C)   y (N,T,1,C)
Value embedding(const std::string& name, const Value& tokens, const EmbeddingSettings& settings);

/// y[n,t] = table[t]: learned positions, for sequences like x    NAME.weight (T,C)   y (N,T,1,C)
Value position_embedding(const std::string& name, const Value& x, const EmbeddingSettings& settings);

/// Likewise, for sequences of T words all, of x's width; the table is NAME (1,T,C).
Value position_table(const std::string& name, const Value& x, double deviation);

}  // namespace convoy
