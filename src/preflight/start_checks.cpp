/// See start_checks.h.
#include "preflight/start_checks.h"

#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/checkpoint.h"
#include "convoy/params/parameters.h"

#include "checkpoint/checkpointing.h"
#include "checkpoint/make_metadata.h"
#include "checkpoint/weights_file.h"
#include "run/restart.h"
#include "update/optimizer.h"

namespace convoy::preflight {

namespace {

std::vector<std::string> slots_of(const Parameters& params, const RunPlan& plan, ops::Backend& backend) {
  return make_optimizer(params.optimizer, plan.step.spec().network.type, backend.elementwise())->slot_names();
}

Start check_checkpoint(const Parameters& params, const RunData& data, const RunPlan& plan, ops::Backend& backend,
                       FoundFile found, Report& report) {
  const io::Checkpoint checkpoint = io::decode_checkpoint(found.bytes, found.path);
  const std::int64_t num_bytes = std::ssize(found.bytes) + (checkpoint.parts ? checkpoint.parts->size_bytes() : 0);
  found.bytes = std::vector<std::byte>();
  const Resumed resumed{.path = found.path, .state = checkpoint.state};
  check_continues(params, data, checkpoint, resumed);
  check_restorable(checkpoint, found.path,
                   {.network = plan.step.network(),
                    .slots = slots_of(params, plan, backend),
                    .has_ema = params.train.ema_decay > 0});
  report.add("checkpoint", ok(fmt::format("will resume from {}: {}, {}; it is whole and fits the network",
                                          describe_progress(resumed.state.step, plan.steps, params.train), found.path,
                                          human_bytes(num_bytes))));
  const std::string changes =
      describe_changes(changes_since(checkpoint, found.path, params, data.train.info()), found.path);
  if (!changes.empty()) report.add("checkpoint", warning(changes));
  if (params.init.weights != "random") {
    const std::string unused = describe_unused_weights(params, checkpoint, found.path);
    report.add("weights", unused.empty() ? not_checked("init.weights is not used: the checkpoint has its own weights")
                                         : warning(unused));
  }
  return {.is_known = true, .checkpoint = found.path, .step = resumed.state.step};
}

void check_weights(const Parameters& params, const RunData& data, const RunPlan& plan, Report& report) {
  const std::string where = "init.weights = " + params.init.weights;
  const FileWeights weights = decode_weights(read_weights_file(params.init.weights), params.init.weights,
                                             WeightsKind::kTrained, params.init.strip_prefix);
  if (weights.metadata) check_vocabulary(*weights.metadata, data.train.info(), "data.train", where);
  if (const std::string other = describe_new_normalisation(params, data.metadata, weights.metadata, where);
      !other.empty())
    report.add("weights", warning(other));
  const WeightMatch match = match_weights(plan.step.network(), weights.dict.tensors);
  if (match.is_exact())
    return report.add("weights", ok(where + ": the file is whole, and its tensors fit the network"));
  if (params.init.strict || match.matching.empty())
    return report.add(
        "weights",
        fails(fmt::format(
            "{} does not match this model: {}. {}{}", where, match.differences(), match.remedy(),
            params.init.strict && !match.matching.empty() ? " init.strict = false takes the tensors that fit." : "")));
  report.add(
      "weights",
      warning(fmt::format("{}: {} {}; {}. Tensors that the file does not give get their initial values, by train.seed",
                          where, counted(std::ssize(match.matching), "tensor"),
                          match.matching.size() == 1 ? "fits" : "fit", match.differences())));
}

}  // namespace

Start check_start(const Parameters& params, const RunData& data, const RunPlan& plan, ops::Backend& backend,
                  Report& report) {
  try {
    FoundFile found = find_start(params);
    if (!found.path.empty()) return check_checkpoint(params, data, plan, backend, std::move(found), report);
    report.add("checkpoint", ok("there is no checkpoint: the training begins at step 0"));
  } catch (const Error& error) {
    report.add("checkpoint", fails(error.what()));
    return {};
  }
  if (params.init.weights == "random") {
    report.add("weights", ok(fmt::format("random, from train.seed = {}", params.train.seed)));
    return {.is_known = true};
  }
  try {
    check_weights(params, data, plan, report);
  } catch (const Error& error) {
    report.add("weights", fails(fmt::format("init.weights = {}: {}", params.init.weights, error.what())));
  }
  return {.is_known = true};
}

}  // namespace convoy::preflight
