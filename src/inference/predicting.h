/// What the predictions of samples and of frames have in common.
#pragma once

#include <cstdint>
#include <string_view>

#include "convoy/comm/process_grid.h"
#include "convoy/ops/backend.h"

#include "evaluation/evaluation.h"
#include "run/trained_model.h"
#include "step/rank_runtime.h"

namespace convoy {

struct Request;

/// Throws RequestError if the network of the runtime gives no outputs that could be predictions.
void check_gives_outputs(const RankRuntime& runtime, const TrainedModel& model);
/// Throws Error naming the sample if an output of a step is infinite or NaN.
void check_finite(const StepOutputs& step, const io::SampleStore& data, std::int64_t num_outputs);

/// Predicts the frames of predict.frames pixels that come from the standard input of rank 0 until it ends, and writes a
/// row for each to predict.output; any grid writes the same bytes. Throws RequestError if weights, stream or output
/// cannot be used, and Error if the stream ends within a frame, after all whole frames have been written. All ranks of
/// the grid call it.
ExitStatus predict_frames(const Request& request, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board);

}  // namespace convoy
