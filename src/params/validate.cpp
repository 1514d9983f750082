/// See validate.h.
#include "params/validate.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "convoy/base/error.h"
#include "convoy/params/parameters.h"
#include "convoy/params/parse.h"

#include "params/key_table.h"

namespace convoy::params {

namespace {

/// A key with its value: "lr.gamma = 0.1".
std::string assignment(const ParameterBuilder& builder, const std::string& name) {
  return fmt::format("{} = {}", name, shown(find_key(name)->value.write(builder.values)));
}

/// Refuses a combination of keys. The message ends with the places where they were given, as in " (batch.micro:
/// default; batch.global: a.cfg:3)", if any place is known.
template <typename... Args>
[[noreturn]] void refuse_keys(const ParameterBuilder& builder, const std::vector<std::string>& names,
                              fmt::format_string<Args...> format, Args&&... args) {
  const std::string complaint = fmt::format(format, std::forward<Args>(args)...);
  if (builder.where.empty()) refuse("{}", complaint);
  std::vector<std::string> sources;
  for (const std::string& name : names) sources.push_back(fmt::format("{}: {}", name, builder.source_of(name)));
  refuse("{} ({})", complaint, fmt::join(sources, "; "));
}

/// The largest divisor of `whole` below `part` and the smallest above it, as far as they exist.
std::vector<std::int64_t> nearest_divisors(std::int64_t whole, std::int64_t part) {
  std::int64_t below = 0, above = 0;
  const auto consider = [&](std::int64_t divisor) {
    if (divisor < part) below = std::max(below, divisor);
    if (divisor > part) above = above == 0 ? divisor : std::min(above, divisor);
  };
  for (std::int64_t d = 1; d * d <= whole; ++d) {
    if (whole % d == 0) {
      consider(d);
      consider(whole / d);
    }
  }
  std::vector<std::int64_t> divisors;
  if (below > 0) divisors.push_back(below);
  if (above > 0) divisors.push_back(above);
  return divisors;
}

/// A hint that names the nearest multiples of batch.micro, if batch.global was given at another place than batch.micro.
std::string nearest_multiples_hint(const ParameterBuilder& builder) {
  const auto [global, micro] = builder.values.batch;
  const std::string source = builder.source_of("batch.global");
  if (!builder.where.contains("batch.global") || source == builder.source_of("batch.micro")) return "";
  const std::int64_t below = global / micro * micro;
  return fmt::format(" Or batch.global = {}{}, which {} divides.", below > 0 ? fmt::format("{} or ", below) : "",
                     below + micro, micro);
}

// Checks precision and device. With run.device = auto this is known only when the backend is made.
void check_device(const ParameterBuilder& builder) {
  const PrecisionKind precision = builder.values.train.precision;
  const bool is_computed = precision == PrecisionKind::kF32 || precision == PrecisionKind::kBf16;
  if (builder.values.run.device != DeviceKind::kCpu || is_computed) return;
  refuse_keys(builder, {"train.precision", "run.device"},
              "train.precision = {} needs a GPU; the CPU has f32 and bf16. Use train.precision = f32 or bf16, or "
              "run.device = cuda.",
              name_of(precision));
}

void check_network(const ParameterBuilder& builder) {
  if (builder.values.model.file.empty() || builder.source_of("model.name") != "command line") return;
  refuse_keys(builder, {"model.name", "model.file"},
              "{} and {} both name the network. Leave one of them out; --model.file= is none.",
              assignment(builder, "model.name"), assignment(builder, "model.file"));
}

void check_batch(const ParameterBuilder& builder) {
  const auto [global, micro] = builder.values.batch;
  if (global % micro == 0) return;
  refuse_keys(builder, {"batch.micro", "batch.global"},
              "batch.micro = {} does not divide batch.global = {}. Nearest that do: {}.{}", micro, global,
              fmt::join(nearest_divisors(global, micro), ", "), nearest_multiples_hint(builder));
}

void check_learning_rate(const ParameterBuilder& builder) {
  const LearningRateParams& lr = builder.values.lr;
  const std::vector<std::string> both = {"lr.schedule", "lr.step_epochs"};
  const std::string given = assignment(builder, "lr.step_epochs");
  if (lr.schedule == LearningRateKind::kStep && lr.step_epochs.size() != 1)
    refuse_keys(builder, both,
                "lr.schedule = step needs one number of epochs, its period, as in lr.step_epochs = 30; {}.", given);
  if (lr.schedule == LearningRateKind::kInverseSqrt && lr.warmup_epochs == 0)
    refuse_keys(builder, {"lr.schedule", "lr.warmup_epochs"},
                "lr.schedule = inverse_sqrt begins where a warm-up ends: give lr.warmup_epochs, as in lr.warmup_epochs "
                "= 0.5; it is 0.");
  if (lr.schedule != LearningRateKind::kMultistep) return;
  if (lr.step_epochs.empty())
    refuse_keys(builder, both, "lr.schedule = multistep needs its milestones, as in lr.step_epochs = 30, 60, 80; {}.",
                given);
  const std::set<double> ascending(lr.step_epochs.begin(), lr.step_epochs.end());
  if (!std::ranges::equal(lr.step_epochs, ascending))
    refuse_keys(builder, both, "{} is not ascending, but lr.schedule = multistep needs that. Nearest: {}.", given,
                fmt::join(ascending, ", "));
}

void check_optimizer(const ParameterBuilder& builder) {
  const OptimizerParams& optimizer = builder.values.optimizer;
  if (!optimizer.nesterov) return;
  if (optimizer.kind != OptimizerKind::kSgd)
    refuse_keys(builder, {"optimizer.nesterov", "optimizer.kind"},
                "optimizer.nesterov = true works only with optimizer.kind = sgd; it is {}.", name_of(optimizer.kind));
  if (optimizer.momentum > 0) return;
  refuse_keys(builder, {"optimizer.nesterov", "optimizer.momentum"},
              "optimizer.nesterov = true needs optimizer.momentum above 0; it is {}. Usual: 0.9.", optimizer.momentum);
}

void check_data(const ParameterBuilder& builder) {
  if (builder.values.data.balanced && !builder.values.data.shuffle)
    refuse_keys(builder, {"data.balanced", "data.shuffle"},
                "data.balanced = true draws samples at random, and data.shuffle = false takes them in order. Set one "
                "of them to its default.");
  if (builder.values.data.balanced && builder.values.train.class_weights.balanced)
    refuse_keys(builder, {"train.class_weights", "data.balanced"},
                "train.class_weights = balanced and data.balanced = true would each make up for rare classes. Set one "
                "of them to its default.");
  const DataParams& data = builder.values.data;
  if (data.fold > 0 && !data.val.empty())
    refuse_keys(builder, {"data.fold", "data.val"},
                "data.fold = {} is measured in place of data.val = {}. Leave one of them out: data.fold = 0, or an "
                "empty data.val.",
                data.fold, data.val);
}

void check_rollback(const ParameterBuilder& builder) {
  const bool rolls_back = builder.values.train.on_bad_step == BadStepKind::kRollback;
  if (rolls_back && builder.values.checkpoint.keep == 1)
    refuse_keys(builder, {"train.on_bad_step", "checkpoint.keep"},
                "train.on_bad_step = rollback needs two checkpoints: the newest one is only known to be good after the "
                "next step. Allowed for checkpoint.keep: 2 and more, or 0 (all); it is 1.");
}

void check_normalisation(const ParameterBuilder& builder) {
  const AugmentParams& augment = builder.values.augment;
  if (augment.mean.imagenet != augment.stddev.imagenet)
    refuse_keys(builder, {"augment.mean", "augment.stddev"}, "{}, but {}. Give both as imagenet, or neither.",
                assignment(builder, "augment.mean"), assignment(builder, "augment.stddev"));
  if (augment.normalize || (augment.mean.are_of_data() && augment.stddev.are_of_data())) return;
  refuse_keys(builder, {"augment.normalize", "augment.mean", "augment.stddev"},
              "augment.normalize = false uses neither {} nor {}. Leave them out, or set augment.normalize = true.",
              assignment(builder, "augment.mean"), assignment(builder, "augment.stddev"));
}

void check_augment(const ParameterBuilder& builder) {
  const AugmentParams& augment = builder.values.augment;
  if (augment.size == 0 && (augment.crop == CropKind::kRandomResized || augment.eval_resize > 0)) {
    const std::string name = augment.eval_resize > 0 ? "augment.eval_resize" : "augment.crop";
    refuse_keys(builder, {name, "augment.size"},
                "{} needs augment.size, the network's rows and columns; it is 0. Usual: 224.",
                assignment(builder, name));
  }
  if (augment.crop == CropKind::kRandomResized && augment.crop_padding > 0)
    refuse_keys(builder, {"augment.crop_padding", "augment.crop"},
                "augment.crop_padding = {} works only with augment.crop = pad. Allowed with random_resized: 0.",
                augment.crop_padding);
  if (augment.border == BorderKind::kReflect && augment.crop_padding == 0)
    refuse_keys(builder, {"augment.border", "augment.crop_padding"},
                "augment.border = reflect needs augment.crop_padding above 0, the border's width; it is 0. Usual: 4.");
  if (augment.mixes() && builder.values.batch.micro < 2) {
    const std::string name = augment.mixup > 0 ? "augment.mixup" : "augment.cutmix";
    refuse_keys(builder, {name, "batch.micro"},
                "{} mixes images of one micro-batch, and batch.micro is 1. Allowed: 2 and more.",
                assignment(builder, name));
  }
  check_normalisation(builder);
  if (augment.erase > 0 && augment.cutout > 0)
    refuse_keys(builder, {"augment.erase", "augment.cutout"},
                "augment.erase = {} and augment.cutout = {} both cut a hole into images, but only one of them can be "
                "used. Set one of them to 0.",
                augment.erase, augment.cutout);
  if (augment.eval_resize > 0 && augment.eval_resize < augment.size)
    refuse_keys(builder, {"augment.eval_resize", "augment.size"},
                "augment.eval_resize = {} is smaller than augment.size = {}, which is cut out of it. Allowed: {} and "
                "more, or 0.",
                augment.eval_resize, augment.size, augment.size);
}

void check_import(const ParameterBuilder& builder) {
  const ImportParams& import = builder.values.import;
  if (import.folds == 1)
    refuse_keys(builder, {"import.folds"},
                "import.folds = 1 leaves nothing to train on. Allowed: 2 to {}, or 0 for no folds.", kMaxFolds);
  if (import.storage != StorageKind::kEncoded || import.size == 0) return;
  refuse_keys(builder, {"import.size", "import.storage"},
              "import.size = {} does not work with import.storage = encoded, which keeps the files as they are. "
              "Allowed: 0.",
              import.size);
}

void check_predict(const ParameterBuilder& builder) {
  const PredictParams& predict = builder.values.predict;
  const bool reads_frames = predict.data == kStandardInput;
  if (reads_frames != predict.frames.is_given())
    refuse_keys(builder, {"predict.data", "predict.frames"},
                "{} belong together: predict.data = - reads the frames of a film from the standard input, and "
                "predict.frames = WIDTHxHEIGHT gives their size. Give both: ffmpeg -i film.mp4 -f rawvideo -pix_fmt "
                "rgb24 - | convoy predict ... --predict.data=- --predict.frames=1280x720",
                reads_frames
                    ? "predict.data = - and predict.frames (not given)"
                    : fmt::format("{} and predict.data = - (not given)", assignment(builder, "predict.frames")));
  if (predict.text.empty() || predict.data.empty()) return;
  refuse_keys(builder, {"predict.text", "predict.data"},
              "predict.text and predict.data are both given. Give one of them.");
}

void check_pictures(const ParameterBuilder& builder) {
  const PlanParams& plan = builder.values.plan;
  for (const auto& [key, picture] : {std::pair{"plan.draw", plan.draw},
                                     {"plan.draw_efficiency", plan.draw_efficiency},
                                     {"info.draw", builder.values.info.draw}})
    if (!picture.empty() && !picture.ends_with(".svg"))
      refuse_keys(builder, {key}, "{} = {} must end in .svg, the format that is written.", key, shown(picture));
}

constexpr double kMaxArrayValues = 1 << 29;  // 2 GiB as float32: a sample must be smaller

/// Checks the description of a data set that need not exist, for a command that reads plan.samples or not.
void check_described_data(const ParameterBuilder& builder, bool reads_samples) {
  const PlanParams& plan = builder.values.plan;
  if (!builder.values.data.train.empty() && (plan.samples == 0 || !reads_samples)) {
    for (const auto& [key, is_given] : {std::pair{"plan.classes", plan.classes > 0},
                                        {"plan.image_size", !plan.image_size.empty()},
                                        {"plan.values", !plan.values.empty()},
                                        {"plan.vocabulary", plan.vocabulary > 0}})
      if (is_given)
        refuse_keys(builder, {key, reads_samples ? "plan.samples" : "data.train"},
                    "{} describes a data set that replaces data.train{}", assignment(builder, key),
                    reads_samples ? ", but plan.samples = 0 means data.train itself. Give plan.samples."
                                  : ". Give one of them.");
    return;
  }
  if (builder.values.data.fold > 0)
    refuse_keys(
        builder, {"data.fold", "data.train"},
        "data.fold = {} is a fold of data.train, but {} describes data without folds. Give data.train alone, or "
        "leave data.fold out.",
        builder.values.data.fold, plan.samples > 0 ? assignment(builder, "plan.samples") : "this command");
  const bool has_images = !plan.image_size.empty(), has_texts = plan.vocabulary > 0, has_arrays = !plan.values.empty();
  if (has_images + has_texts + has_arrays > 1)
    refuse_keys(builder, {"plan.image_size", "plan.values", "plan.vocabulary"},
                "plan.image_size describes images, plan.values arrays and plan.vocabulary texts. Give one of them.");
  if (plan.image_size.size() > 3 || (plan.image_size.size() == 3 && plan.image_size[2] != 1 && plan.image_size[2] != 3))
    refuse_keys(builder, {"plan.image_size"},
                "{} is not the size of an image. Allowed: one number (rows = columns), or rows and columns, or rows, "
                "columns and channels (1 or 3).",
                assignment(builder, "plan.image_size"));
  double num_values = 0;
  for (const ArrayForm& array : plan.values) {
    double product = 1;
    for (const std::int64_t extent : array.extents) product *= static_cast<double>(extent);
    num_values += product;
    if (array.extents.size() > 4 || num_values > kMaxArrayValues)
      refuse_keys(builder, {"plan.values"},
                  "{} is not possible{}. Allowed: one to four extents for each array, the channels last, and at most "
                  "{:.0f} values in a sample.",
                  assignment(builder, "plan.values"),
                  array.name.empty() ? "" : fmt::format(" because of '{}'", array.name), kMaxArrayValues);
  }
}

void check_plan(const ParameterBuilder& builder) {
  const PlanParams& plan = builder.values.plan;
  for (const auto& [key, rate] : {std::pair{"plan.tflop_s", plan.tflop_s}, {"plan.memory_gb_s", plan.memory_gb_s}})
    if (rate > 0 && plan.measure)
      refuse_keys(builder, {key, "plan.measure"},
                  "{} = {} describes a machine that is not measured, but plan.measure = true measures this one. "
                  "Allowed: plan.measure = false, or {} = 0.",
                  key, rate, key);
  for (const auto& [key, levels] :
       {std::pair{"plan.latency_us", &plan.latency_us}, {"plan.bandwidth_gb_s", &plan.bandwidth_gb_s}})
    if (levels->size() > 2)
      refuse_keys(builder, {key}, "{} has {} numbers. Allowed: one, or two (on a node, between nodes).", key,
                  levels->size());
}

// Advice for a user who cannot give the path.
std::string remedy(const std::string& key) {
  return key == "data.test"
             ? " If there is no test set, import with import.val_fraction, and give its split val as data.val."
             : "";
}

/// Refuses two lists that give the same quantity in two ways.
void check_largest_micro(const ParameterBuilder& builder) {
  const PlanParams& plan = builder.values.plan;
  if (std::ranges::find(plan.micro, kLargestThatFits) == plan.micro.end()) return;
  if (plan.micro.size() > 1)
    refuse_keys(builder, {"plan.micro"},
                "plan.micro lists max and other sizes. Give max alone, or sizes to compare with plan.ranks.");
  if (!plan.ranks.empty())
    refuse_keys(builder, {"plan.micro", "plan.ranks"},
                "plan.micro = max finds one size, and plan.ranks compares layouts with given sizes. Leave out one of "
                "them; for another number of ranks: mpirun -n N convoy plan.");
}

void check_sweep(const ParameterBuilder& builder) {
  const SweepParams& sweep = builder.values.sweep;
  if (!sweep.ranks.empty() && !sweep.replicas.empty())
    refuse_keys(builder, {"sweep.ranks", "sweep.replicas"},
                "sweep.ranks and sweep.replicas both say how many ranks a row takes. Give one of them.");
  if (!sweep.global.empty() && !sweep.samples_per_rank.empty())
    refuse_keys(builder, {"sweep.global", "sweep.samples_per_rank"},
                "sweep.global and sweep.samples_per_rank both say how large a step is. Give one of them.");
  if (sweep.work == SweepWork::kPredict && std::ranges::find(sweep.micro, kLargestThatFits) != sweep.micro.end())
    refuse_keys(builder, {"sweep.micro", "sweep.work"},
                "sweep.micro = max is for trainings, and sweep.work = predict measures predictions. Give sizes.");
  if (!sweep.micro.empty() && !sweep.micro_batches.empty())
    refuse_keys(builder, {"sweep.micro", "sweep.micro_batches"},
                "sweep.micro and sweep.micro_batches both say how large a micro-batch is. Give one of them.");
}

}  // namespace

std::optional<std::string> find_defect(const std::string& path) {
  const std::filesystem::path parts(path);
  const bool has_long_name =
      std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.native().size() > NAME_MAX; });
  struct stat status = {};
  const int error = ::stat(path.c_str(), &status) == 0 ? 0 : errno;
  // The names are checked too: the system does not look at names after a part that does not exist.
  if (has_long_name || path.size() >= PATH_MAX || error == ENAMETOOLONG)
    return fmt::format("the path is too long: each name in it may have {} bytes, the whole path {} bytes", NAME_MAX,
                       PATH_MAX - 1);
  if (error == ELOOP) return "its symbolic links lead in a circle";
  return std::nullopt;
}

