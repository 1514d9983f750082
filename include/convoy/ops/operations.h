/// The contracts of all operations, for code that creates them or is asked to create any of them.
#pragma once

#include <variant>

#include "convoy/ops/activation.h"
#include "convoy/ops/attention.h"
#include "convoy/ops/batch_norm.h"
#include "convoy/ops/broadcast.h"
#include "convoy/ops/channel_copy.h"
#include "convoy/ops/convolution.h"
#include "convoy/ops/dropout.h"
#include "convoy/ops/embedding.h"
#include "convoy/ops/gather.h"
#include "convoy/ops/image_batch.h"
#include "convoy/ops/layer_norm.h"
#include "convoy/ops/linear.h"
#include "convoy/ops/operation_list.h"
#include "convoy/ops/pooling.h"
#include "convoy/ops/prepend.h"
#include "convoy/ops/sample_cross_entropy.h"
#include "convoy/ops/score_sums.h"
#include "convoy/ops/sequence_mean.h"
#include "convoy/ops/softmax.h"
#include "convoy/ops/softmax_cross_entropy.h"
#include "convoy/ops/target_loss.h"

namespace convoy::ops {

/// Returns the spec of a request for an Op; null if another operation is requested.
template <typename Op>
const typename Op::Spec* spec_of(const AnyRequest& request) {
  const auto* found = std::get_if<OpRequest<Op>>(&request);
  return found == nullptr ? nullptr : &found->spec;
}

/// Calls create.template operator()<Op>(spec), where Op is the operation that is requested, and returns its result, a
/// std::unique_ptr<Op>.
template <typename Create>
AnyOp create_requested(const AnyRequest& request, Create&& create) {
  return std::visit(
      [&]<typename Op>(const OpRequest<Op>& of) -> AnyOp { return create.template operator()<Op>(of.spec); }, request);
}

}  // namespace convoy::ops
