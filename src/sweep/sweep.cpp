/// The sweep: its rows, the rounds over them, and the tables of the results so far.
#include "sweep/sweep.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <optional>

#include <fmt/chrono.h>

#include "convoy/base/clock.h"
#include "convoy/base/features.h"
#include "convoy/base/print.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/stop_signals.h"
#include "convoy/comm/topology.h"
#include "convoy/io/dataset.h"
#include "convoy/io/run_lock.h"

#include "checkpoint/make_metadata.h"
#include "sweep/measure_row.h"
#include "sweep/sweep_files.h"
#include "sweep/sweep_rows.h"
#include "sweep/sweep_table.h"
#include "watchdog/status_board.h"

namespace convoy {

namespace {

// "AMD EPYC 7763 64-Core Processor"; "unknown processor" if Linux does not say.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const std::size_t colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  return "unknown processor";
}

std::string describe(const SweepTable& table) {
  std::string text;
  for (const SweepRow& row : table.rows)
    text += fmt::format("row {}: {}; {}{}{}\n", row.number, describe_values(table, row), counted(row.ranks, "rank"),
                        row.reason.empty() ? "" : "; skipped: ", row.reason);
  return text;
}

// Sets the threads per rank to those of a row with all ranks. If a rank had more threads in a row of few ranks, the
// rows would not show what more ranks gain.
Parameters with_equal_ranks(Parameters params, const mpi::Communicator& world) {
  params.run.threads = threads_per_rank(params.run.threads, world);
  return params;
}

class Sweep {
 public:
  Sweep(const Parameters& params, const mpi::Communicator& world, const MakeBackend& make_backend, StatusBoard& board)
      : params_(with_equal_ranks(params, world)),
        world_(world),
        make_backend_(make_backend),
        board_(board),
        metadata_(model_metadata(params, io::Dataset(params.data.train, "data.train").info(), &world)),
        table_(make_table(params_, world.size())) {
    check_rows(metadata_, table_);
    if (params.sweep.row > std::ssize(table_.rows))
      refuse("sweep.row = {}: this sweep has {} rows. sweep.list = true prints them.", params.sweep.row,
             table_.rows.size());
    head_ = {.network = metadata_.name,
             .sample = std::string(input_kinds::one_of(metadata_.kind())),
             .machine = fmt::format("{}; {}", processor_name(), host_summary(find_topology(world))),
             .date = fmt::format("{:%Y-%m-%d}", fmt::localtime(static_cast<std::time_t>(wall_clock_seconds()))),
             .work = params.sweep.work,
             .num_rounds = params.sweep.rounds,
             .num_steps = params.sweep.steps};
  }

  ExitStatus run() {
    // 1. The rows
    if (is_root()) print("{}", describe(table_));
    if (params_.sweep.list) return ExitStatus::kDone;
    if (std::none_of(table_.rows.begin(), table_.rows.end(), [&](const SweepRow& row) { return is_asked_for(row); }))
      refuse("No row of this sweep can be measured by this job; the lines above say why.");
    mpi::on_root(world_, [&] { files_.emplace(params_.run.directory, params_, world_.size()); });
    // 2. The rounds; every second one goes from the last row to the first, so that no row always follows the same one
    bool stopped = false;
    for (std::int64_t round = 1; round <= params_.sweep.rounds && !stopped; ++round) {
      for (std::int64_t i = 0; i < std::ssize(table_.rows) && !stopped; ++i) {
        const SweepRow& row =
            table_.rows[static_cast<std::size_t>(round % 2 == 1 ? i : std::ssize(table_.rows) - 1 - i)];
        if (!is_asked_for(row)) continue;
        if (begin(row, round)) measure(row, round);
        stopped = stop_is_agreed();
      }
    }
    // 3. The tables
    mpi::on_root(world_, [&] { write_tables(); });
    if (is_root())
      print("{}{}/sweep.csv, sweep.md, sweep.svg\n", stopped ? "stopped; the same command continues. " : "-> ",
            params_.run.directory);
    return stopped ? ExitStatus::kStoppedEarly : ExitStatus::kDone;
  }

 private:
  bool is_asked_for(const SweepRow& row) const {
    return row.reason.empty() && (params_.sweep.row == 0 || params_.sweep.row == row.number);
  }

