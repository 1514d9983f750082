/// See validate.h.
#include "params/validate.h"

#include <algorithm>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/params/names.h"
#include "convoy/params/parse.h"

#include "params/key_table.h"
#include "params/paths.h"

namespace convoy::params {

namespace {

/// "lr.gamma = 0.1".
std::string assignment(const Draft& draft, const std::string& name) {
  return fmt::format("{} = {}", name, shown(find_key(name)->value.write(draft.values)));
}

/// " (batch.micro: default; batch.global: a.cfg:3)", for complaints about several keys.
std::string sources(const Draft& draft, const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names) parts.push_back(fmt::format("{}: {}", name, draft.source_of(name)));
  return fmt::format(" ({})", fmt::join(parts, "; "));
}

/// The largest divisor of `whole` below `part` and the smallest above it, those that there are.
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

void check_batch(const Draft& draft) {
  const BatchParams& batch = draft.values.batch;
  if (batch.global % batch.micro == 0) return;
  refuse("batch.micro = {} does not divide batch.global = {}. Nearest that do: {}.{}", batch.micro, batch.global,
         fmt::join(nearest_divisors(batch.global, batch.micro), ", "), sources(draft, {"batch.micro", "batch.global"}));
}

void check_learning_rate(const Draft& draft) {
  const LearningRateParams& lr = draft.values.lr;
  const std::vector<std::string> both = {"lr.schedule", "lr.step_epochs"};
  if (lr.schedule == LearningRateKind::kStep && lr.step_epochs.size() != 1) {
    refuse("lr.schedule = step needs one number of epochs, its period, as in lr.step_epochs = 30; {}.{}",
           assignment(draft, "lr.step_epochs"), sources(draft, both));
  }
  if (lr.schedule != LearningRateKind::kMultistep) return;
  if (lr.step_epochs.empty()) {
    refuse("lr.schedule = multistep needs its milestones, as in lr.step_epochs = 30, 60, 80; {}.{}",
           assignment(draft, "lr.step_epochs"), sources(draft, both));
  }
  const auto not_below = [](double a, double b) { return a >= b; };
  if (std::adjacent_find(lr.step_epochs.begin(), lr.step_epochs.end(), not_below) != lr.step_epochs.end()) {
    std::vector<double> ascending = lr.step_epochs;
    std::sort(ascending.begin(), ascending.end());
    ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
    refuse("{} does not ascend, as lr.schedule = multistep needs. Nearest: {}.{}", assignment(draft, "lr.step_epochs"),
           fmt::join(ascending, ", "), sources(draft, both));
  }
}

void check_optimizer(const Draft& draft) {
  const OptimizerParams& optimizer = draft.values.optimizer;
  if (!optimizer.nesterov) return;
  if (optimizer.kind != OptimizerKind::kSgd)
    refuse("optimizer.nesterov = true goes with optimizer.kind = sgd alone; it is {}.{}", name_of(optimizer.kind),
           sources(draft, {"optimizer.nesterov", "optimizer.kind"}));
  if (optimizer.momentum > 0) return;
  refuse("optimizer.nesterov = true needs optimizer.momentum above 0; it is {}. Usual: 0.9.{}", optimizer.momentum,
         sources(draft, {"optimizer.nesterov", "optimizer.momentum"}));
}

void check_augment(const Draft& draft) {
  const AugmentParams& augment = draft.values.augment;
  if (augment.size == 0 && (augment.crop == CropKind::kRandomResized || augment.eval_resize > 0)) {
    const std::string name = augment.eval_resize > 0 ? "augment.eval_resize" : "augment.crop";
    refuse("{} needs augment.size, the network's rows and columns; it is 0. Usual: 224.{}", assignment(draft, name),
           sources(draft, {name, "augment.size"}));
  }
  if (augment.crop == CropKind::kRandomResized && augment.crop_padding > 0)
    refuse("augment.crop_padding = {} goes with augment.crop = pad alone. Allowed with random_resized: 0.{}",
           augment.crop_padding, sources(draft, {"augment.crop_padding", "augment.crop"}));
  if (augment.border == BorderKind::kReflect && augment.crop_padding == 0)
    refuse("augment.border = reflect needs augment.crop_padding above 0, the border's width; it is 0. Usual: 4.{}",
           sources(draft, {"augment.border", "augment.crop_padding"}));
  if (augment.mixup > 0 && draft.values.batch.micro < 2)
    refuse("augment.mixup = {} mixes images of one micro-batch, and batch.micro is 1. Allowed: 2 and more.{}",
           augment.mixup, sources(draft, {"augment.mixup", "batch.micro"}));
  if (augment.eval_resize > 0 && augment.eval_resize < augment.size)
    refuse("augment.eval_resize = {} leaves less than augment.size = {} to cut out. Allowed: {} and more, or 0.{}",
           augment.eval_resize, augment.size, augment.size, sources(draft, {"augment.eval_resize", "augment.size"}));
}

void check_import(const Draft& draft) {
  const ImportParams& import = draft.values.import;
  if (import.storage != StorageKind::kEncoded || import.size == 0) return;
  refuse("import.size = {} cannot be with import.storage = encoded, which keeps the files as they are. Allowed: 0.{}",
         import.size, sources(draft, {"import.size", "import.storage"}));
}

void check_picture(const Draft& draft) {
  const std::string& picture = draft.values.plan.draw;
  if (!picture.empty() && !picture.ends_with(".svg"))
    refuse("plan.draw = {} must end in .svg, which is what is written.{}", shown(picture),
           sources(draft, {"plan.draw"}));
}

// What else to do where a path cannot be given.
std::string remedy(const std::string& key) {
  return key == "data.test" ? " Where there is no test set, import with import.val_fraction, and name its split val in "
                              "data.val."
                            : "";
}

}  // namespace

