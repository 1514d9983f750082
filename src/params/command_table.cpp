/// The table of all commands.
#include "params/command_table.h"

#include <algorithm>

namespace convoy::params {

namespace {

/// These keys, and those of a training.
std::vector<std::string> with_training(std::vector<std::string> reads) {
  reads.insert(reads.end(),
               {"model", "data", "batch", "grid", "schedule", "memory", "optimizer", "lr", "train", "augment",
                "checkpoint", "evaluate.weights", "evaluate.mirror", "init", "run", "plan.measure"});
  return reads;
}

/// These keys, and those of every command that applies a trained network.
std::vector<std::string> with_inference(std::vector<std::string> reads) {
  reads.insert(reads.end(), {"model",
                             "data.train",
                             "data.test",
                             "data.val",
                             "data.fold",
                             "data.loader_threads",
                             "data.verify",
                             "batch",
                             "grid.stages",
                             "schedule",
                             "memory",
                             "train.precision",
                             "augment.size",
                             "augment.crop",
                             "augment.eval_resize",
                             "augment.normalize",
                             "augment.mean",
                             "augment.stddev",
                             "checkpoint.resume",
                             "init.weights",
                             "init.strip_prefix",
                             "run.directory",
                             "run.threads",
                             "run.placement",
                             "run.device",
                             "run.engines",
                             "run.watchdog_seconds",
                             "run.watchdog_abort_seconds"});
  return reads;
}

}  // namespace

const std::vector<Command>& commands() {
  const std::vector<std::vector<std::string>> needed_by_training = {{"data.train"},
                                                                    {"data.test", "data.val", "data.fold"}};
  static const std::vector<Command> kCommands = {
      {.name = "train",
       .takes = Takes::kParameterFiles,
       .takes_run = true,
       .needs = needed_by_training,
       .reads = with_training({}),
       .sentence = "trains a network, or resumes a run that has stopped; with --dry-run it only checks the request, "
                   "and prints what it would do"},
      {.name = "evaluate",
       .takes = Takes::kParameterFiles,
       .takes_run = true,
       .reads = with_inference({"train.loss", "train.huber_delta", "evaluate"}),
       .sentence = "measures a checkpoint's loss and other metrics on data.test, or else on data.val or data.fold; if "
                   "none is given, on the data sets of its training"},
      {.name = "predict",
       .takes = Takes::kParameterFiles,
       .takes_run = true,
       .reads = with_inference({"evaluate.weights", "evaluate.mirror", "predict", "import.text_column",
                                "import.label_column", "import.inputs", "import.target", "import.id", "import.axes"}),
       .sentence = "predicts predict.data with a checkpoint, and writes classes, labels or numbers"},
      {.name = "import",
       .takes = Takes::kParameterFiles,
       .needs = {{"import.source"}, {"import.output"}},
       .reads = {"train.seed", "import", "run.watchdog_seconds", "run.watchdog_abort_seconds"},
       .sentence = "converts a data set into Convoy's format"},
      {.name = "export",
       .takes = Takes::kParameterFiles,
       .takes_run = true,
       .needs = {{"export.output"}},
       .reads = {"checkpoint.resume", "evaluate.weights", "init.weights", "init.strip_prefix", "run.directory",
                 "export"},
       .sentence = "writes the weights of init.weights, or of the run's best checkpoint, to a .safetensors file, with "
                   "the names of torchvision and torch.nn"},
      {.name = "plan",
       .takes = Takes::kParameterFilesOrNetwork,
       .takes_run = true,
       .reads = {"model",
                 "data",
                 "batch",
                 "grid",
                 "schedule",
                 "memory",
                 "optimizer",
                 "train.precision",
                 "train.loss",
                 "train.huber_delta",
                 "train.label_smoothing",
                 "train.class_weights",
                 "train.metric",
                 "train.freeze",
                 "train.clip_norm",
                 "train.ema_decay",
                 "augment.size",
                 "augment.mixup",
                 "augment.cutmix",
                 "run",
                 "plan"},
       .sentence = "prints what each rank would hold and compute, and runs nothing; without data.train also of a "
                   "network alone: convoy plan resnet50, convoy plan my.lua"},
      {.name = "sweep",
       .takes = Takes::kParameterFiles,
       .needs = {{"data.train"}},
       .reads = {"model", "data", "batch", "grid", "schedule", "memory", "optimizer", "train", "augment", "run",
                 "plan.measure", "sweep"},
       .sentence = "measures a table: a short training, or prediction, for each combination of the values in [sweep]"},
      {.name = "replay",
       .takes = Takes::kParameterFiles,
       .takes_run = true,
       .needs = {{"replay.steps"}, {"data.train"}, {"data.test", "data.val", "data.fold"}},
       .reads = {"model", "data", "batch", "grid", "schedule", "memory", "optimizer", "lr", "train", "augment", "init",
                 "run", "plan.measure", "replay"},
       .sentence = "computes some steps of a run again, on any grid, and compares each loss and fingerprint with what "
                   "the run has recorded"},
      {.name = "watch",
       .takes = Takes::kPaths,
       .reads = {"watch"},
       .sentence =
           "shows a run in the terminal, while it trains or later; it reads only the files in the run's directory"},
      {.name = "compare",
       .takes = Takes::kPaths,
       .sentence = "compares two runs or two checkpoints, and prints the first step and the first tensor that differ; "
                   "exit status 1 if any differs. Parameters, machines and best values that differ are printed, but do "
                   "not change the exit status. With --summary: the results of any number of runs in one table, with "
                   "mean and standard deviation: on the test set, or else in the best and in the last epoch"},
      {.name = "join",
       .takes = Takes::kPaths,
       .sentence = "makes one file of a checkpoint whose values are in parts (checkpoint.files = sharded), under the "
                   "same name"},
      {.name = "info",
       .takes = Takes::kPathsOrNetworks,
       .reads = {"model", "data.train", "train.precision", "augment.size", "info", "plan.classes", "plan.image_size",
                 "plan.values", "plan.vocabulary"},
       .sentence = "prints what checkpoints and data sets hold, and the cells, shapes, parameters and operations of "
                   "networks (a name, a file in Lua, or a checkpoint), for samples as in data.train if it is given; "
                   "without arguments, prints what the machine has "
                   "(processors, NUMA domains, caches, GPUs), and which processors each rank may use"},
      {.name = "check",
       .takes = Takes::kPathsOrParameterFiles,
       .takes_run = true,
       .needs = needed_by_training,
       .reads =
           with_training({"check", "plan.ranks_per_node", "plan.latency_us", "plan.bandwidth_gb_s", "plan.node_gb_s"}),
       .sentence =
           "verifies checkpoints and data sets, byte by byte; with a parameter file or a run directory, checks whether "
           "convoy train would run with it on these ranks: data, weights, memory, messages, machines, disk and time"},
      {.name = "help",
       .takes = Takes::kTopics,
       .sentence = "prints this page, like --help, or the help of a topic: convoy help train (a command and the keys "
                   "that it reads), convoy help lr (a section), convoy help optimizer.lr (a key); for any other word, "
                   "all texts that contain it; convoy help --markdown prints everything as input/keys.md"},
      {.name = "version", .takes = Takes::kNothing, .sentence = "prints the version, like --version"},
  };
  return kCommands;
}

bool Command::is_reading(const Key& key) const {
  return std::any_of(reads.begin(), reads.end(),
                     [&](const std::string& read) { return read == key.name || read == key.section(); });
}

const Command* find_command(std::string_view name) {
  const auto found =
      std::find_if(commands().begin(), commands().end(), [name](const Command& c) { return c.name == name; });
  return found == commands().end() ? nullptr : &*found;
}

}  // namespace convoy::params