void check_paths(ParameterBuilder& builder) {
  for (const Key& key : keys()) {
    const std::string value = key.value.write(builder.values);
    if (!key.value.is_path || !value.starts_with('~')) continue;
    builder.attempt([&] {
      refuse(
          "{}: {} = {} begins with '~', which the shell did not replace. Allowed: {}. On the command line write "
          "$HOME/... for it, in a parameter file the whole path.",
          builder.source_of(key.name), key.name, shown(value), key.value.allowed);
    });
  }
}

namespace {

/// Finds a link in the path whose target is gone: the system's message would be that there is no such file, or that it
/// exists already.
std::optional<std::string> find_lost_link(const std::filesystem::path& path) {
  std::filesystem::path way;
  for (const std::filesystem::path& part : path) {
    way /= part;
    std::error_code unknown;
    const bool is_link = std::filesystem::symlink_status(way, unknown).type() == std::filesystem::file_type::symlink;
    if (is_link && std::filesystem::status(way, unknown).type() == std::filesystem::file_type::not_found)
      return fmt::format("{} is a link to {}, which does not exist. Restore its target, or remove the link",
                         shown(way.string()), shown(std::filesystem::read_symlink(way, unknown).string()));
  }
  return std::nullopt;
}

}  // namespace

void check_reachable(ParameterBuilder& builder, const Command& command) {
  for (const Key& key : keys()) {
    const std::string value = key.value.write(builder.values), &written = key.value.written;
    if (!key.value.is_path || value.empty() || !command.is_reading(key)) continue;
    // A file that is written replaces a link of its name.
    const bool is_written_file = !written.empty() && written.find('/') == std::string::npos;
    const std::filesystem::path whole = value, followed = is_written_file ? whole.parent_path() : whole;
    builder.attempt([&] {
      if (const auto defect = find_defect(value + written))
        refuse("{}: {} = {}: {}. Choose another path.", builder.source_of(key.name), key.name, shown(value), *defect);
      if (const auto lost = find_lost_link(followed))
        refuse("{}: {} = {}: {}.", builder.source_of(key.name), key.name, shown(value), *lost);
    });
  }
}