void check_paths(const Draft& draft) {
  for (const Key& key : keys()) {
    const std::string value = key.value.write(draft.values);
    if (!key.value.is_path || !value.starts_with('~')) continue;
    refuse(
        "{}: {} = {} begins with '~', which no shell has replaced. Allowed: {}. "
        "On the command line write $HOME/... for it, in a parameter file the whole path.",
        draft.source_of(key.name), key.name, shown(value), key.value.allowed);
  }
}

void check_reachable(const Draft& draft, const Command& command) {
  for (const Key& key : keys()) {
    const std::string value = key.value.write(draft.values);
    if (!key.value.is_path || value.empty() || !command.is_reading(key)) continue;
    if (const auto defect = find_defect(value + key.value.written))
      refuse("{}: {} = {}: {}. Choose another path.", draft.source_of(key.name), key.name, shown(value), *defect);
  }
}

void check_consistency(const Draft& draft) {
  check_batch(draft);
  check_optimizer(draft);
  check_learning_rate(draft);
  check_augment(draft);
  check_import(draft);
}

void check_needs(const Draft& draft, const Command& command) {
  if (command.name == "plan") check_picture(draft);
  const auto is_given = [&](const std::string& name) { return !find_key(name)->value.write(draft.values).empty(); };
  for (const std::vector<std::string>& names : command.needs) {
    if (std::any_of(names.begin(), names.end(), is_given)) continue;
    const Key& key = *find_key(names.front());
    refuse("convoy {} needs {}: {}. Give it in a parameter file, under [{}], or as --{}=PATH.{}", command.name,
           fmt::join(names, " or "), key.sentence, key.section(), key.name, remedy(key.name));
  }
}

}  // namespace convoy::params

namespace convoy {

std::string describe_unread_keys(const Request& request) {
  using namespace params;
  const Command& command = *find_command(request.command);
  const auto is_read = [&](const std::string& name) {
    const Key& key = *find_key(name);
    return command.is_reading(key) || (command.name == "plan" && find_command("train")->is_reading(key));
  };
  std::vector<std::string> unread;
  for (const std::string& name : request.commanded)
    if (!is_read(name)) unread.push_back("--" + name);
  if (unread.empty()) return "";
  const bool is_one = unread.size() == 1;
  return fmt::format("{} {} no effect: convoy {} does not read {}", fmt::join(unread, ", "), is_one ? "has" : "have",
                     command.name, is_one ? "it" : "them");
}

std::vector<std::string> doubts_about(const Parameters& params) {
  std::vector<std::string> doubts;
  const LearningRateParams& lr = params.lr;
  if (lr.warmup_epochs > params.train.epochs && params.train.epochs > 0)
    doubts.push_back(
        fmt::format("lr.warmup_epochs = {} is longer than train.epochs = {}: the learning rate will not reach "
                    "optimizer.lr",
                    lr.warmup_epochs, params.train.epochs));
  const bool uses_steps = lr.schedule == LearningRateKind::kStep || lr.schedule == LearningRateKind::kMultistep;
  if (!uses_steps && !lr.step_epochs.empty())
    doubts.push_back(fmt::format("lr.step_epochs = {} has no effect with lr.schedule = {}",
                                 fmt::join(lr.step_epochs, ", "), name_of(lr.schedule)));
  if (params.memory.recompute == RecomputeKind::kAuto && params.memory.limit_gib == 0)
    doubts.push_back("memory.recompute = auto has no effect without memory.limit_gib: everything fits");
  const TrainParams& train = params.train;
  if (train.patience_epochs > 0 && train.evaluate_every_epochs == 0)
    doubts.push_back(fmt::format(
        "train.patience_epochs = {} has no effect with train.evaluate_every_epochs = 0: nothing is measured on the way",
        train.patience_epochs));
  return doubts;
}

}  // namespace convoy
