/// Simulated time for instruction lists. An event is a stage that can continue. It continues as far as possible, which
/// may let others continue. If no event is left and some stages have not finished, the lists deadlock.
#include "convoy/schedule/simulator.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "convoy/base/error.h"

#include "schedule/simulated_step.h"

namespace convoy {

namespace {

using schedule::Channel;
using schedule::kUnknown;
using schedule::SimulatedMessage;
using schedule::SimulatedNetwork;
using schedule::Wait;
using Stage = schedule::SimulatedStage;

/// The work of a group of stages that share the cores of a processor, in simulated time. All stages that compute at the
/// same time get equal parts of the cores (processor sharing), so one clock that runs at their rate is enough for all
/// of them. The times given to its functions must not decrease.
class SharedWork {
 public:
  /// If n > stages_at_once stages compute at the same time, each runs at stages_at_once / n of its full speed, as in
  /// SharedCores.
  explicit SharedWork(double stages_at_once) : stages_at_once_(stages_at_once) {}

  /// At the simulated time `now`, the idle stage `stage` begins work that takes `seconds` at full speed.
  void begin(std::size_t stage, double seconds, double now) {
    if (!ends_.empty()) given_ += (now - now_) * rate();
    now_ = now;
    ends_.emplace(given_ + seconds, stage);
  }
  /// Returns the simulated time at which the next stage finishes its work, if no other begins before that; infinity if
  /// no stage works.
  double next_end() const {
    if (ends_.empty()) return std::numeric_limits<double>::infinity();
    return now_ + std::max(0.0, ends_.top().first - given_) / rate();
  }
  /// Advances the simulated time to next_end(). Returns the stage that finishes at this time; it is idle afterwards.
  std::size_t end_next() {
    now_ = next_end();
    const auto [given, stage] = ends_.top();
    given_ = given;  // exact, unlike a sum of rounded products
    ends_.pop();
    return stage;
  }

 private:
  using End = std::pair<double, std::size_t>;  ///< the value that given_ will have at the end of the work; the stage

  /// Returns the speed of each stage that works, as a share of its full speed.
  double rate() const { return std::min(1.0, stages_at_once_ / static_cast<double>(ends_.size())); }

  double stages_at_once_;
  double now_ = 0;
  double given_ = 0;  ///< work, in seconds at full speed, that a stage would have done if it had worked all the time
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

/// One AgreeOnUpdate of all stages.
struct Agreement {
  std::vector<std::size_t> stages;  ///< the stages that have reached it
  Wait wait{.until_seconds = kUnknown};
};

std::vector<BoundProgram> bind_all(const Schedule& schedule) {
  std::vector<BoundProgram> programs;
  for (const StageProgram& program : schedule) programs.push_back(bind_program(program));
  return programs;
}

class Simulator {
 public:
  Simulator(const Schedule& schedule, std::vector<WorkSeconds> work, const PipelineCosts& costs,
            const SimulationOptions& options)
      : agree_seconds_(costs.agree_seconds),
        keep_spans_(options.keep_spans),
        programs_(bind_all(schedule)),
        network_(programs_, costs, options.zero_buffering) {
    stages_.reserve(schedule.size());
    simulation_.spans.resize(schedule.size());
    for (std::size_t s = 0; s < schedule.size(); ++s) {
      stages_.emplace_back(programs_[s], std::move(work[s]), costs, s, schedule.size());
      if (keep_spans_) simulation_.spans[s].reserve(programs_[s].actions.size());
    }
    for (const SharedCores& cores : costs.shared) {
      for (std::int64_t s = cores.begin_stage; s < cores.end_stage; ++s) stages_[s].shared = shared_.size();
      shared_.emplace_back(cores.stages_at_once);
    }
  }

  Simulation run() {
    for (std::size_t s = 0; s < stages_.size(); ++s) events_.push({0.0, s});
    while (!events_.empty()) {
      const auto [now, who] = events_.top();
      events_.pop();
      if (who < stages_.size()) {
        advance(who, now);
      } else if (SharedWork& work = shared_[who - stages_.size()]; work.next_end() == now) {
        end_shared_work(work, who, now);
      }
    }
    if (!std::all_of(stages_.begin(), stages_.end(), [](const Stage& stage) { return stage.done(); }))
      report_deadlock();
    return result();
  }

 private:
  /// A time, and a stage or the number of stages + an index in shared_. A stage has at most one event. An event of
  /// shared cores is out of date if other stages have begun work on them since.
  using Event = std::pair<double, std::size_t>;

  /// Takes stage s as far as it can go.
  void advance(std::size_t s, double now) {
    Stage& stage = stages_[s];
    while (!stage.done()) {
      if (!stage.is_working) {
        if (!stage.has_begun) begin(s, now);
        const Wait wait = wait_of(s);
        if (wait.until_seconds == kUnknown) return;  // the stage that makes it known pushes the event
        if (wait.until_seconds > now) {
          if (!goes_next(wait.until_seconds, s)) return;
          now = wait.until_seconds;
        }
        const double seconds = stage.start_work(wait, now);
        if (seconds > 0 && stage.shared) {
          shared_[*stage.shared].begin(s, seconds, now);
          events_.push({shared_[*stage.shared].next_end(), stages_.size() + *stage.shared});
          return;
        }
        if (seconds > 0) {
          if (!goes_next(now + seconds, s)) return;
          now += seconds;
        }
      }
      finish(s, now);
    }
  }