void check_moved(ParameterBuilder& builder, const Command& command, const std::vector<std::string>& files) {
  const std::vector<std::string> commands = {"train", "check", "evaluate", "predict", "export", "replay"};
  if (std::ranges::find(commands, command.name) == commands.end()) return;
  const std::string& directory = builder.values.run.directory;
  for (const std::string& file : files) {
    const std::filesystem::path path(file), here("."), folder = path.has_parent_path() ? path.parent_path() : here;
    std::error_code unknown;
    const bool is_of_a_run = path.filename() == "params.cfg" && std::filesystem::exists(folder / "starts.csv", unknown);
    const bool names_directory = builder.source_of("run.directory").starts_with(file + ":");
    if (!is_of_a_run || !names_directory || std::filesystem::equivalent(folder, directory, unknown)) continue;
    builder.attempt([&] {
      refuse(
          "{}: run.directory = {}, but this file lies in the directory of a run, {}: was that moved or copied? To use "
          "the run there, add --run.directory={}; else --run.directory={}.",
          builder.source_of("run.directory"), shown(directory), shown(folder.string()), shown(folder.string()),
          shown(directory));
    });
  }
}

namespace {

/// Whether the command is a table of plan.micro or plan.samples_per_rank, which does not read batch.micro or
/// batch.global: the planner checks these.
bool compares_other_batches(const PlanParams& plan, const Command* command) {
  return command != nullptr && command->name == "plan" && !plan.ranks.empty() &&
         (!plan.micro.empty() || plan.samples_per_rank > 0);
}

}  // namespace

