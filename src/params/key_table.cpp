/// Every key there is, once. A new key is an entry here and a field with its default in parameters.h.
#include "params/key_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "convoy/base/text.h"

namespace convoy::params {

namespace {

constexpr std::int64_t kMostSamples = 1 << 24;  // a step
constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr double kMostEpochs = 1e6;
constexpr const char* kPartial = ".partial";  // what a file is called until it is whole

std::vector<Key> make_keys() {
  using P = Parameters;
  return {
      // --- What is trained, on what -------------------------------------------------------------------------------
      {"model.name", lower_case_text({&P::model, &ModelParams::name}, "a network's name"), "",
       "resnet18, 34, 50, 101, 152 for photographs; resnet20, 32, 44, 56, 110 and pyramidnetDEPTH-aALPHA (such as "
       "pyramidnet110-a270) for small images"},

      {"data.train", path_or_empty({&P::data, &DataParams::train}), "",
       "what to train on: a shard, a folder of shards, or a prefix such as data/fashion/train"},
      {"data.test", path_or_empty({&P::data, &DataParams::test}), "",
       "what to measure accuracy on, given as data.train is; to train, data.val can take its place"},
      {"data.val", path_or_empty({&P::data, &DataParams::val}), "",
       "what a training measures accuracy on, epoch by epoch, where it is given (as data.train is): the best "
       "checkpoint "
       "and train.patience_epochs follow it, and data.test is measured once, at the end"},
      {"data.shuffle", flag({&P::data, &DataParams::shuffle}), "", "a new order every epoch, drawn from train.seed"},
      {"data.loader_threads", integer({&P::data, &DataParams::loader_threads}, {.least = 1, .most = 256}), "threads",
       "background threads per rank that read and augment images"},
      {"data.verify", choice({&P::data, &DataParams::verify}, kVerifyKinds), "",
       "how often an image's bytes are compared with the hash that its import wrote: whenever they are read (epoch), "
       "the first time in a run (once), or only by convoy check (none); bytes that differ end the run"},

      // --- How a step is cut --------------------------------------------------------------------------------------
      {"batch.global", integer({&P::batch, &BatchParams::global}, {.least = 1, .most = kMostSamples}), "samples",
       "samples a step, over all replicas; what the learning rate is tuned for"},
      {"batch.micro", integer({&P::batch, &BatchParams::micro}, {.least = 1, .most = kMostSamples}), "samples",
       "samples a micro-batch: what batch norm averages over; divides batch.global"},

      {"grid.stages", integer_or_auto({&P::grid, &GridParams::stages}, {.least = 1, .most = 4096}), "ranks",
       "ranks that share one network, layer after layer; replicas = ranks / stages; auto: those that convoy train "
       "predicts the shortest step for"},
      {"grid.cuts", integers({&P::grid, &GridParams::cuts}, {.least = 1, .most = 4096}, "auto"), "cells",
       "the number of the cell, from 0, that each stage (interleaved: each run) but the first begins with; auto: where "
       "the slowest is "
       "fastest, of the cuts whose stages fit memory.limit_gib; never changes the result"},

      {"schedule.kind", choice({&P::schedule, &ScheduleParams::kind}, kScheduleKinds), "",
       "the order of micro-batches in the pipeline; never changes the result"},
      {"schedule.chunks", integer({&P::schedule, &ScheduleParams::chunks}, {.least = 2, .most = 64}), "",
       "interleaved: runs of cells a stage (one stage has one); the bubble is 1/chunks of 1f1b's, messages are chunks "
       "times as many"},

      {"memory.recompute", choice({&P::memory, &MemoryParams::recompute}, kRecomputeKinds), "",
       "backward computes again what cells would keep: cell: of all, for about a third more time; auto: of as few as "
       "memory.limit_gib needs; never changes the result"},
      {"memory.limit_gib", number({&P::memory, &MemoryParams::limit_gib}, {.least = 0, .most = 1 << 20}), "GiB",
       "a rank refuses to start whose plan takes more (convoy plan shows it); a CPU needs room for the program, too; "
       "0: "
       "no limit"},

      // --- How it learns ------------------------------------------------------------------------------------------
      {"optimizer.kind", choice({&P::optimizer, &OptimizerParams::kind}, kOptimizerKinds), "",
       "sgd with momentum; adam and adamw as PyTorch's; lars: sgd with a rate for each tensor, for large batches"},
      {"optimizer.lr", number({&P::optimizer, &OptimizerParams::lr}, {.least = 0, .most = 1000}), "",
       "learning rate, at its peak where lr.schedule changes it"},
      {"optimizer.momentum",
       number({&P::optimizer, &OptimizerParams::momentum}, {.least = 0, .most = 1, .below_most = true}), "",
       "sgd, lars: share of the velocity kept from step to step"},
      {"optimizer.nesterov", flag({&P::optimizer, &OptimizerParams::nesterov}), "",
       "sgd: looks one step of momentum ahead; needs optimizer.momentum > 0"},
      {"optimizer.weight_decay", number({&P::optimizer, &OptimizerParams::weight_decay}, {.least = 0, .most = 1}), "",
       "added to the gradient: this times the weight; adamw takes it from the weight, times the learning rate"},
      {"optimizer.decay_norms_and_biases", flag({&P::optimizer, &OptimizerParams::decay_norms_and_biases}), "",
       "weight decay also for batch norm's scales and shifts, and for biases"},
      {"optimizer.beta1", number({&P::optimizer, &OptimizerParams::beta1}, {.least = 0, .most = 1, .below_most = true}),
       "", "adam, adamw: share kept of the gradients' moving average"},
      {"optimizer.beta2", number({&P::optimizer, &OptimizerParams::beta2}, {.least = 0, .most = 1, .below_most = true}),
       "", "adam, adamw: share kept of the moving average of their squares"},
      {"optimizer.epsilon",
       number({&P::optimizer, &OptimizerParams::epsilon}, {.least = 0, .most = 1, .above_least = true}), "",
       "adam, adamw: added to the root of that average"},
      {"optimizer.trust_coefficient",
       number({&P::optimizer, &OptimizerParams::trust_coefficient}, {.least = 0, .most = 1000, .above_least = true}),
       "", "lars: a tensor's step by the norm of its weights; batch norm and biases go without"},

      {"lr.schedule", choice({&P::lr, &LearningRateParams::schedule}, kLearningRateKinds), "",
       "how the learning rate goes over the epochs"},
      {"lr.warmup_epochs", number({&P::lr, &LearningRateParams::warmup_epochs}, {.least = 0, .most = kMostEpochs}),
       "epochs",
       "linear from 0 to optimizer.lr at the start; onecycle: how long the rate rises, from optimizer.lr / 25 along a "
       "cosine; 0: for 30 % of the run"},
      {"lr.step_epochs",
       numbers({&P::lr, &LearningRateParams::step_epochs}, {.least = 0, .most = kMostEpochs, .above_least = true}),
       "epochs", "step: the period, one number; multistep: the milestones, ascending"},
      {"lr.gamma", number({&P::lr, &LearningRateParams::gamma}, {.least = 0, .most = 1, .above_least = true}), "",
       "what step and multistep multiply the learning rate with"},
      {"lr.power", number({&P::lr, &LearningRateParams::power}, {.least = 0, .most = 100, .above_least = true}), "",
       "polynomial: of the share of the epochs that is left; 1 falls in a straight line"},

      {"train.epochs",
       number({&P::train, &TrainParams::epochs}, {.least = 0, .most = kMostEpochs, .above_least = true}), "epochs",
       "passes over the training data; may end within one"},
      {"train.max_steps", integer({&P::train, &TrainParams::max_steps}, {.least = 0, .most = kMostSteps}), "steps",
       "stops after so many; 0: only train.epochs decides"},
      {"train.seed", any_uint64({&P::train, &TrainParams::seed}), "",
       "of initial weights, order and augmentation: the same seed, the same run"},
      {"train.label_smoothing",
       number({&P::train, &TrainParams::label_smoothing}, {.least = 0, .most = 1, .below_most = true}), "",
       "share of the target spread evenly over all classes"},
      {"train.precision", choice({&P::train, &TrainParams::precision}, kPrecisionKinds), "",
       "of activations and the products they enter; weights, sums and statistics stay f32. tf32 and fp16 need a GPU; "
       "on a CPU bf16 halves the memory of activations, and saves time only where oneDNN multiplies in bf16"},
      {"train.freeze", texts({&P::train, &TrainParams::freeze}, "patterns of names, as in layer1.*, bn1.*"), "",
       "parameters that stay as they are; a cell with nothing left to train keeps its running statistics too"},
      {"train.clip_norm", number({&P::train, &TrainParams::clip_norm}, {.least = 0, .most = 1e9}), "",
       "gradients are scaled down to this norm, over all parameters, where it is larger; 0: never"},
      {"train.ema_decay", number({&P::train, &TrainParams::ema_decay}, {.least = 0, .most = 1, .below_most = true}), "",
       "share kept a step of a moving average of weights and running statistics; 0: none is kept"},
      {"train.evaluate_every_epochs",
       integer({&P::train, &TrainParams::evaluate_every_epochs}, {.least = 0, .most = 1'000'000}), "epochs",
       "between measurements on data.val, or else data.test; 0: only at the end"},
      {"train.patience_epochs", integer({&P::train, &TrainParams::patience_epochs}, {.least = 0, .most = 1'000'000}),
       "epochs", "ends the run when the accuracy measured so has not risen for so many; 0: never"},

      {"augment.size", integer({&P::augment, &AugmentParams::size}, {.least = 0, .most = 4096}), "pixels",
       "rows and columns that images are brought to; 0: as they are stored, and to evaluate as in training. Encoded "
       "images "
       "need one"},
      {"augment.crop", choice({&P::augment, &AugmentParams::crop}, kCropKinds), "",
       "pad: augment.crop_padding; random_resized: a random part of the image (area, aspect 3/4 to 4/3), resized"},
      {"augment.crop_padding", integer({&P::augment, &AugmentParams::crop_padding}, {.least = 0, .most = 1024}),
       "pixels", "border added before a random crop back to size; 0: no crop"},
      {"augment.border", choice({&P::augment, &AugmentParams::border}, kBorderKinds), "",
       "what that border shows; reflect: the image, mirrored about its outermost pixels"},
      {"augment.scale", number({&P::augment, &AugmentParams::scale}, {.least = 0, .most = 1, .above_least = true}), "",
       "random_resized: least share of the image's area that is seen"},
      {"augment.eval_resize", integer({&P::augment, &AugmentParams::eval_resize}, {.least = 0, .most = 16384}),
       "pixels",
       "what the short side becomes before the centre is cut out, to evaluate; 0: as the checkpoint says, which is "
       "augment.size, times 256 / 224 with random_resized"},
      {"augment.flip", flag({&P::augment, &AugmentParams::flip}), "",
       "mirrors half of the training images left to right"},
      {"augment.brightness", number({&P::augment, &AugmentParams::brightness}, {.least = 0, .most = 1}), "",
       "training images times a factor within 1 -+ this; 0: not"},
      {"augment.contrast", number({&P::augment, &AugmentParams::contrast}, {.least = 0, .most = 1}), "",
       "their distance to the image's mean grey, likewise"},
      {"augment.saturation", number({&P::augment, &AugmentParams::saturation}, {.least = 0, .most = 1}), "",
       "their distance to each pixel's grey, likewise"},
      {"augment.cutout", integer({&P::augment, &AugmentParams::cutout}, {.least = 0, .most = 4096}), "pixels",
       "side of a square at a random place that training images are left without; 0: none"},
      {"augment.mixup", number({&P::augment, &AugmentParams::mixup}, {.least = 0, .most = 1000}), "",
       "mixes each training image, and its label, with another of its micro-batch, whose share is drawn from "
       "Beta(this, "
       "this); training top-1 counts the label with the larger share; 0: not"},
      {"augment.normalize", flag({&P::augment, &AugmentParams::normalize}), "",
       "subtracts the training set's mean and divides by its deviation, channel by channel"},

      // --- What is kept -------------------------------------------------------------------------------------------
      {"checkpoint.every_epochs",
       number({&P::checkpoint, &CheckpointParams::every_epochs}, {.least = 0, .most = kMostEpochs}), "epochs",
       "between checkpoints; 0: never. One is always written at the end"},
      {"checkpoint.every_steps",
       integer({&P::checkpoint, &CheckpointParams::every_steps}, {.least = 0, .most = kMostSteps}), "steps",
       "between checkpoints, too; 0: never"},
      {"checkpoint.keep", integer({&P::checkpoint, &CheckpointParams::keep}, {.least = 0, .most = 1'000'000}), "files",
       "newest checkpoints kept, and while the loss is out of its range the newest from before that; 0: all"},
      {"checkpoint.best", flag({&P::checkpoint, &CheckpointParams::best}), "",
       "keeps best.h5 too, the checkpoint with the best accuracy so far on data.val, or else data.test"},
      {"checkpoint.resume",
       word_or_path({&P::checkpoint, &CheckpointParams::resume}, {"auto", "best", "none"}, "a checkpoint's path"), "",
       "auto resumes from the newest valid checkpoint of run.directory; none: starts from the beginning; best, for "
       "evaluate: best.h5"},
      {"checkpoint.allow_other_data", flag({&P::checkpoint, &CheckpointParams::allow_other_data}), "",
       "resumes also where data.train holds other images or labels than the checkpoint was trained on (as many, of the "
       "same classes); else that is refused"},

      {"evaluate.weights", choice({&P::evaluate, &EvaluateParams::weights}, kWeightsKinds), "",
       "what is measured, in training too: ema is their moving average, where there is one"},

      {"evaluate.mirror", flag({&P::evaluate, &EvaluateParams::mirror}), "",
       "looks at each picture twice, as it is and mirrored, and takes the mean of the probabilities: in evaluate, "
       "predict, whose logits are then the logarithms, and the tests of training; twice the time"},

      {"evaluate.confusion", flag({&P::evaluate, &EvaluateParams::confusion}), "",
       "writes confusion.csv (rows: true class, columns: predicted) and classes.csv (accuracies) to run.directory"},

      {"predict.data", path_or_empty({&P::predict, &PredictParams::data}), "",
       "what to predict: given as data.train is (of a folder of shards: test), or a folder of JPEG and PNG files, or "
       "one such file, whose classes are printed; empty: data.test, or else data.val"},
      {"predict.output", path_or_empty({&P::predict, &PredictParams::output}, kPartial), "",
       "the .csv file that takes the classes; the logits go to a .h5 file beside it; empty: predictions.csv in "
       "run.directory, and no file where predict.data is one picture"},
      {"predict.top", integer({&P::predict, &PredictParams::top}, {.least = 1, .most = 1'000'000}), "classes",
       "how many classes are given of each picture, the most probable first"},
      {"predict.orient", choice({&P::predict, &PredictParams::orient}, kOrientKinds), "",
       "turns JPEG files as their Exif orientation says (true), or takes them as they are stored, as torchvision does "
       "(false); auto: as import.orient was for the data that the network was trained on. A data set is taken as it "
       "was imported"},
      {"predict.strict", flag({&P::predict, &PredictParams::strict}), "",
       "the first bad image ends the prediction; else bad ones are named, counted and left out of the results"},

      {"init.weights", word_or_path({&P::init, &InitParams::weights}, {"random"}, "a path"), "",
       "weights to begin with, where no checkpoint is resumed: a checkpoint or a .safetensors file"},
      {"init.strict", flag({&P::init, &InitParams::strict}), "",
       "refuses weights that are not exactly this model's; false takes those that fit and draws the others"},
      {"init.zero_residual", flag({&P::init, &InitParams::zero_residual}), "",
       "what is drawn: the last batch norm of a block starts at 0, and so the block as its shortcut"},

      // --- Where it runs ------------------------------------------------------------------------------------------
      {"run.directory", path({&P::run, &RunParams::directory}, "/checkpoints/step-0000000000.h5.partial"), "",
       "takes the effective parameters, logs and checkpoints"},
      {"run.threads", integer({&P::run, &RunParams::threads}, {.least = 0, .most = 1024}), "threads",
       "compute threads a rank; 0: the cores bound to it, shared fairly. On a CPU the bits depend on their number: "
       "give one (1, say) to compare layouts"},
      {"run.device", choice({&P::run, &RunParams::device}, kDeviceKinds), "",
       "auto takes a GPU where there is one and Convoy was built for it"},
      {"run.plans", path_or_empty({&P::run, &RunParams::plans}), "",
       "which of its engines a GPU's library uses: measured once, then kept here. Another run's file gives another "
       "run's "
       "bits; empty: plans.txt in run.directory"},
      {"run.reduction", choice({&P::run, &RunParams::reduction}, kReductionKinds), "",
       "how gradients are summed: invariant gives the same bits on every grid, fast may not"},
      {"run.bucket_mib", number({&P::run, &RunParams::bucket_mib}, {.least = 0, .most = 1024, .above_least = true}),
       "MiB", "gradients travel in buckets of about this size; never changes the result"},
      {"run.trace", integer({&P::run, &RunParams::trace}, {.least = 0, .most = 1000}), "steps",
       "records so many training steps, from this run's fourth on (of a short run the last ones, never the first): "
       "trace.json for ui.perfetto.dev, trace.svg, and a line that says why ranks were idle; 0: none"},

      {"plan.ranks", integers({&P::plan, &PlanParams::ranks}, {.least = 1, .most = 1'000'000}), "ranks",
       "plans for the first of them, and compares all layouts on each; empty: plans for those that it is started with, "
       "or, started alone, for one replica"},
      {"plan.micro", integers({&P::plan, &PlanParams::micro}, {.least = 1, .most = kMostSamples}), "samples",
       "the micro-batches that layouts are compared with; empty: batch.micro"},
      {"plan.measure", flag({&P::plan, &PlanParams::measure}), "",
       "layouts are compared by what cells, memory and messages take here (kept in costs.txt of run.directory); false: "
       "by a model of a processor core and a network"},
      {"plan.latency_us", number({&P::plan, &PlanParams::latency_us}, {.least = 0, .most = 1e6}), "us",
       "of a message between two ranks of the cluster that is planned for; 0: as measured"},
      {"plan.bandwidth_gb_s", number({&P::plan, &PlanParams::bandwidth_gb_s}, {.least = 0, .most = 1e6}), "GB/s",
       "of messages between them, likewise"},
      {"plan.draw", path_or_empty({&P::plan, &PlanParams::draw}, kPartial), "",
       "an .svg file that takes a picture of the planned step, a row a rank"},

      {"import.format", choice({&P::import, &ImportParams::format}, kImportFormats), "",
       "of import.source: folder of images ([split/]class/image), CIFAR's binary files, MNIST's idx; auto looks"},
      {"import.source", path_or_empty({&P::import, &ImportParams::source}), "", "folder to import from"},
      {"import.output", path_or_empty({&P::import, &ImportParams::output}, "/train-0000.h5.partial"), "",
       "folder that takes train*.h5, val*.h5 and test*.h5"},
      {"import.storage", choice({&P::import, &ImportParams::storage}, kStorageKinds), "",
       "raw: pixels, all images of one size; encoded: the files as they are, decoded when they are loaded"},
      {"import.size", integer({&P::import, &ImportParams::size}, {.least = 0, .most = 4096}), "pixels",
       "rows and columns that raw images are resized to; 0: as they are, and all must agree"},
      {"import.resize", choice({&P::import, &ImportParams::resize}, kResizeKinds), "",
       "crop: the short side becomes import.size, the middle is kept; squash: both sides do"},
      {"import.channels", choice({&P::import, &ImportParams::channels}, kChannelsKinds), "",
       "1: grey, 3: RGB; auto: grey where every file is"},
      {"import.orient", flag({&P::import, &ImportParams::orient}), "",
       "turns JPEG files as their Exif orientation says; encoded ones when they are loaded. false, as torchvision "
       "does: "
       "images are seen as they are stored"},
      {"import.val_fraction",
       number({&P::import, &ImportParams::val_fraction}, {.least = 0, .most = 1, .below_most = true}), "",
       "share of each class of train that becomes a split val, drawn from train.seed"},
      {"import.shards", integer({&P::import, &ImportParams::shards}, {.least = 0, .most = 9999}), "files",
       "files that a split is written to, each by one rank; 0: one for every 128 MiB, at most 256"},
      {"import.strict", flag({&P::import, &ImportParams::strict}), "",
       "the first bad image ends the import; else bad ones are named and skipped"},
      {"import.replace", flag({&P::import, &ImportParams::replace}), "",
       "replaces the data set that import.output holds; else an import that would do so is refused"},

      {"export.output", path_or_empty({&P::exporting, &ExportParams::output}, kPartial), "",
       "the .safetensors file that takes the weights"},
  };
}

/// Of all keys with this leaf, the one whose section is nearest; empty where there is none.
std::string same_leaf(const std::string& section, const std::string& leaf) {
  std::vector<std::string> candidates;  // sections
  for (const Key& key : keys()) {
    if (key.leaf() == leaf) candidates.push_back(key.section());
  }
  if (candidates.empty()) return "";
  const std::string near = nearest(section, candidates);
  return (near.empty() ? candidates.front() : near) + "." + leaf;
}

std::vector<std::string> leaves_of(const std::string& section) {
  std::vector<std::string> leaves;
  for (const Key& key : keys()) {
    if (key.section() == section) leaves.push_back(key.leaf());
  }
  return leaves;
}

/// Of all sections, those with its initial: among so many, some short one is always within two letters.
std::vector<std::string> leaves_like(const std::string& leaf) {
  std::vector<std::string> leaves;
  for (const Key& key : keys()) {
    if (key.leaf().starts_with(leaf.substr(0, 1))) leaves.push_back(key.leaf());
  }
  return leaves;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Key& key : keys()) names.push_back(key.name);
  return names;
}

}  // namespace

