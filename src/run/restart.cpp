/// Finding, checking and broadcasting checkpoints.
#include "run/restart.h"

#include <filesystem>
#include <functional>
#include <limits>
#include <optional>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/atomic_file.h"
#include "convoy/model/network_file.h"
#include "convoy/params/parse.h"

#include "checkpoint/checkpointing.h"
#include "checkpoint/make_metadata.h"
#include "checkpoint/weights_file.h"
#include "run/earlier_tables.h"
#include "run/run_data.h"
#include "update/learning_rate.h"

namespace convoy {

std::string checkpoint_directory(const Parameters& params) {
  return params.run.directory + "/checkpoints";
}

namespace {

// Searches on rank 0, and returns the result on all ranks.
FoundFile find_on_root(const mpi::Communicator& world, const std::function<FoundFile()>& search) {
  FoundFile found;
  mpi::on_root(world, [&] { found = search(); });
  found.path = world.broadcast(found.path, 0);
  found.bytes = world.broadcast(std::move(found.bytes), 0);
  return found;
}

FoundFile find_newest(const std::string& directory, std::int64_t below = std::numeric_limits<std::int64_t>::max()) {
  std::int64_t num_skipped = 0;
  const auto warn = [&](const std::string& path, const std::string& reason) {
    log_warning(fmt::format("{} is skipped: {}", path, reason));
    ++num_skipped;
  };
  auto found = io::find_newest_checkpoint(directory, warn, below);
  if (found) return {.path = found->path, .bytes = std::move(found->bytes)};
  if (num_skipped > 0)
    fail(
        "{}. Training does not begin at step 0 in a directory that has checkpoints: check the file system, or choose "
        "another run.directory",
        num_skipped == 1 ? fmt::format("the only checkpoint in {} cannot be used", directory)
                         : fmt::format("none of the {} checkpoints in {} can be used", num_skipped, directory));
  return {};
}

FoundFile read_given(const std::string& path, const std::string& key,
                     std::vector<std::byte> (*read)(const std::string& path)) {
  try {
    return {.path = path, .bytes = read(path)};
  } catch (const Error& error) {
    refuse("{} = {}: {}", key, path, error.what());
  }
}

FoundFile read_resumed(const std::string& path) {
  return read_given(path, "checkpoint.resume", [](const std::string& file) {
    check_is_no_folder(file);
    return io::read_checkpoint_file(file);
  });
}

FoundFile read_weights(const InitParams& init) {
  FoundFile found = read_given(init.weights, "init.weights", read_weights_file);
  found.prefix = init.strip_prefix;
  return found;
}

std::string best_path(const Parameters& params) {
  return io::best_checkpoint_path(checkpoint_directory(params));
}

Parameters parameters_of(const FoundFile& found) {
  return parse_parameters(io::decode_checkpoint(found.bytes, found.path).parameters, found.path);
}

// Whether the run that wrote the checkpoint began from `path`, as this one is asked to.
bool began_from(const FoundFile& found, const std::string& path) {
  return parameters_of(found).checkpoint.resume == path;
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code absent;
  return std::filesystem::equivalent(a, b, absent);
}

// Returns the missing target if the folder of checkpoints is a broken link; otherwise empty.
std::string find_lost_target(const Parameters& params) {
  const std::filesystem::path folder = checkpoint_directory(params);
  std::error_code absent;
  if (!std::filesystem::is_symlink(folder, absent) || std::filesystem::exists(folder, absent)) return "";
  return std::filesystem::read_symlink(folder, absent).string();
}

// Returns "runs/a/log.jsonl records a checkpoint of step 100, but runs/a/checkpoints holds none"; empty if nothing is
// lost.
std::string describe_lost(const Parameters& params) {
  const auto recorded = find_recorded_checkpoint(params.run.directory, begins_from_file(params));
  const std::string folder = checkpoint_directory(params), target = find_lost_target(params);
  std::string link = target.empty() ? "" : fmt::format("{} is a link to '{}', which does not exist", folder, target);
  if (!recorded) return link;
  return fmt::format("{} records a checkpoint of step {}, but {}", recorded->file, recorded->step,
                     link.empty() ? folder + " holds none" : link);
}

// Refuses to begin, because training would erase what the tables tell of the earlier run.
void refuse_to_begin_over(const Parameters& params) {
  const std::string lost = describe_lost(params);
  if (lost.empty()) return;
  if (const bool is_asked_for = params.checkpoint.resume == "none"; is_asked_for && find_lost_target(params).empty())
    return;
  const std::string anew =
      begins_from_file(params)
          ? fmt::format("To start again from {}, choose another run.directory.", params.checkpoint.resume)
          : fmt::format(
                "To begin at step 0, {}give checkpoint.resume = none: the tables of the run so far are then kept in a "
                "directory of their own, {}/earlier-N.",
                find_lost_target(params).empty() ? "" : "remove the link and ", params.run.directory);
  refuse("run.directory = {}: {}. Were checkpoints moved or deleted? Put them back to resume from them. {}",
         params.run.directory, lost, anew);
}

}  // namespace

bool begins_from_file(const Parameters& params) {
  const std::string& resume = params.checkpoint.resume;
  return resume != "auto" && resume != "best" && resume != "none";
}

FoundFile find_start(const Parameters& params) {
  const std::string& resume = params.checkpoint.resume;
  if (resume == "best")
    refuse(
        "checkpoint.resume = best is for convoy evaluate, predict and export. To continue training from {}, give this "
        "path as checkpoint.resume, and another run.directory.",
        best_path(params));
  FoundFile newest = find_newest(checkpoint_directory(params));
  if (newest.path.empty()) refuse_to_begin_over(params);
  if (resume == "auto") return newest;
  if (resume == "none") {
    if (newest.path.empty()) return {};
    refuse(
        "checkpoint.resume = none, but {} exists. Use checkpoint.resume = auto to resume from it, or choose another "
        "run.directory.",
        newest.path);
  }
  if (newest.path.empty()) return read_resumed(resume);
  if (is_same_file(newest.path, resume) || began_from(newest, resume)) return newest;
  refuse(
      "checkpoint.resume = {}, but run.directory already has {}, whose run did not begin from that file. Use "
      "checkpoint.resume = auto to resume from the checkpoint in run.directory, or choose another run.directory.",
      resume, newest.path);
}

namespace {

// Refuses changes that a run cannot make while it trains: it would be another run from there on.
void check_same_run(const Parameters& params, const io::DatasetInfo& data, const io::Checkpoint& checkpoint,
                    const Resumed& resumed) {
  const io::TrainingState& state = resumed.state;
  const auto check = [&](const char* key, const auto& now, const auto& then, const char* why) {
    if (now != then)
      refuse(
          "{} = {}, but {} was written with {}: {}. Use that value, another run.directory, or only its weights with "
          "init.weights.",
          key, now, resumed.path, then, why);
  };
  check("batch.global", params.batch.global, state.batch_global, "a step has another number of samples");
  check("batch.micro", params.batch.micro, state.batch_micro, "a micro-batch has another number of samples");
  check("train.seed", static_cast<std::int64_t>(params.train.seed), state.seed, "the order of the samples differs");
  const Parameters before = parse_parameters(checkpoint.parameters, resumed.path);
  check("data.fold", params.data.fold, before.data.fold, "other samples are left out of the training");
  if (data.num_samples != state.num_samples) {
    check("data.limit", shown_value("data.limit", params), shown_value("data.limit", before),
          "an epoch has another number of samples");
    refuse(
        "data.train = {} holds {} samples, but {} was written with {}: an epoch has another number of steps. Use that "
        "data, another run.directory, or only its weights with init.weights.",
        params.data.train, data.num_samples, resumed.path, state.num_samples);
  }
  check_classes(checkpoint.metadata, data, "data.train", resumed.path);
  check_vocabulary(checkpoint.metadata, data, "data.train", resumed.path);
}

// Whether the data differ, by their hashes: data with the same number of samples and classes may still be other data.
// 0: the checkpoint has no hash.
bool is_other_data(std::int64_t now, std::int64_t then) {
  return then != 0 && now != then;
}

std::string_view one_sample_of(const RunData& data) {
  return input_kinds::one_of(data.metadata.kind());
}

void check_training_data(const Parameters& params, const RunData& data, const Resumed& resumed) {
  if (params.checkpoint.allow_other_data || !is_other_data(data.train.content_hash(), resumed.state.train_hash)) return;
  refuse(
      "data.train = {} holds other {}s or labels than {} was trained on. Use the data that it was trained on, another "
      "run.directory, only its weights with init.weights, or checkpoint.allow_other_data = true to continue on other "
      "data on purpose.",
      params.data.train, one_sample_of(data), resumed.path);
}

// Warns if a checkpoint of other data is resumed. Rank 0.
void warn_of_other_data(const Parameters& params, const RunData& data, const Resumed& resumed) {
  const io::TrainingState& state = resumed.state;
  if (state.train_hash == 0)
    log_warning(
        fmt::format("{1} was written by an older Convoy and does not say which {0}s it was trained on. Whether "
                    "data.train = {2} holds the same {0}s is not checked",
                    one_sample_of(data), resumed.path, params.data.train));
  if (is_other_data(data.train.content_hash(), state.train_hash))
    log_warning(
        fmt::format("data.train = {} holds other {}s or labels than {} was trained on: training continues on them, as "
                    "checkpoint.allow_other_data asks",
                    params.data.train, one_sample_of(data), resumed.path));
}

// Whether the best value so far was measured on other data than those given now. An older checkpoint has no hash of
// them, and only records which split it was.
bool is_best_of_other_data(const Parameters& params, const RunData& data, const io::Checkpoint& checkpoint,
                           const std::string& where) {
  if (checkpoint.state.metric_hash != 0) return data.measured().content_hash() != checkpoint.state.metric_hash;
  return parse_parameters(checkpoint.parameters, where).data.val.empty() != params.data.val.empty();
}

void forget_best_of_other_kind(const Parameters& params, const RunData& data, const io::Checkpoint& checkpoint,
                               const RankRuntime& runtime, Resumed& resumed) {
  io::TrainingState& state = resumed.state;
  if (state.best_step == 0) return;
  const std::string best =
      fmt::format("the best {} at step {}", named_value(state.metric, state.best_value), state.best_step);
  std::string why;
  if (is_best_of_other_data(params, data, checkpoint, resumed.path))
    why = fmt::format("{} = {} holds other {}s or labels than {} was measured on", data.measured_key(),
                      params.data.fold > 0 ? params.data.train
                      : data.val           ? params.data.val
                                           : params.data.test,
                      one_sample_of(data), best);
  else if (const char* metric = name_of(runtime.plan().metric()); state.metric != metric)
    why = fmt::format("train.metric = {} is another metric than that of {} in {}", metric, best, resumed.path);
  if (why.empty()) return;
  if (runtime.grid().is_root())
    log_warning(
        fmt::format("{}: the best checkpoint and train.patience_epochs start again with the next measurement", why));
  state.forget_best();
}

// Refuses to resume the training of another network. Names and shapes of tensors alone would not show another stride.
void check_same_network(const io::ModelMetadata& now, const io::ModelMetadata& before, const std::string& where) {
  if (now.network == before.network || before.network.empty()) return;  // checkpoints of earlier versions have none
  refuse(
      "{} was written by a training of another network. Now {}. Set model.name, model.file and model.set as before, or "
      "begin another run in another run.directory, with init.weights if the weights should be kept.",
      where, describe_difference(parse_network_list(now.network), parse_network_list(before.network)));
}

// Describes the learning rate of the step after `step`, if it jumps.
std::string describe_jump(const Parameters& before, const Parameters& now, const io::DatasetInfo& data,
                          const io::TrainingState& state) {
  const std::int64_t steps_per_epoch = count_steps(now, data).per_epoch;
  const double from = state.rate_factor * learning_rate(learning_rate_spec(before, steps_per_epoch), state.step);
  const double to = state.rate_factor * learning_rate(learning_rate_spec(now, steps_per_epoch), state.step);
  return from == to ? "" : fmt::format("; learning rate of step {}: {:.6g} -> {:.6g}", state.step + 1, from, to);
}

}  // namespace

void check_continues(const Parameters& params, const RunData& data, const io::Checkpoint& checkpoint,
                     const Resumed& resumed) {
  check_values(checkpoint.model, resumed.path);
  check_same_network(data.metadata, checkpoint.metadata, resumed.path);
  check_same_run(params, data.train.info(), checkpoint, resumed);
  check_training_data(params, data, resumed);
}

// Compares what may change during a run but should be known: lines of the effective parameter file that differ.
std::string changes_since(const io::Checkpoint& checkpoint, const std::string& where, const Parameters& now,
                          const io::DatasetInfo& data) {
  const Parameters before = parse_parameters(checkpoint.parameters, where);
  std::string text;
  for (const KeyChange& change : changed_keys(before, now)) {
    // The key's value matters if the learning rate is a function of the share of the run that is done.
    const bool stretches = change.key == "train.epochs" && stretches_over_run(now.lr.schedule);
    if (change.changes_result || stretches)
      text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", change.key, change.before, change.after);
  }
  return text.empty() ? "" : text + describe_jump(before, now, data, checkpoint.state);
}

std::string describe_changes(const std::string& changes, const std::string& where) {
  return changes.empty() ? "" : fmt::format("changed since {}: {}", where, changes);
}

std::string describe_unused_weights(const Parameters& now, const io::Checkpoint& checkpoint, const std::string& where) {
  const std::string& weights = now.init.weights;
  if (weights == "random" || weights == parse_parameters(checkpoint.parameters, where).init.weights) return "";
  return fmt::format(
      "init.weights = {} is not used: the run resumes from {}. To begin from those weights, choose another "
      "run.directory",
      weights, where);
}

namespace {

// Warns that the run has checkpoints of its own, which hold what it has learnt.
void warn_of_own_checkpoints(const Parameters& params) {
  const std::string directory = checkpoint_directory(params);
  std::error_code absent;
  const std::filesystem::directory_iterator first(directory, absent);
  const bool has_own = !absent && first != std::filesystem::directory_iterator();
  if (has_own && !is_same_file(std::filesystem::path(params.init.weights).parent_path(), directory))
    log_warning(fmt::format(
        "init.weights = {} is used, not the checkpoints in run.directory = {}. To use those, leave out init.weights",
        params.init.weights, params.run.directory));
}

InitialSpec initial_spec(const Parameters& params) {
  return {.seed = params.train.seed, .zero_residual = params.init.zero_residual};
}

void begin_from_weights(const Parameters& params, const RunData& run_data, TrainingStep& training) {
  const io::DatasetInfo& data = run_data.train.info();
  const mpi::Communicator& world = training.runtime().grid().world();
  const FoundFile file = find_on_root(world, [&] { return read_weights(params.init); });
  FileWeights weights = decode_weights(file.bytes, file.path, WeightsKind::kTrained, params.init.strip_prefix);
  io::StateDict& dict = weights.dict;
  const std::string where = "init.weights = " + file.path;
  if (weights.metadata) check_vocabulary(*weights.metadata, data, "data.train", where);
  mpi::on_root(world, [&] {
    const std::string normalisation = describe_new_normalisation(params, run_data.metadata, weights.metadata, where);
    if (!normalisation.empty()) log_warning(normalisation);
  });
  training.set_batch_counters(std::move(dict.counters));
  if (params.init.strict) return restore_weights(dict.tensors, where, training.runtime());
  const WeightMatch match = restore_matching_weights(dict.tensors, where, initial_spec(params), training.runtime());
  if (world.rank() == 0 && !match.is_exact()) log_warning(match.describe_part(where));
}

// Resumes from the file; without one, training begins.
std::optional<Resumed> start_from(FoundFile found, const Parameters& params, const RunData& data,
                                  TrainingStep& training) {
  const mpi::Communicator& world = training.runtime().grid().world();
  if (!found.path.empty()) {
    const io::Checkpoint checkpoint = io::decode_checkpoint(found.bytes, found.path);
    found.bytes = std::vector<std::byte>();  // frees the file's bytes before the tensors are copied to the arenas
    Resumed resumed{.path = found.path, .state = checkpoint.state};
    check_continues(params, data, checkpoint, resumed);
    mpi::on_root(world, [&] {
      resumed.changes = changes_since(checkpoint, found.path, params, data.train.info());
      for (const std::string& warning :
           {describe_changes(resumed.changes, found.path), describe_unused_weights(params, checkpoint, found.path)})
        if (!warning.empty()) log_warning(warning);
      warn_of_other_data(params, data, resumed);
    });
    forget_best_of_other_kind(params, data, checkpoint, training.runtime(), resumed);
    restore_checkpoint(checkpoint, found.path, training);
    training.loss_scale().restore({.scale = resumed.state.loss_scale, .good_steps = resumed.state.loss_scale_steps});
    return resumed;
  }
  if (params.init.weights == "random") {
    initialise_parameters(initial_spec(params), training.runtime());
    return std::nullopt;
  }
  begin_from_weights(params, data, training);
  return std::nullopt;
}

}  // namespace

std::optional<Resumed> start_parameters(const Parameters& params, const RunData& data, TrainingStep& training) {
  return start_from(find_on_root(training.runtime().grid().world(), [&] { return find_start(params); }), params, data,
                    training);
}

std::optional<Resumed> start_before(const Parameters& params, const RunData& data, std::int64_t step,
                                    TrainingStep& training) {
  FoundFile found = find_on_root(training.runtime().grid().world(), [&] {
    FoundFile newest = find_newest(checkpoint_directory(params), step);
    return newest.path.empty() && begins_from_file(params) ? read_resumed(params.checkpoint.resume) : newest;
  });
  auto resumed = start_from(std::move(found), params, data, training);
  if (resumed && resumed->state.step >= step)
    refuse("{} began at step {}, from {}: it has no step {}", params.run.directory, resumed->state.step + 1,
           resumed->path, step);
  return resumed;
}

FoundFile find_best(const Parameters& params, std::int64_t step) {
  const std::string path = best_path(params);
  std::error_code unknown;  // reading it then gives the reason
  if (std::filesystem::symlink_status(path, unknown).type() == std::filesystem::file_type::not_found) return {};
  try {
    FoundFile best{.path = path, .bytes = io::read_checkpoint_file(path)};
    const std::int64_t its_step = io::decode_state(best.bytes, path).step;
    best.bytes = io::join_parts(std::move(best.bytes), path, /*with_optimizer=*/false);
    if (its_step == step) return best;
    log_warning(fmt::format("{} is of step {}, but the best step was {}: the file is not used", path, its_step, step));
  } catch (const Error& error) {
    log_warning(fmt::format("{} is not used: {}", path, error.what()));
  }
  return {};
}

namespace {

// Chooses the best checkpoint if there is one, as at the end of a training.
FoundFile choose_learnt(const Parameters& params, FoundFile newest) {
  const io::TrainingState state = io::decode_state(newest.bytes, newest.path);
  if (newest.path == best_path(params)) {
    newest.choice = fmt::format(" (the best, of step {}, and the newest)", state.step);
    return newest;
  }
  FoundFile best = state.best_step > 0 ? find_best(params, state.best_step) : FoundFile();
  if (best.path.empty()) {
    newest.choice = fmt::format(" (the newest, of step {}; there is no best one)", state.step);
    return newest;
  }
  best.choice =
      fmt::format(" (the best, of step {}; the newest, {}, is of step {})", state.best_step, newest.path, state.step);
  return best;
}

FoundFile find_weights_file(const Request& request) {
  const Parameters& params = request.params;
  const std::string &weights = params.init.weights, &resume = params.checkpoint.resume;
  const bool names_weights = weights != "random", names_checkpoint = begins_from_file(params);
  // 1. What the command line asks for
  if (names_weights && request.given_on_command_line("init.weights")) {
    warn_of_own_checkpoints(params);
    return read_weights(params.init);
  }
  if (resume == "best") return read_resumed(best_path(params));
  if (names_checkpoint && request.given_on_command_line("checkpoint.resume")) return read_resumed(resume);
  // 2. What the run has learnt
  FoundFile newest = find_newest(checkpoint_directory(params));
  const bool is_of_this_run = !newest.path.empty() && (!names_checkpoint || began_from(newest, resume)) &&
                              (!names_weights || parameters_of(newest).init.weights == weights);
  if (is_of_this_run) return choose_learnt(params, std::move(newest));
  // 3. What the run would begin from
  const std::string lost = newest.path.empty() ? describe_lost(params) : "";
  if (!names_checkpoint && !names_weights)
    refuse("run.directory = {} holds no checkpoint{}. Train first, or name one with init.weights.",
           params.run.directory, lost.empty() ? "" : ": " + lost);
  if (!lost.empty())
    log_warning(fmt::format("{}. The weights that the run began from are used: {}", lost,
                            names_checkpoint ? "checkpoint.resume = " + resume : "init.weights = " + weights));
  if (names_checkpoint) return read_resumed(resume);
  warn_of_own_checkpoints(params);
  return read_weights(params.init);
}

}  // namespace

FoundFile find_weights(const Request& request) {
  FoundFile found = find_weights_file(request);
  found.bytes = io::join_parts(std::move(found.bytes), found.path, /*with_optimizer=*/false);
  return found;
}

}  // namespace convoy