void check_consistency(ParameterBuilder& builder, const Command* command) {
  if (!compares_other_batches(builder.values.plan, command)) builder.attempt([&] { check_batch(builder); });
  for (const auto check :
       {check_network, check_device, check_optimizer, check_learning_rate, check_data, check_rollback, check_augment,
        check_import, check_predict, check_largest_micro, check_sweep})
    builder.attempt([&] { check(builder); });
}

void check_needs(ParameterBuilder& builder, const Command& command) {
  if (command.name == "plan" || command.name == "info") {
    check_pictures(builder);
    check_described_data(builder, command.name == "plan");
  }
  if (command.name == "plan") check_plan(builder);
  const auto is_given = [&](const std::string& name) {
    return find_key(name)->value.write(builder.values) != find_key(name)->default_text();
  };
  for (const std::vector<std::string>& names : command.needs) {
    if (std::any_of(names.begin(), names.end(), is_given)) continue;
    const Key& key = *find_key(names.front());
    builder.attempt([&] {
      refuse("convoy {} needs {}: {}. Give it in a parameter file, under [{}], or as --{}=PATH.{}", command.name,
             fmt::join(names, " or "), key.sentence, key.section(), key.name, remedy(key.name));
    });
  }
}

}  // namespace convoy::params

namespace convoy {

void check_consistency(const Parameters& params) {
  params::ParameterBuilder builder{.values = params, .where = {}};
  params::check_consistency(builder);
}

}  // namespace convoy