const std::vector<Key>& keys() {
  static const std::vector<Key> kKeys = make_keys();
  return kKeys;
}

const std::vector<std::string>& sections() {
  static const std::vector<std::string> kSections = [] {
    std::vector<std::string> names;
    for (const Key& key : keys()) {
      if (names.empty() || names.back() != key.section()) names.push_back(key.section());
    }
    return names;
  }();
  return kSections;
}

const Key* find_key(std::string_view name) {
  const std::string lower = lower_case(name);
  const auto found = std::find_if(keys().begin(), keys().end(), [&](const Key& key) { return key.name == lower; });
  return found == keys().end() ? nullptr : &*found;
}

/// First a key of that leaf in another section (train.lr, opt.kind). Then a leaf that is near, misspelt or cut off: in
/// the section that is named (batch.globl) or near (optim.weight), in all where there is none (epoch). Then any near
/// name.
std::string nearest_key(const std::string& given) {
  const std::string name = lower_case(given);
  const std::string section = name.substr(0, name.find('.'));
  const std::string leaf = name.substr(name.rfind('.') + 1);
  if (std::string same = same_leaf(section, leaf); !same.empty()) return same;
  const bool section_is_known = !leaves_of(section).empty();
  const std::string home = section_is_known || section != name ? nearest(section, sections()) : "";
  const std::string near = nearest(leaf, home.empty() ? leaves_like(leaf) : leaves_of(home));
  if (!near.empty()) return home.empty() ? same_leaf(section, near) : home + "." + near;
  return section_is_known ? "" : nearest(name, all_names());
}

std::string key_hint(const std::string& name) {
  const std::string near = nearest_key(name);
  std::string hint = near.empty() ? "" : fmt::format(" Nearest: {}.", near);
  const std::string section = name.substr(0, name.find('.'));
  if (const auto leaves = leaves_of(section); !leaves.empty()) {
    hint += fmt::format(" Keys of [{}]: {}.", section, join(leaves));
  } else if (near.empty()) {
    hint = fmt::format(" Sections: {}.", join(sections()));
  }
  return hint + " All keys: convoy --help.";
}

}  // namespace convoy::params