  /// Ends the work of one stage; that of the others continues, faster.
  void end_shared_work(SharedWork& work, std::size_t who, double now) {
    const std::size_t s = work.end_next();
    const double next = work.next_end();
    if (next < std::numeric_limits<double>::infinity()) events_.push({next, who});
    stages_[s].times.busy_seconds += now - stages_[s].ready_seconds - stages_[s].work[stages_[s].position];
    advance(s, now);
  }

  /// Returns whether this is the next of all events and can be processed right away; else pushes it.
  bool goes_next(double time, std::size_t s) {
    const Event event{time, s};
    if (events_.empty() || event < events_.top()) return true;
    events_.push(event);
    return false;
  }

  void begin(std::size_t s, double now) {
    Stage& stage = stages_[s];
    stage.begin(now);
    const Action& action = stage.next();
    for (const EarlyReceive& receive : stage.program->receives_before(action)) {
      Channel& channel = *network_.channel_of(static_cast<std::int64_t>(s), receive.op, receive.chunk);
      wake(channel, network_.post(channel, now));
    }
    if (action.instruction.op == Op::kAgreeOnUpdate) come_to_agreement(s, now);
  }

  void come_to_agreement(std::size_t s, double now) {
    if (stages_[s].num_agreed == agreements_.size()) agreements_.emplace_back();
    Agreement& agreement = agreements_[stages_[s].num_agreed];
    agreement.stages.push_back(s);
    if (agreement.stages.size() < stages_.size()) return;
    agreement.wait = {.until_seconds = now + agree_seconds_, .ready_seconds = now};
    for (const std::size_t other : agreement.stages)
      if (other != s) events_.push({agreement.wait.until_seconds, other});
  }

  Wait wait_of(std::size_t s) {
    Stage& stage = stages_[s];
    const Action& action = stage.next();
    const Instruction& i = action.instruction;
    switch (i.op) {
      case Op::kRecvActivation:
      case Op::kRecvGradient: {
        const Channel& channel = *channel_of(s, i.op, i.chunk);
        return stage.wait_for(channel, channel.num_received, &SimulatedMessage::arrived);
      }
      case Op::kForward:
        if (action.frame < 0 || stage.chunks[i.chunk].sent_from_frame[action.frame] < 0) return {};
        return stage.wait_for(*channel_of(s, Op::kSendActivation, i.chunk),
                              stage.chunks[i.chunk].sent_from_frame[action.frame], &SimulatedMessage::left);
      case Op::kBackward:
      case Op::kBackwardInput:
        if (!action.first_piece || stage.chunks[i.chunk].sent_from_buffer[action.gradient_out] < 0) return {};
        return stage.wait_for(*channel_of(s, Op::kSendGradient, i.chunk),
                              stage.chunks[i.chunk].sent_from_buffer[action.gradient_out], &SimulatedMessage::left);
      case Op::kFoldBucket:
        return wait_for_exchange(i, stage.chunks[i.chunk].exchanges[i.bucket].reduced, "ReduceBucket");
      case Op::kGatherBucket:
        return wait_for_exchange(i, stage.chunks[i.chunk].exchanges[i.bucket].gathered, "UpdateBucket");
      case Op::kAgreeOnUpdate:
        return agreements_[stage.num_agreed].wait;
      default:
        return {};
    }
  }

  static Wait wait_for_exchange(const Instruction& i, double through, const char* starter) {
    if (through == kUnknown) fail("{} comes before its {}.", to_string(i), starter);
    return {.until_seconds = through, .ready_seconds = 0};
  }

  /// Wakes the stages that wait for a message which now leaves: its times are known. -1 is no message.
  void wake(const Channel& channel, std::int64_t message) {
    if (message < 0) return;
    const auto wake_stage = [&](std::int64_t s, double time) {
      schedule::AwaitedMessage& awaited = stages_[s].awaited;
      if (awaited.channel != &channel || awaited.message != message) return;
      awaited.channel = nullptr;
      events_.push({time, static_cast<std::size_t>(s)});
    };
    wake_stage(channel.receiver, channel.messages[message].arrived);
    wake_stage(channel.sender, channel.messages[message].left);
  }

