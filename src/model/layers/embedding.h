/// Tables with a row for each word, or for each position in a sequence.
#pragma once

#include <string>

#include "model/cell_builder.h"

namespace convoy {

struct EmbeddingSettings {
  std::int64_t num_rows = 0;  ///< V
  std::int64_t width = 0;     ///< C
  double deviation = 1;       ///< standard deviation of the initial values, which are normal around 0
  float scale = 1;            ///< factor of the rows
  bool sinusoids = false;     ///< whether sinusoidal positions are added
};

/// y = scale * table[tokens], see ops::EmbeddingOp    tokens (N,T,1,1)   NAME.weight (V,C)   y (N,T,1,C)
Value embedding(const std::string& name, const Value& tokens, const EmbeddingSettings& settings);

/// y[n,t] = scale * table[t]: learned positions for sequences with the N and T of x. The table has settings.num_rows
/// rows; forward throws Error if T is larger. See ops::EmbeddingOp.    NAME.weight (rows,C)   y (N,T,1,C)
Value position_embedding(const std::string& name, const Value& x, const EmbeddingSettings& settings);

/// y[n,t] = table[t]: learned positions for sequences that all have T words; T and C are those of x. NAME is the table
/// (1,T,C).
Value position_table(const std::string& name, const Value& x, double deviation);

}  // namespace convoy
