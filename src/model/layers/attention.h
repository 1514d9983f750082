/// Self-attention with several heads.
#pragma once

#include <string>

#include "model/cell_builder.h"

namespace convoy {

struct AttentionSettings {
  std::int64_t num_heads = 1;  ///< H, number of heads, which must divide C
  double dropout = 0;          ///< probability that training sets an attention weight to 0
};

/// Adds y = out_proj(attention(in_proj(x))): Vaswani et al. 2017, section 3.2.2. Padding (words at or after a
/// sequence's length) neither attends nor is attended to: its y is the bias of out_proj. Cell::create_ops() throws
/// Error if the width of a head, C / H, is not 16, 32, 64 or 128.    x, y (N,T,1,C)   lengths (N,1,1,1) int32
/// Names and initial values of parameters are as in torch.nn.MultiheadAttention: NAME.in_proj_weight (3C,C),
/// NAME.in_proj_bias (3C), NAME.out_proj.weight (C,C), NAME.out_proj.bias (C).
Value self_attention(const std::string& name, const Value& x, const Value& lengths, const AttentionSettings& settings);
/// Adds self-attention for sequences that all have T words, without padding. The rest is as with `lengths`.
Value self_attention(const std::string& name, const Value& x, const AttentionSettings& settings);

}  // namespace convoy