  void finish(std::size_t s, double now) {
    Stage& stage = stages_[s];
    const Action& action = stage.next();
    const Instruction& i = action.instruction;
    schedule::SimulatedChunk& chunk = stage.chunks[i.chunk];
    const bool is_free = chunk.cost->buckets.empty();
    switch (i.op) {
      case Op::kRecvActivation:
      case Op::kRecvGradient:
        ++channel_of(s, i.op, i.chunk)->num_received;
        break;
      case Op::kSendActivation:
        if (action.frame >= 0) chunk.sent_from_frame[action.frame] = channel_of(s, i.op, i.chunk)->num_sent;
        send(*channel_of(s, i.op, i.chunk), now);
        break;
      case Op::kSendGradient:
        if (action.gradient_out >= 0)
          chunk.sent_from_buffer[action.gradient_out] = channel_of(s, i.op, i.chunk)->num_sent;
        send(*channel_of(s, i.op, i.chunk), now);
        break;
      case Op::kReduceBucket:
        chunk.exchanges[i.bucket].reduced =
            stage.exchange(now, is_free ? 0 : chunk.cost->buckets[i.bucket].reduce_seconds);
        break;
      case Op::kUpdateBucket:
        chunk.exchanges[i.bucket].gathered =
            stage.exchange(now, is_free ? 0 : chunk.cost->buckets[i.bucket].gather_seconds);
        break;
      case Op::kAgreeOnUpdate:
        ++stage.num_agreed;
        break;
      default:
        break;
    }
    if (keep_spans_) simulation_.spans[s].push_back({i, stage.begin_seconds, stage.ready_seconds, now});
    stage.finish(now);
  }

  void send(Channel& channel, double now) { wake(channel, network_.send(channel, now)); }

  Channel* channel_of(std::size_t s, Op op, std::int64_t chunk) {
    return network_.channel_of(static_cast<std::int64_t>(s), op, chunk);
  }

  [[noreturn]] void report_deadlock() {
    std::string waits;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      if (stages_[s].done()) continue;
      waits += fmt::format("{}stage {} at {} waits for {}", waits.empty() ? "" : "; ", s,
                           to_string(stages_[s].next().instruction), stages_[s].awaited_text());
    }
    fail("The schedule deadlocks{}: {}.", network_.is_zero_buffering() ? " without buffering" : "", waits);
  }

  Simulation result() {
    double busy_seconds = 0, held_seconds = 0;
    for (const Stage& stage : stages_) simulation_.step_seconds = std::max(simulation_.step_seconds, stage.end_seconds);
    for (Stage& stage : stages_) {
      stage.times.bubble_seconds += simulation_.step_seconds - stage.end_seconds;
      simulation_.stages.push_back(stage.times);
      busy_seconds += stage.times.busy_seconds;
      held_seconds += simulation_.step_seconds;
    }
    if (held_seconds > 0) simulation_.bubble = std::max(0.0, 1 - busy_seconds / held_seconds);
    return std::move(simulation_);
  }

  double agree_seconds_;
  bool keep_spans_;
  std::vector<BoundProgram> programs_;
  SimulatedNetwork network_;
  std::vector<Stage> stages_;
  std::vector<SharedWork> shared_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Agreement> agreements_;  ///< by k: the k-th AgreeOnUpdate of all stages
  Simulation simulation_;
};

/// Returns the costs of the chunks of stage s: every num_stages-th virtual stage from s on.
std::vector<ChunkCost> chunks_of(const PipelineCosts& costs, std::size_t s, std::size_t num_stages) {
  std::vector<ChunkCost> chunks;
  for (std::size_t v = s; v < costs.chunks.size(); v += num_stages) chunks.push_back(costs.chunks[v]);
  return chunks;
}

void check(const Schedule& schedule, const PipelineCosts& costs) {
  if (schedule.empty()) fail("A schedule without stages cannot be simulated.");
  if (costs.chunks.empty() || costs.chunks.size() % schedule.size() != 0)
    fail("A schedule of {} stages was given the costs of {} virtual stages.", schedule.size(), costs.chunks.size());
  const std::int64_t num = std::ssize(costs.chunks) / std::ssize(schedule);
  for (std::size_t s = 0; s < schedule.size(); ++s) {
    if (num_chunks(schedule[s]) > num)
      fail("Stage {} has {} chunks, and costs for {}.", s, num_chunks(schedule[s]), num);
  }
}

}  // namespace

Simulation simulate(const Schedule& schedule, const PipelineCosts& costs, const SimulationOptions& options) {
  check(schedule, costs);
  std::vector<WorkSeconds> work;
  for (std::size_t s = 0; s < schedule.size(); ++s)
    work.push_back(work_seconds(schedule[s], chunks_of(costs, s, schedule.size())));
  return Simulator(schedule, std::move(work), costs, options).run();
}

Simulation simulate(const Schedule& schedule, const std::vector<WorkSeconds>& work) {
  std::int64_t chunks = 1;
  for (const StageProgram& program : schedule) chunks = std::max(chunks, num_chunks(program));
  const PipelineCosts free{.chunks = std::vector<ChunkCost>(schedule.size() * static_cast<std::size_t>(chunks))};
  check(schedule, free);
  if (work.size() != schedule.size())
    fail("A schedule of {} stages was given the work of {}.", schedule.size(), work.size());
  for (std::size_t s = 0; s < work.size(); ++s)
    if (work[s].size() != schedule[s].size())
      fail("A list of {} instructions was given the work of {}.", schedule[s].size(), work[s].size());
  return Simulator(schedule, work, free, {}).run();
}

}  // namespace convoy
