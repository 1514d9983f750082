/// Files first, words after them.
#include "run/open_run_directory.h"

#include <cstdint>
#include <filesystem>

#include <fmt/core.h>

#include "convoy/base/log.h"
#include "convoy/base/version.h"
#include "convoy/io/atomic_file.h"
#include "convoy/ops/engine_cache.h"
#include "convoy/params/parse.h"

#include "calibrate/calibration.h"
#include "plan/batch_norm_check.h"
#include "run/earlier_tables.h"
#include "run/report.h"
#include "run/run_tables.h"

namespace convoy {

namespace {

bool resumes_own_checkpoint(const RunOpening& start) {
  return start.resumed &&
         std::filesystem::path(start.resumed->path).parent_path() == checkpoint_directory(start.setup.params);
}

// Returns the first step that has a row. If the run began in another directory, only the checkpoint that it began from
// tells this step.
std::int64_t first_row(const RunOpening& start) {
  if (!start.resumed) return 1;
  if (!resumes_own_checkpoint(start)) return start.state.step + 1;
  return start.setup.params.checkpoint.resume == "auto" ? 1 : 0;
}

// Keeps the rows that this start would erase in another folder, and returns a sentence that names it; empty if there
// are no such rows.
std::string keep_earlier_tables(const RunOpening& start) {
  const std::string& directory = start.setup.params.run.directory;
  if (!resumes_own_checkpoint(start)) {
    const std::string folder = set_tables_aside(directory, SetAside::kMove);
    if (folder.empty()) return "";
    return fmt::format(
        "{} has tables of an earlier start, but no checkpoint: training begins at step {}. The earlier tables are kept "
        "in {}",
        directory, start.state.step, folder);
  }
  const auto recorded = find_recorded_checkpoint(directory, begins_from_file(start.setup.params));
  if (!recorded || recorded->step <= start.state.step) return "";
  const std::string folder = set_tables_aside(directory, SetAside::kCopy);
  return fmt::format(
      "{} records a checkpoint of step {}, but the newest usable checkpoint is of step {}: the steps after it are "
      "computed again. The tables with the earlier rows of these steps are kept in {}",
      recorded->file, recorded->step, start.state.step, folder);
}

constexpr const char* kParametersHead =
    "# The parameters of the last start of this run. If starts.csv names changes (column changed), the steps before\n"
    "# that start were computed with other values. convoy train THIS.cfg resumes the run with these parameters.\n";

void write_files(const RunOpening& start) {
  const RunParams& run = start.setup.params.run;
  io::make_directory(checkpoint_directory(start.setup.params));
  if (!start.nothing_to_do)
    io::write_text_atomically(run.directory + "/params.cfg", kParametersHead + render(start.setup.params));
  if (const ops::EngineCache* engine_cache = start.setup.runtime.operations().engine_cache())
    io::write_text_atomically(engines_path(run), engine_cache->serialise());
  if (start.setup.layout.machine) keep_costs(costs_path(run), *start.setup.layout.machine);
}

}  // namespace

void open_run_directory(const RunOpening& start, const StepClock& clock, std::optional<RunRecord>& record) {
  const GridShape grid = start.setup.runtime.plan().grid();
  const std::string kept = keep_earlier_tables(start);
  write_files(start);
  record.emplace(RunRecordSpec{.params = start.setup.params,
                               .steps = start.setup.steps,
                               .measured = start.data.measured_name(),
                               .kind = start.data.metadata.kind(),
                               .metrics = MetricList(start.setup.runtime.plan(), start.data.metadata,
                                                     start.setup.params.train.metric),
                               .first_row = first_row(start),
                               .live = start.live},
                 start.state, clock);
  if (!kept.empty()) log_warning(kept);
  const std::string machine = fmt::format("{}; {}", start.hosts, start.setup.runtime.device().description());
  record->add_start(std::string(version()), machine);
  add_start(start.setup.params.run.directory, {.step = start.state.step,
                                               .version = std::string(version()),
                                               .grid = fmt::format("{} x {}", grid.replicas, grid.stages),
                                               .machine = machine,
                                               .changed = start.resumed ? start.resumed->changes : ""});

  if (!start.setup.layout.reason.empty()) record->say(start.setup.layout.reason);
  record->say(describe_layout(start.setup.runtime.plan(),
                              fmt::format("messages by {}", start.setup.runtime.transport().description())));
  const io::ModelMetadata& metadata = start.data.metadata;
  if (start.setup.params.init.weights != "random" && metadata.reads_images())
    record->say("normalisation: " + io::describe_normalisation(metadata.image()));
  if (start.resumed) record->say(fmt::format("resumed: {}", start.resumed->path));
  if (start.nothing_to_do)
    record->say(start.state.step > start.setup.steps.total
                    ? fmt::format("nothing to do: {} steps are done, and {}", start.state.step,
                                  describe_total(start.setup.steps, start.setup.params.train))
                    : fmt::format("nothing to do: step {} of {} is done", start.state.step, start.setup.steps.total));
  for (const std::string& warning : warnings_for(start.setup.params)) log_warning(warning);
  for (const std::string& gap : start.data.gaps()) log_warning(gap);
  if (const std::string few =
          describe_few_steps(start.setup.params, start.setup.steps, start.data.train.info().num_samples);
      !few.empty())
    log_warning(few);
  const StepPlan& plan = start.setup.runtime.plan();
  if (const std::string few = describe_few_values(plan.network(), plan.spec().network); !few.empty()) log_warning(few);
  if (const std::string bound = describe_bound_bits(plan); !bound.empty()) log_warning(bound);
}

}  // namespace convoy
