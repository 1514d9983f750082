/// Embeddings: trained tables with a row for each token of the vocabulary, or for each position in a sequence.
#pragma once

#include <string>

#include "model/cell_builder.h"

namespace convoy {

struct EmbeddingSettings {
  std::int64_t num_rows = 0;  ///< V, number of rows of the table
  std::int64_t width = 0;     ///< C, number of values of a row
  double deviation = 1;       ///< standard deviation of the initial values, which are normal around 0
  float scale = 1;            ///< factor by which the rows are multiplied
  bool sinusoids = false;     ///< whether sinusoidal position encodings are added
};

/// Adds y = scale * table[tokens]: see ops::EmbeddingOp.    tokens (N,T,1,1)   NAME.weight (V,C)   y (N,T,1,C)
Value embedding(const std::string& name, const Value& tokens, const EmbeddingSettings& settings);

/// Adds y[n,t] = scale * table[t]: a learned position embedding for sequences with the N and T of x. Its forward throws
/// Error if T is larger than settings.num_rows. See ops::EmbeddingOp.    NAME.weight (rows,C)   y (N,T,1,C)
Value position_embedding(const std::string& name, const Value& x, const EmbeddingSettings& settings);

/// Adds y[n,t] = table[t]: a learned position embedding for sequences that all have T words. T and C are those of x.
/// NAME is the table (1,T,C); its initial values are normal around 0 with the standard deviation `deviation`.
Value position_table(const std::string& name, const Value& x, double deviation);

}  // namespace convoy
