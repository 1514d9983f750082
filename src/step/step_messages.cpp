/// Virtual stages follow each other around the stages: after the last one's chunk c comes the first one's chunk c + 1.
#include "step/step_messages.h"

#include "convoy/comm/tags.h"

namespace convoy {

StepMessages::StepMessages(const RankRuntime& runtime, const BoundProgram& program, bool has_gradients)
    : chunks_(program.num_frames.size()) {
  for (std::int64_t c = 0; c < std::ssize(chunks_); ++c) create(runtime, c, program.num_frames[c], has_gradients);
}

void StepMessages::create(const RankRuntime& runtime, std::int64_t c, std::int64_t num_frames, bool has_gradients) {
  const ProcessGrid& grid = runtime.grid();
  const Stage& stage = runtime.stage();
  const ChunkPlan& chunk = stage.plan().chunks[c];
  const std::int64_t num_stages = grid.num_stages(), num_gradients = has_gradients ? kGradientBuffers : 0;
  const auto make = [&](auto create_one, MessageSpec spec, std::int64_t num, const auto& data_of) {
    Messages messages;
    for (std::int64_t i = 0; i < num; ++i) {
      spec.data = data_of(i);
      messages.push_back((runtime.transport().*create_one)(spec));
    }
    return messages;
  };
  if (!chunk.is_first) {
    const std::int64_t chunk_before = grid.is_first_stage() ? c - 1 : c;
    MessageSpec spec{.group = grid.model(),
                     .size_bytes = chunk.boundary_in_bytes,
                     .peer = static_cast<int>((grid.stage() + num_stages - 1) % num_stages),
                     .tag = tags::activation(chunk_before)};
    chunks_[c].activation_receives = make(&Transport::receive, spec, num_frames, [&](std::int64_t frame) {
      return stage.input({c, frame});
    });
    spec.tag = tags::gradient(chunk_before);
    chunks_[c].gradient_sends =
        make(&Transport::send, spec, num_gradients, [&](std::int64_t buffer) { return stage.gradient_out(c, buffer); });
  }
  if (!chunk.is_last) {
    MessageSpec spec{.group = grid.model(),
                     .size_bytes = chunk.boundary_out_bytes,
                     .peer = static_cast<int>((grid.stage() + 1) % num_stages),
                     .tag = tags::activation(c)};
    chunks_[c].activation_sends = make(&Transport::send, spec, num_frames, [&](std::int64_t frame) {
      return stage.output({c, frame});
    });
    spec.tag = tags::gradient(c);
    chunks_[c].gradient_receives = make(&Transport::receive, spec, num_gradients,
                                        [&](std::int64_t buffer) { return stage.gradient_in(c, buffer); });
  }
}

Message& StepMessages::receive(const EarlyReceive& receive) const {
  const OfChunk& messages = chunks_[receive.chunk];
  return receive.op == Op::kRecvActivation ? *messages.activation_receives[receive.buffer]
                                           : *messages.gradient_receives[receive.buffer];
}

}  // namespace convoy
