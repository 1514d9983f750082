/// Events, one per line. The format: "Trace Event Format", Google 2016.
#include "convoy/io/trace.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace convoy::io {

namespace {

using OrderedJson = nlohmann::ordered_json;

class TraceWriter {
 public:
  explicit TraceWriter(const TraceSpec& spec) : spec_(spec) {
    double first = std::numeric_limits<double>::infinity();
    for (const auto& rank : spec.timeline.ranks)
      if (!rank.empty()) first = std::min(first, rank.front().begin_seconds);
    first_seconds_ = first;
  }

  std::string write() {
    for (std::size_t rank = 0; rank < spec_.timeline.num_ranks(); ++rank) {
      name(rank);
      for (std::int64_t step = 0; step < spec_.timeline.num_steps; ++step) add_step(rank, step);
    }
    add_flows();
    const OrderedJson other = {{"ranks", spec_.timeline.num_ranks()},
                               {"stages", spec_.timeline.num_stages},
                               {"first_step", spec_.first_step},
                               {"steps", spec_.timeline.num_steps},
                               {"clock_error_us", microseconds(nanoseconds(spec_.clock_error_seconds))}};
    return fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\"traceEvents\":[\n{}\n]}}\n", other.dump(),
                       events_);
  }

 private:
  static std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }
  static double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }
  std::int64_t since_first(double seconds) const { return nanoseconds(seconds - first_seconds_); }

  void add(const char* phase, std::size_t rank, const OrderedJson& fields) {
    OrderedJson event = {{"ph", phase}, {"pid", spec_.timeline.replica_of(rank)}, {"tid", rank}};
    event.update(fields);
    if (!events_.empty()) events_ += ",\n";
    events_ += event.dump();
  }

  void name(std::size_t rank) {
    const std::size_t replica = spec_.timeline.replica_of(rank), stage = spec_.timeline.stage_of(rank);
    const auto say = [&](const char* what, const OrderedJson& args) {
      add("M", rank, {{"name", what}, {"args", args}});
    };
    if (stage == 0) say("process_name", {{"name", fmt::format("replica {}", replica)}});
    say("thread_name", {{"name", fmt::format("rank {}, stage {}", rank, stage)}});
    say("thread_sort_index", {{"sort_index", rank}});
  }

  /// Rounds begin and end, not the length, so that neighbours still meet.
  void add_slice(std::size_t rank, const std::string& name, const char* category, double begin, double end,
                 const OrderedJson& args) {
    const std::int64_t from = since_first(begin), to = since_first(end);
    add("X", rank,
        {{"name", name},
         {"cat", category},
         {"ts", microseconds(from)},
         {"dur", microseconds(to - from)},
         {"args", args}});
  }

  void add_step(std::size_t rank, std::int64_t step) {
    const auto& list = spec_.timeline.ranks[rank];
    const auto& idle = spec_.idle[rank];
    const std::size_t length = spec_.timeline.length_of(rank), begin = static_cast<std::size_t>(step) * length;
    if (length == 0) return;
    const std::int64_t number = spec_.first_step + step;
    add_slice(rank, fmt::format("step {}", number), "step", list[begin].begin_seconds,
              list[begin + length - 1].end_seconds, {{"step", number}});
    auto slice = std::lower_bound(
        idle.begin(), idle.end(), begin,
        [](const IdleSlice& one, std::size_t instruction_index) { return one.instruction_index < instruction_index; });
    for (std::size_t i = begin; i < begin + length; ++i) {
      add_instruction(rank, list[i]);
      for (; slice != idle.end() && slice->instruction_index == i; ++slice)
        add_slice(rank, fmt::format("idle: {}", to_string(slice->cause)), "idle", slice->begin_seconds,
                  slice->end_seconds, {{"cause", to_string(slice->cause)}});
    }
  }

  void add_instruction(std::size_t rank, const Span& timed) {
    const Instruction& i = timed.instruction;
    OrderedJson args = OrderedJson::object();
    if (i.micro_batch >= 0) args["micro_batch"] = i.micro_batch;
    if (i.bucket != kAllBuckets) args["bucket"] = i.bucket;
    args["cells"] = spec_.cells(rank, i);
    args["waited_us"] = microseconds(nanoseconds(timed.wait_seconds()));
    add_slice(rank, to_string(i), "instruction", timed.begin_seconds, timed.end_seconds, args);
  }

  void add_flows() {
    std::int64_t id = 0;
    for (const Passage& passage : find_passages(spec_.timeline)) {
      const Span& send = spec_.timeline.ranks[passage.from_rank][passage.send];
      const Span& receive = spec_.timeline.ranks[passage.to_rank][passage.receive];
      const char* name = send.instruction.op == Op::kSendActivation ? "activation" : "gradient";
      const auto end_of_flow = [&](double seconds) -> OrderedJson {
        return {{"name", name}, {"cat", "message"}, {"id", id}, {"ts", microseconds(since_first(seconds))}};
      };
      add("s", passage.from_rank, end_of_flow(send.begin_seconds));
      OrderedJson arrival = end_of_flow(receive.ready_seconds);
      arrival["bp"] = "e";  // the flow ends in the slice around it, not in the next one
      add("f", passage.to_rank, arrival);
      ++id;
    }
  }

  const TraceSpec& spec_;
  double first_seconds_ = 0;
  std::string events_;
};

}  // namespace

std::string encode_trace(const TraceSpec& spec) {
  return TraceWriter(spec).write();
}

}  // namespace convoy::io