  // Begins a row on rank 0. Returns on all ranks whether the row is to be measured.
  bool begin(const SweepRow& row, std::int64_t round) {
    std::int64_t wanted = 0;
    mpi::on_root(world_, [&] {
      if (!files_->wants(row.number, round)) return;
      lock_.emplace(files_->folder_of(row.number));
      files_->begin(row.number, round);
      wanted = 1;
    });
    return world_.max(wanted) != 0;
  }

  void measure(const SweepRow& row, std::int64_t round) {
    const bool takes_part = world_.rank() < row.ranks;
    board_.leave_place();
    std::optional<RowMeasurement> measured;
    {
      const mpi::Communicator part = world_.split(takes_part ? 0 : 1, world_.rank());
      if (takes_part) measured = measure_on(part, row);
    }
    mpi::on_root(world_, [&] { note(row, round, measured); });  // ranks without a part in the row sleep until now
  }

  // A refusal, which is the same on all ranks of the row, is the row's result.
  std::optional<RowMeasurement> measure_on(const mpi::Communicator& ranks, const SweepRow& row) const {
    try {
      return measure_row(row.params, ranks, *make_backend_(row.params, ranks), board_);
    } catch (const RequestError& error) {
      return RowMeasurement{.failure = error.what()};
    }
  }

  void note(const SweepRow& row, std::int64_t round, const std::optional<RowMeasurement>& measured) {
    if (measured) {
      files_->end(row.number, round, *measured);
      say(row, round, *measured);
      write_tables();
    } else {
      files_->abandon(row.number, round);
    }
    lock_.reset();
  }

  void say(const SweepRow& row, std::int64_t round, const RowMeasurement& measured) const {
    std::string text = measured.failure;
    if (text.empty()) {
      const double samples = static_cast<double>(measured.batch_global) / measured.step_seconds;
      text = fmt::format("{:.1f} {}s/s, step {} ms", samples, head_.sample, milliseconds(measured.step_seconds));
      if (measured.predicted_seconds > 0)
        text += fmt::format(", predicted {} ms", milliseconds(measured.predicted_seconds));
      text += fmt::format(", memory of a rank at most {}", human_bytes(measured.max_memory_bytes()));
      if (finds_largest_micro(row.params)) text += fmt::format(", batch.micro {}", measured.batch_micro);
    }
    print("round {} of {}, row {} of {} ({}): {}\n", round, params_.sweep.rounds, row.number, table_.rows.size(),
          describe_values(table_, row), text);
  }

  bool stop_is_agreed() const { return world_.max(stop_is_requested() ? 1 : 0) != 0; }

  // Writes the tables from the results in the directory, which may include rows of other jobs. Another job may have
  // ended and written its tables meanwhile, so the tables are written again until there are no new results.
  void write_tables() {
    const std::string directory = params_.run.directory + "/";
    std::int64_t num_files = 0;
    do {
      num_files = files_->num_results();
      std::vector<RowResult> results;
      results.reserve(table_.rows.size());
      for (const SweepRow& row : table_.rows)
        results.push_back(summarise(files_->read(row.number, params_.sweep.rounds)));
      write_shared_text(directory + "sweep.csv", sweep_csv(table_, results));
      write_shared_text(directory + "sweep.md", sweep_markdown(head_, table_, results));
      write_shared_text(directory + "sweep.svg", draw_sweep(head_, table_, results));
    } while (files_->num_results() != num_files);
  }

  bool is_root() const { return world_.rank() == 0; }

  const Parameters params_;
  const mpi::Communicator& world_;
  const MakeBackend& make_backend_;
  StatusBoard& board_;
  io::ModelMetadata metadata_;
  SweepTable table_;
  SweepHead head_;
  std::optional<SweepFiles> files_;  ///< on rank 0
  std::optional<io::RunLock> lock_;  ///< on rank 0: the lock of the row that is being measured
};

}  // namespace

ExitStatus sweep(const Parameters& params, const mpi::Communicator& world, const MakeBackend& make_backend,
                 StatusBoard& board) {
  return Sweep(params, world, make_backend, board).run();
}

}  // namespace convoy
