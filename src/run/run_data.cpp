/// Opens the splits, checks them against the metadata, and converts epochs to steps.
#include "run/run_data.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/wording.h"
#include "convoy/data/copy_shards.h"
#include "convoy/data/training_set.h"
#include "convoy/params/parameters.h"
#include "convoy/params/parse.h"

#include "checkpoint/make_metadata.h"
#include "evaluation/output_scores.h"
#include "plan/step_plan.h"

namespace convoy {

namespace {

// Returns "data/train" of "data/train-003.h5".
std::string without_number(const std::string& shard) {
  return shard.substr(0, shard.rfind('-'));
}

// Returns at least one step, unless `epochs` is 0.
std::int64_t steps_in(double epochs, std::int64_t steps_per_epoch) {
  if (epochs <= 0) return 0;
  return std::max<std::int64_t>(1, std::llround(epochs * static_cast<double>(steps_per_epoch)));
}

std::optional<io::Dataset> open_if_given(const std::string& path, const char* key, VerifyKind verify) {
  if (path.empty()) return std::nullopt;
  return io::Dataset(path, key, verify);
}

// The fold that is left out of `train`, read from the same files.
io::Dataset fold_of(const io::Dataset& train, const DataParams& data) {
  io::Dataset fold = train.with_all();
  keep_fold(fold, data.fold, FoldPart::kInside, data.train);
  return fold;
}

void check_is_whole(const Parameters& params, const io::Dataset& train) {
  if (params.data.allow_part || train.num_shards() == train.num_shards_of_import()) return;
  refuse(
      "data.train = {} is one of the {} shards that its import wrote: it does not hold the samples of the others. Give "
      "the folder of the shards, or the beginning of their names, as in data.train = {}; or set "
      "data.allow_part = true to train on this shard alone.",
      params.data.train, train.num_shards_of_import(), without_number(params.data.train));
}

void check_split(const RunData& data, const std::optional<io::Dataset>& split, const char* key) {
  if (!split) return;
  const io::DatasetInfo &trained = data.train.info(), &measured = split->info();
  const bool are_images = trained.kind == input_kinds::kImages && measured.kind == trained.kind;
  if (are_images && !data.metadata.image().resizes && !measured.encoded && trained.image != measured.image)
    refuse(
        "{} holds {} images, but data.train holds {} images. Import both with one import.size and import.channels{}.",
        key, to_string(measured.image), to_string(trained.image),
        trained.image.c == measured.image.c ? ", or give augment.size, to which both are then resized" : "");
  check_samples(data.metadata, split->info(), key, "data.train");
  check_classes(data.metadata, split->info(), key, "data.train");
}

}  // namespace

RunData::RunData(const Parameters& params, const mpi::Communicator& world)
    : RunData(params, world, open_training_set(params), open_if_given(params.data.val, "data.val", params.data.verify),
              open_if_given(params.data.test, "data.test", params.data.verify)) {}

RunData::RunData(const Parameters& params, const mpi::Communicator& world, io::Dataset opened_train,
                 std::optional<io::Dataset> opened_val, std::optional<io::Dataset> opened_test)
    : train(std::move(opened_train)),
      val(params.data.fold > 0 ? fold_of(train, params.data) : std::move(opened_val)),
      test(std::move(opened_test)),
      val_key(params.data.fold > 0 ? fmt::format("fold {} of data.train", params.data.fold) : "data.val"),
      metadata(model_metadata(params, train.info(), &world)) {
  check_is_whole(params, train);
  check_split(*this, val, val_key.c_str());
  check_split(*this, test, "data.test");
}

std::string describe_long_texts(const io::SampleStore& samples, const std::string& key,
                                const io::ModelMetadata& metadata) {
  const io::DatasetInfo& info = samples.info();
  const io::TextInput* const input = metadata.text();
  if (input == nullptr || info.kind != input_kinds::kText) return "";
  const NetworkList network = network_list(metadata);
  if (reads_feature(network, features::kPairTokens)) return "";                            // it reads spans of texts
  const std::int64_t num_marks = reads_feature(network, features::kMarkedTokens) ? 2 : 0;  // [CLS] and [SEP]
  std::int64_t num_long = 0;
  for (std::int64_t i = 0; i < info.num_samples; ++i)
    if (samples.num_tokens(i) > input->length - num_marks) ++num_long;
  if (num_long == 0) return "";
  return fmt::format("{}: {} longer than model.length = {} tokens{}: the rest of such a text is not read", key,
                     info.num_samples == 1
                         ? "the text is"
                         : fmt::format("{} of {} texts {}", num_long, info.num_samples, num_long == 1 ? "is" : "are"),
                     input->length, num_marks > 0 ? fmt::format(", {} of which are special tokens", num_marks) : "");
}

std::vector<std::string> gaps_of(const io::Dataset& data, const std::string& key, const io::ModelMetadata& metadata) {
  std::vector<std::string> gaps;
  if (data.num_shards() < data.num_shards_of_import())
    gaps.push_back(
        fmt::format("{} is one of the {} shards that its import wrote: the samples of the others are left out", key,
                    data.num_shards_of_import()));
  if (const std::string empty = io::describe_empty_classes(data.info()); !empty.empty())
    gaps.push_back(fmt::format("{}: {}", key, empty));
  if (std::string cut = describe_long_texts(data, key, metadata); !cut.empty()) gaps.push_back(std::move(cut));
  return gaps;
}

std::vector<std::string> RunData::gaps() const {
  std::vector<std::string> all = gaps_of(train, "data.train", metadata);
  const auto add = [&](const std::optional<io::Dataset>& split, const char* key) {
    if (!split) return;
    for (std::string& gap : gaps_of(*split, key, metadata)) all.push_back(std::move(gap));
    if (std::string why = why_no_average_precision(split->info(), key); !why.empty()) all.push_back(std::move(why));
  };
  add(val, val_key.c_str());
  add(test, "data.test");
  const std::int64_t of_train = train.content_hash(/*of_all=*/true);
  for (const auto& [split, key] : {std::pair(&val, val_key.c_str()), std::pair(&test, "data.test")})
    if (*split && (*split)->content_hash() == of_train)
      all.push_back(
          fmt::format("data.train and {0} hold the same {1}s: what is measured on {0} says nothing about {1}s that the "
                      "network was not trained on",
                      key, input_kinds::one_of(metadata.kind())));
  if (val && test && val->content_hash() == test->content_hash())
    all.push_back(
        fmt::format("{} and data.test hold the same {}s: the best checkpoint is chosen on those that it is then tested "
                    "on",
                    val_key, input_kinds::one_of(metadata.kind())));
  return all;
}

void RunData::copy_to_nodes(const Parameters& params, const mpi::Communicator& world, StatusBoard& board) {
  if (params.data.copy_to == "none") return;
  std::vector<io::Dataset*> sets = {&train};
  if (val && params.data.fold == 0) sets.push_back(&*val);  // a fold is read from the copies of train
  if (test) sets.push_back(&*test);
  const ScopedActivity activity(board, Activity::kOpeningData);
  copy_shards({.to = params.data.copy_to, .on_progress = [&board] { board.enter(Activity::kOpeningData); }}, sets,
              world);
}

std::string describe_total(const StepCount& steps, const TrainParams& train) {
  if (steps.total == train.max_steps)
    return fmt::format("train.max_steps = {} requests {}", steps.total, counted(steps.total, "step"));
  return fmt::format("train.epochs = {} requests {}", train.epochs, counted(steps.total, "step"));
}

std::string describe_progress(std::int64_t step, const StepCount& steps, const TrainParams& train) {
  return step <= steps.total ? fmt::format("step {} of {}", step, steps.total)
                             : fmt::format("step {} ({})", step, describe_total(steps, train));
}

StepCount count_steps(const Parameters& params, const io::DatasetInfo& data) {
  StepCount steps{.per_epoch = data.num_samples / params.batch.global};
  if (steps.per_epoch == 0)
    refuse("batch.global = {} is more than the {} samples of data.train. Allowed: up to {}.", params.batch.global,
           data.num_samples, data.num_samples);
  steps.total = steps_in(params.train.epochs, steps.per_epoch);
  if (params.train.max_steps > 0) steps.total = std::min(steps.total, params.train.max_steps);
  return steps;
}

std::string describe_few_steps(const Parameters& params, const StepCount& steps, std::int64_t num_samples) {
  constexpr std::int64_t kFewSteps = 4;
  if (params.data.limit == SampleLimit{} || steps.per_epoch >= kFewSteps) return "";
  return fmt::format(
      "data.limit = {} leaves {}: with batch.global = {} an epoch has only {}, and the whole training {}. Give a "
      "smaller batch.global for more steps",
      shown_value("data.limit", params), counted(num_samples, "sample"), params.batch.global,
      counted(steps.per_epoch, "step"), steps.total);
}

}  // namespace convoy
