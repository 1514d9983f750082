/// The table of all keys. A new key is an entry here and a field with its default in the struct of its section.
#include "params/key_table.h"

#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "convoy/base/text.h"

namespace convoy::params {

namespace {

constexpr std::int64_t kMaxSamples = 1 << 24;  // a step
constexpr std::int64_t kMaxSteps = 1'000'000'000;
constexpr std::int64_t kMaxDescribedSamples = std::int64_t{1} << 50;
constexpr double kMaxEpochs = 1e6;
constexpr std::int64_t kMaxLength = 1 << 20;  // of a text: no file of one is longer
constexpr std::int64_t kMinVocabulary = 16, kMaxVocabulary = 1 << 24;
constexpr const char* kPartial = ".partial";  // what a file is called until it is whole
constexpr bool kChangesResult = true;

std::vector<Key> make_keys() {
  return {
      // --- What is trained, on what -------------------------------------------------------------------------------
      {"model.name", lower_case_text(&ModelParams::name, "a network's name"), "",
       "the network: resnet18 to resnet152 for photographs, resnet20 to resnet110 for small images, and those that "
       "input/keys.md lists",
       kChangesResult},
      {"model.file", path_or_empty(&ModelParams::file), "",
       "a file that describes the network, in place of model.name: input/networks.md explains how to write one",
       kChangesResult},
      {"model.set", text_or_empty(&ModelParams::set, "NAME=VALUE, ..."), "",
       "values of parameters that the network's file declares, as in width=32, depth=20", kChangesResult},
      {"model.length", integer(&ModelParams::length, {.min = 1, .max = kMaxLength}), "tokens",
       "networks of texts: how many tokens they read, including bert's special tokens; longer texts are cut at the end",
       kChangesResult},
      {"model.stochastic_depth", number(&ModelParams::stochastic_depth, {.min = 0, .max = 1, .below_max = true}), "",
       "convnext, vit: share of the training samples that skip the last block; it falls linearly to 0 at the first "
       "block (Huang et al. 2016)",
       kChangesResult},

      {"model.layers", integer(&TransformerParams::layers, {.min = 1, .max = 1000}), "",
       "transformer, bert: layers of attention and feed-forward network, each a cell", kChangesResult},
      {"model.heads", integer(&TransformerParams::heads, {.min = 1, .max = 1024}), "",
       "transformer, bert: heads of each attention; they share model.width evenly", kChangesResult},
      {"model.width", integer(&TransformerParams::width, {.min = 1, .max = 65536}), "",
       "transformer, bert: number of values that represent a word between layers", kChangesResult},
      {"model.feedforward", integer(&TransformerParams::feedforward, {.min = 1, .max = 1 << 20}), "",
       "transformer, bert: number of values that represent a word inside the feed-forward network", kChangesResult},
      {"model.dropout", number(&TransformerParams::dropout, {.min = 0, .max = 1, .below_max = true}), "",
       "transformer, bert: share of values, and of attention weights, set to 0 in training", kChangesResult},
      {"model.activation", choice(&TransformerParams::activation), "",
       "transformer, bert: function inside the feed-forward network; gelu_tanh is its approximation by tanh",
       kChangesResult},
      {"model.positions", choice(&TransformerParams::positions), "",
       "transformer, bert: encoding of a word's position in the text: fixed sinusoids, or a table that is trained",
       kChangesResult},
      {"model.norm", choice(&TransformerParams::norm), "",
       "transformer, bert: layer norms after the sums (Vaswani et al. 2017) or before attention and feed-forward "
       "network",
       kChangesResult},

      {"data.train", path_or_empty(&DataParams::train), "",
       "what to train on: a shard, a folder of shards, or a prefix such as data/fashion/train"},
      {"data.test", path_or_empty(&DataParams::test), "",
       "what to measure the network on, in the form of data.train; a training may have data.val instead"},
      {"data.val", path_or_empty(&DataParams::val), "",
       "what a training measures the network on after each epoch, in the form of data.train. The best checkpoint and "
       "train.patience_epochs follow it; data.test is then measured once, at the end"},
      {"data.limit", sample_limit(&DataParams::limit, kMaxDescribedSamples), "",
       "how many samples of data.train are used: a number or a share, as in 5000 or 10 %; drawn from train.seed, the "
       "same share of each class. Means of pixels, vocabulary and classes stay those of all samples; empty: all",
       kChangesResult},
      {"data.fold", integer(&DataParams::fold, {.min = 0, .max = kMaxFolds}), "",
       "fold of data.train (from 1) that a training is measured on in place of data.val: it trains on the other folds. "
       "Needs a data set that was imported with import.folds; 0: all folds are trained on",
       kChangesResult},
      {"data.shuffle", flag(&DataParams::shuffle), "", "a new order every epoch, drawn from train.seed",
       kChangesResult},
      {"data.balanced", flag(&DataParams::balanced), "",
       "true: all classes have the same number of samples in an epoch, to within one: samples of rare classes occur "
       "several times, and some samples of frequent classes occur only in other epochs",
       kChangesResult},
      {"data.loader_threads", integer(&DataParams::loader_threads, {.min = 1, .max = 256}), "threads",
       "background threads per rank that read samples, and augment images"},
      {"data.copy_to", word_or_path(&DataParams::copy_to, {"none", "memory"}, "a folder's path"), "",
       "where a training keeps copies of the shards: in the node's memory (/dev/shm), or in a folder on a local disk "
       "of each node. Each shard is then read once per node, at the start, and its hash is verified. none: no copies, "
       "shards are read from their original files. The copies are removed at the end of the run. Other commands read "
       "each sample about once, and make no copies",
       !kChangesResult, /*former_name=*/"data.stage"},
      {"data.verify", choice(&DataParams::verify), "",
       "when a sample's bytes are compared with the hash from its import: whenever they are read (epoch), the first "
       "time in a run (once), or only by convoy check (none). Bytes that differ end the run"},
      {"data.allow_part", flag(&DataParams::allow_part), "",
       "true: data.train may be one shard of several, which holds some of the samples and perhaps not all classes; "
       "false: refuses that"},

      // --- How a step is cut --------------------------------------------------------------------------------------
      {"batch.global", integer(&BatchParams::global, {.min = 1, .max = kMaxSamples}), "samples",
       "samples per step, over all replicas; what the learning rate is tuned for", kChangesResult},
      {"batch.micro", integer(&BatchParams::micro, {.min = 1, .max = kMaxSamples}), "samples",
       "samples per micro-batch: what batch norm averages over; divides batch.global", kChangesResult},

      {"grid.stages", integer_or_auto(&GridParams::stages, {.min = 1, .max = 4096}), "ranks",
       "ranks that share one network, layer after layer; replicas = ranks / stages; auto: the number with the shortest "
       "predicted step"},
      {"grid.cuts", integers(&GridParams::cuts, {.min = 1, .max = 4096}, "auto"), "cells",
       "the first cell of each stage after the first (interleaved: of each chunk), counted from 0; auto: the cut whose "
       "slowest stage is fastest and whose stages fit memory.limit_gib; never changes the result"},

      {"schedule.kind", choice_or_auto(&ScheduleParams::kind), "",
       "the order of micro-batches in the pipeline; never changes the result. auto: 1f1b, unless zero_bubble or (on "
       "CPUs) interleaved is predicted to be 5 % faster in at most 1.5 times the memory"},
      {"schedule.chunks", integer(&ScheduleParams::chunks, {.min = 2, .max = 64}), "",
       "interleaved: number of chunks (consecutive cells) per stage; with grid.stages = 1 there is one. The bubble is "
       "1/chunks of 1f1b's, and there are chunks times as many messages"},

      {"memory.recompute", choice(&MemoryParams::recompute), "",
       "backward computes activations again instead of keeping them: cell: of all cells, for about a third more time; "
       "auto: of as few cells as memory.limit_gib needs; never changes the result"},
      {"memory.limit_gib", number(&MemoryParams::limit_gib, {.min = 0, .max = 1 << 20}), "GiB",
       "limit of the predicted memory per rank: a run that needs more is refused (convoy plan shows what is needed); "
       "on a CPU the program itself needs additional memory; 0: no limit"},

      // --- How it learns ------------------------------------------------------------------------------------------
      {"optimizer.kind", choice(&OptimizerParams::kind), "",
       "sgd with momentum; adam and adamw as PyTorch's; for large batches, with a rate for each tensor: lars, from "
       "sgd, and lamb, from adamw",
       kChangesResult},
      {"optimizer.lr", number(&OptimizerParams::lr, {.min = 0, .max = 1000}), "",
       "learning rate; if lr.schedule changes it, its highest value", kChangesResult},
      {"optimizer.momentum", number(&OptimizerParams::momentum, {.min = 0, .max = 1, .below_max = true}), "",
       "sgd, lars: share of the velocity kept from step to step", kChangesResult},
      {"optimizer.nesterov", flag(&OptimizerParams::nesterov), "",
       "sgd: looks one step of momentum ahead; needs optimizer.momentum > 0", kChangesResult},
      {"optimizer.weight_decay", number(&OptimizerParams::weight_decay, {.min = 0, .max = 1}), "",
       "this times the weight is added to the gradient; adamw subtracts it, times the learning rate, from the weight; "
       "lamb adds it to the step",
       kChangesResult},
      {"optimizer.decay_norms_and_biases", flag(&OptimizerParams::decay_norms_and_biases), "",
       "weight decay also for the scales and shifts of batch and layer norms, and for biases", kChangesResult},
      {"optimizer.decay_embeddings", flag(&OptimizerParams::decay_embeddings), "",
       "weight decay also for the tables of words and of learned positions", kChangesResult},
      {"optimizer.groups", rate_groups(&OptimizerParams::groups, {.min = 0, .max = 1e6, .above_min = true}), "",
       "learning rates of groups of parameters: patterns of names, each with a factor of the learning rate, as in "
       "layer*: 0.1, fc.*: 10. The first pattern that matches a name is used; if none matches, the factor is 1",
       kChangesResult},
      {"optimizer.beta1", number(&OptimizerParams::beta1, {.min = 0, .max = 1, .below_max = true}), "",
       "adam, adamw, lamb: share kept of the gradients' moving average", kChangesResult},
      {"optimizer.beta2", number(&OptimizerParams::beta2, {.min = 0, .max = 1, .below_max = true}), "",
       "adam, adamw, lamb: share kept of the moving average of the gradients' squares", kChangesResult},
      {"optimizer.epsilon", number(&OptimizerParams::epsilon, {.min = 0, .max = 1, .above_min = true}), "",
       "adam, adamw, lamb: added to the root of the average of the gradients' squares", kChangesResult},
      {"optimizer.trust_coefficient",
       number(&OptimizerParams::trust_coefficient, {.min = 0, .max = 1000, .above_min = true}), "",
       "lars: size of a tensor's step relative to the norm of its weights; not for batch norm and biases",
       kChangesResult},

      {"lr.schedule", choice(&LearningRateParams::schedule), "", "how the learning rate changes over the epochs",
       kChangesResult},
      {"lr.warmup_epochs", number(&LearningRateParams::warmup_epochs, {.min = 0, .max = kMaxEpochs}), "epochs",
       "linear from 0 to optimizer.lr at the start; onecycle: how long the rate rises, from optimizer.lr / 25 along a "
       "cosine; 0: for 30 % of the run",
       kChangesResult},
      {"lr.step_epochs", numbers(&LearningRateParams::step_epochs, {.min = 0, .max = kMaxEpochs, .above_min = true}),
       "epochs", "step: the period, one number; multistep: the milestones, ascending", kChangesResult},
      {"lr.gamma", number(&LearningRateParams::gamma, {.min = 0, .max = 1, .above_min = true}), "",
       "the factor that step and multistep multiply the learning rate by", kChangesResult},
      {"lr.power", number(&LearningRateParams::power, {.min = 0, .max = 100, .above_min = true}), "",
       "polynomial: exponent of the share of the epochs that is left; 1: a straight line", kChangesResult},

      {"train.epochs", number(&TrainParams::epochs, {.min = 0, .max = kMaxEpochs, .above_min = true}), "epochs",
       "passes over the training data; may end within one"},
      {"train.max_steps", integer(&TrainParams::max_steps, {.min = 0, .max = kMaxSteps}), "steps",
       "stops after this number of steps, while lr.schedule still follows train.epochs; 0: only train.epochs decides"},
      {"train.seed", any_uint64(&TrainParams::seed), "",
       "seed of initial weights, order and augmentation: the same seed gives the same run", kChangesResult},
      {"train.loss", choice_or_auto(&TrainParams::loss), "",
       "what is minimised: cross_entropy for a class, binary_cross_entropy for several labels, mse, mae or huber for "
       "numbers; auto: cross_entropy, binary_cross_entropy or mse, as the target of data.train is. Errors of numbers "
       "are in standard deviations of the target",
       kChangesResult},
      {"train.huber_delta", number(&TrainParams::huber_delta, {.min = 1e-6, .max = 1e6}), "",
       "train.loss = huber: error up to which the loss is half its square, in standard deviations of the target",
       kChangesResult},
      {"train.label_smoothing", number(&TrainParams::label_smoothing, {.min = 0, .max = 1, .below_max = true}), "",
       "share of the target spread evenly over all classes", kChangesResult},
      {"train.class_weights", class_weights(&TrainParams::class_weights, {.min = 0, .max = 1e6}), "",
       "how much each class counts in the training loss, in the order of the class names; balanced: in inverse "
       "proportion to its samples. Weights of classes are scaled so that a training sample counts 1 on average. "
       "Several labels: a factor for the samples that have the label; balanced: samples without it / samples with it. "
       "Numbers: a factor for each; balanced is not possible. Empty: all count 1",
       kChangesResult},
      {"train.precision", choice(&TrainParams::precision), "",
       "type of activations and of the products that they enter; weights, sums and statistics stay f32. tf32 and fp16 "
       "need a GPU; on a CPU bf16 halves the memory of activations, and saves time only if oneDNN multiplies in bf16",
       kChangesResult},
      {"train.freeze", texts(&TrainParams::freeze, "patterns of names, as in layer1.*, bn1.*"), "",
       "parameters that do not change; a cell with nothing left to train keeps its running statistics too",
       kChangesResult},
      {"train.clip_norm", number(&TrainParams::clip_norm, {.min = 0, .max = 1e9}), "",
       "gradients whose norm (over all parameters) is larger than this are scaled down to it; 0: never",
       kChangesResult},
      {"train.ema_decay", number(&TrainParams::ema_decay, {.min = 0, .max = 1, .below_max = true}), "",
       "share kept per step of a moving average of weights and running statistics; 0: none is kept", kChangesResult},
      {"train.evaluate_every_epochs", integer(&TrainParams::evaluate_every_epochs, {.min = 0, .max = 1'000'000}),
       "epochs", "epochs between measurements on data.val, or else data.test; 0: only at the end"},
      {"train.metric", choice_or_auto(&TrainParams::metric), "",
       "the metric that decides the best checkpoint and train.patience_epochs, measured on data.val, or else "
       "data.test; of epochs with the same value, the one with the lowest loss is the best. top1 and top5: share of "
       "the samples whose class has the largest logit, or one of the five largest (bert: top1 of masked words); "
       "balanced_accuracy: mean over the classes of the share of each that is right; macro_f1: mean of their F1, or of "
       "that of several labels at probability 1/2; mean_average_precision: of several labels; rmse, mae, r2: of "
       "numbers, in their own units, means over all of them. auto: top1, mean_average_precision for several labels, "
       "rmse for numbers. Lower is better for loss, rmse and mae, higher for all others. All that exist are in "
       "log.csv"},
      {"train.patience_epochs", integer(&TrainParams::patience_epochs, {.min = 0, .max = 1'000'000}), "epochs",
       "early stopping: ends the run when train.metric has not improved for that many epochs; 0: never"},
      {"train.on_bad_step", choice(&TrainParams::on_bad_step), "",
       "what happens to a step whose loss or gradients are not finite numbers, or whose loss is above "
       "train.loss_limit. It is never applied. stop: the run ends with status 1; skip: training continues with the "
       "next step; rollback: training goes back to the last good checkpoint, with a smaller learning rate",
       kChangesResult},
      {"train.loss_limit", number(&TrainParams::loss_limit, {.min = 0, .max = 1e9}), "",
       "a step is bad if the mean loss of one of its micro-batches is above this; 0: no limit", kChangesResult},
      {"train.max_bad_steps", integer(&TrainParams::max_bad_steps, {.min = 1, .max = kMaxSteps}), "steps",
       "on_bad_step = skip: how many steps in a row may be skipped; one more ends the run"},
      {"train.rollback_factor", number(&TrainParams::rollback_factor, {.min = 0, .max = 1, .above_min = true}), "",
       "on_bad_step = rollback: what each rollback multiplies the learning rate by, for the rest of the run",
       kChangesResult},
      {"train.max_rollbacks", integer(&TrainParams::max_rollbacks, {.min = 1, .max = 1000}), "",
       "on_bad_step = rollback: how often a run may go back; the next bad step ends it"},

      {"augment.size", integer(&AugmentParams::size, {.min = 0, .max = 4096}), "pixels",
       "rows and columns that images are resized to; 0: images keep their stored size (in an evaluation: the size of "
       "the training). Encoded images need a size",
       kChangesResult},
      {"augment.crop", choice(&AugmentParams::crop), "",
       "pad: a random crop after a border of augment.crop_padding is added; random_resized: a random part of the image "
       "(area from augment.scale to 1, aspect 3/4 to 4/3), resized",
       kChangesResult},
      {"augment.crop_padding", integer(&AugmentParams::crop_padding, {.min = 0, .max = 1024}), "pixels",
       "border added before a random crop back to size; 0: no crop", kChangesResult},
      {"augment.border", choice(&AugmentParams::border), "",
       "what the border of augment.crop_padding shows; reflect: the image, mirrored about its outermost pixels",
       kChangesResult},
      {"augment.scale", number(&AugmentParams::scale, {.min = 0, .max = 1, .above_min = true}), "",
       "random_resized: smallest share of the image's area that is seen", kChangesResult},
      {"augment.eval_resize", integer(&AugmentParams::eval_resize, {.min = 0, .max = 16384}), "pixels",
       "in an evaluation: length of the short side before the centre is cut out; 0: the checkpoint's value, which is "
       "augment.size, or augment.size * 256 / 224 with random_resized",
       kChangesResult},
      {"augment.flip", flag(&AugmentParams::flip), "", "mirrors half of the training images left to right",
       kChangesResult},
      {"augment.flip_rows", flag(&AugmentParams::flip_rows), "",
       "arrays: mirrors half of the training samples top to bottom", kChangesResult},
      {"augment.turn", flag(&AugmentParams::turn), "",
       "arrays: turns training samples by 0, 90, 180 or 270 degrees, each with probability 1/4; needs as many rows as "
       "columns",
       kChangesResult},
      {"augment.factor", number(&AugmentParams::factor, {.min = 0, .max = 1}), "",
       "arrays: multiplies the normalised values of each training sample by a random factor between 1 - this and 1 + "
       "this; 0: never",
       kChangesResult},
      {"augment.noise", number(&AugmentParams::noise, {.min = 0, .max = 1000}), "",
       "arrays: standard deviation of the normal noise that is added to each value of training samples, in standard "
       "deviations of its channel (with augment.normalize = false: in its own unit); 0: none",
       kChangesResult},
      {"augment.policy", choice(&AugmentParams::policy), "",
       "edits of each training image that are drawn from 14 (shear, shift, turn, colours, sharpness ...), equal to "
       "torchvision's on PIL images; trivialaugment: one edit of any strength; randaugment: augment.policy_operations "
       "edits of strength augment.policy_magnitude",
       kChangesResult},
      {"augment.policy_operations", integer(&AugmentParams::policy_operations, {.min = 1, .max = 100}), "",
       "randaugment: edits of each image, one after the other", kChangesResult},
      {"augment.policy_magnitude", integer(&AugmentParams::policy_magnitude, {.min = 0, .max = 30}), "",
       "randaugment: strength of these edits; 30 is the strongest", kChangesResult},
      {"augment.brightness", number(&AugmentParams::brightness, {.min = 0, .max = 1}), "",
       "multiplies training images by a random factor between 1 - this and 1 + this; 0: never", kChangesResult},
      {"augment.contrast", number(&AugmentParams::contrast, {.min = 0, .max = 1}), "",
       "multiplies the difference of each pixel from the image's mean grey by such a factor (see augment.brightness); "
       "0: never",
       kChangesResult},
      {"augment.saturation", number(&AugmentParams::saturation, {.min = 0, .max = 1}), "",
       "multiplies the difference of each pixel from its own grey by such a factor (see augment.brightness); 0: never",
       kChangesResult},
      {"augment.cutout", integer(&AugmentParams::cutout, {.min = 0, .max = 4096}), "pixels",
       "side of a square that is cut out of training images at a random position; 0: none", kChangesResult},
      {"augment.erase", number(&AugmentParams::erase, {.min = 0, .max = 1}), "",
       "probability that a rectangle of a training image (2 to 33 % of its area, aspect 0.3 to 3.3) becomes 0 after "
       "normalisation",
       kChangesResult},
      {"augment.mixup", number(&AugmentParams::mixup, {.min = 0, .max = 1000}), "",
       "mixes each training image, and its label, with another of its micro-batch, whose share is drawn from "
       "Beta(this, this); training top-1 counts the label with the larger share; 0: never",
       kChangesResult},
      {"augment.cutmix", number(&AugmentParams::cutmix, {.min = 0, .max = 1000}), "",
       "pastes a box of another image of its micro-batch into each training image; the label is mixed by the box's "
       "area, which is drawn from Beta(this, this). With augment.mixup too, each micro-batch draws one of the two; 0: "
       "never. Usual: 1",
       kChangesResult},
      {"augment.normalize", flag(&AugmentParams::normalize), "",
       "subtracts augment.mean and divides by augment.stddev, channel by channel", kChangesResult},
      {"augment.mean", channel_values(&AugmentParams::mean, {.min = 0, .max = 1}), "",
       "what is subtracted from values between 0 and 1. data: the training set's mean; imagenet: 0.485, 0.456, 0.406, "
       "as torchvision's weights were trained; or a number for each channel. A checkpoint remembers it: evaluate and "
       "predict use the checkpoint's",
       kChangesResult},
      {"augment.stddev", channel_values(&AugmentParams::stddev, {.min = 0, .max = 1, .above_min = true}), "",
       "what the values are divided by after augment.mean is subtracted. data: the training set's standard deviation; "
       "imagenet: 0.229, 0.224, 0.225; or a number for each channel",
       kChangesResult},

      // --- What is kept -------------------------------------------------------------------------------------------
      {"checkpoint.every_epochs", number(&CheckpointParams::every_epochs, {.min = 0, .max = kMaxEpochs}), "epochs",
       "epochs between checkpoints; 0: none. One is always written at the end"},
      {"checkpoint.every_steps", integer(&CheckpointParams::every_steps, {.min = 0, .max = kMaxSteps}), "steps",
       "steps between further checkpoints, in addition to checkpoint.every_epochs; 0: none"},
      {"checkpoint.keep", integer(&CheckpointParams::keep, {.min = 0, .max = 1'000'000}), "files",
       "number of newest checkpoints that are kept; while the loss is outside its range, the newest one from before it "
       "left the range is kept, too; 0: all are kept"},
      {"checkpoint.best", flag(&CheckpointParams::best), "",
       "keeps best.h5 too, the checkpoint with the best train.metric so far on data.val, or else data.test; at the "
       "same value, that with the lower loss"},
      {"checkpoint.background", flag(&CheckpointParams::background), "",
       "true: ranks wait only until a copy in memory is made, and the file is written while training continues; false: "
       "all ranks wait until the file is written"},
      {"checkpoint.files", choice(&CheckpointParams::files), "",
       "one: rank 0 collects all values and writes one file; sharded: each rank writes the values that it holds to a "
       "file of its own, and rank 0 a small file that lists them, so that no rank needs memory for all of them. A "
       "training resumes from both on any number of ranks; convoy join makes one file of them"},
      {"checkpoint.resume", word_or_path(&CheckpointParams::resume, {"auto", "best", "none"}, "a checkpoint's path"),
       "",
       "auto: train resumes from the newest valid checkpoint of run.directory; evaluate, predict and export use the "
       "best one there, or the newest if there is no best one; none: train begins at step 0 in a directory whose "
       "checkpoints no longer exist, and moves its earlier tables to a directory earlier-N; best (only for evaluate, "
       "predict and export): best.h5, or an error if it does not exist"},
      {"checkpoint.allow_other_data", flag(&CheckpointParams::allow_other_data), "",
       "true: resumes also with other images, texts or labels than the checkpoint was trained on (the same number, of "
       "the same classes); false: refuses that"},

      {"evaluate.weights", choice(&EvaluateParams::weights), "",
       "which weights are measured, in training too; ema: their moving average, if there is one", kChangesResult},

      {"evaluate.mirror", flag(&EvaluateParams::mirror), "",
       "evaluates each image twice, plain and mirrored, and uses the mean of the probabilities; needs twice the time. "
       "Applies to evaluate, to predict (whose logits are then the logarithms of these means) and to the evaluations "
       "during a training",
       kChangesResult},

      {"evaluate.confusion", flag(&EvaluateParams::confusion), "",
       "writes confusion.csv (rows: true class, columns: predicted) and classes.csv (accuracies) to run.directory; for "
       "several labels classes.csv, for numbers targets.csv with the errors of each"},

      {"predict.data", path_or_empty(&PredictParams::data), "",
       "what to predict: a data set in the form of data.train (of a folder of shards: test), a folder of JPEG and PNG "
       "files or of texts (.txt), a table of texts (.csv, .tsv), arrays or a table of numbers (as import.source, with "
       "import.inputs, import.target, import.id and import.axes), or one image or text, whose classes are printed; "
       "-: the frames of a film from the standard input (predict.frames); empty: data.test, or else data.val; if "
       "neither is given, those of the training"},
      {"predict.text", text_or_empty(&PredictParams::text, "text of one line, in UTF-8"), "",
       "a text to predict, in place of predict.data: its classes are printed"},
      {"predict.frames", frame_size(&PredictParams::frames, {.min = 1, .max = 16384}), "pixels",
       "columns and rows of the frames that predict.data = - reads: three bytes for each pixel (red, green, blue), row "
       "by row, as ffmpeg -f rawvideo -pix_fmt rgb24 writes them"},
      {"predict.output", path_or_empty(&PredictParams::output, kPartial), "",
       "the file for the predictions: .csv, a table of classes, labels or numbers, with their logits or numbers in a "
       ".h5 file next to it; .h5 alone; or .npy, probabilities (samples, classes or labels) or numbers in their own "
       "units; empty: predictions.csv in run.directory, predictions.h5 for fields, frames.csv for frames (only .csv), "
       "and no file if a single image or text is predicted"},
      {"predict.top", integer(&PredictParams::top, {.min = 1, .max = 1'000'000}), "classes",
       "how many classes are written for each sample, the most probable first"},
      {"predict.orient", choice(&PredictParams::orient), "",
       "true: turns JPEG files as their Exif orientation says; false: does not, like torchvision; auto: as "
       "import.orient was for the network's training data. A data set stays as it was imported"},
      {"predict.strict", flag(&PredictParams::strict), "",
       "true: the first bad image or text ends the prediction; false: bad ones are named, counted and skipped"},
      {"predict.explain", flag(&PredictParams::explain), "",
       "true: says for each rank where it ran, which cells and samples it computed, and the shapes of its input and "
       "output"},

      {"init.weights", word_or_path(&InitParams::weights, {"random"}, "a path"), "",
       "weights to begin with, if no checkpoint is resumed: a checkpoint or a .safetensors file"},
      {"init.strip_prefix", text_or_empty(&InitParams::strip_prefix, "the beginning of names; may be empty"), "",
       "removed from the names of the tensors in init.weights that begin with it, as in module., which PyTorch's "
       "DistributedDataParallel puts before each name"},
      {"init.strict", flag(&InitParams::strict), "",
       "true: refuses weights that are not exactly this model's; false: takes the tensors that fit and initialises the "
       "others at random"},
      {"init.zero_residual", flag(&InitParams::zero_residual), "",
       "the last batch norm of each block starts at 0, so that the block starts as its shortcut"},

      // --- Where it runs ------------------------------------------------------------------------------------------
      {"run.directory", path(&RunParams::directory, "/checkpoints/step-0000000000.h5.partial"), "",
       "directory for the effective parameters, logs and checkpoints"},
      {"run.threads", integer(&RunParams::threads, {.min = 0, .max = 1024}), "threads",
       "compute threads per rank; 0: as many as the cores that the rank may use, divided equally if ranks share cores. "
       "On a CPU use 1, 2, 4 or 8, and no more than batch.micro; for more cores start more ranks"},
      {"run.placement", choice(&RunParams::placement), "",
       "auto: if ranks on a CPU share processors and their threads fill them, each rank gets processors of its own, "
       "within one NUMA domain and one cache if possible; none: the system moves threads freely. Ranks that the "
       "launcher has bound to processors of their own stay there; never changes the result"},
      {"run.device", choice(&RunParams::device), "", "auto: a GPU if there is one and Convoy was built for it"},
      {"run.engines", path_or_empty(&RunParams::engines), "",
       "file of the cuDNN engines that a GPU uses: they are measured once, then kept in this file. With the file of "
       "another run, the results have the same bits as in that run; empty: engines.txt in run.directory",
       !kChangesResult, /*former_name=*/"run.plans"},
      {"run.reduction", choice(&RunParams::reduction), "",
       "how gradients are summed: invariant gives the same bits on every grid, fast may not"},
      {"run.bucket_mib", number(&RunParams::bucket_mib, {.min = 0, .max = 1024, .above_min = true}), "MiB",
       "gradients travel in buckets of about this size; never changes the result"},
      {"run.trace", integer(&RunParams::trace, {.min = 0, .max = 1000}), "steps",
       "traces this number of training steps, from this run's fourth step on (in a short run the last ones, never the "
       "first). Writes trace.json for ui.perfetto.dev, trace.svg, and a line that says why ranks were idle; 0: none"},
      {"run.profile", integer(&RunParams::profile, {.min = 0, .max = 1000}), "steps",
       "measures this number of training steps layer by layer, the same steps as run.trace. Writes profile.csv, and "
       "says which operations take how much of the time and how fast their matrix products are. On a GPU these steps "
       "take longer: they are issued without graphs; 0: none"},

      {"run.watchdog_seconds", number(&RunParams::watchdog_seconds, {.min = 0, .max = 1e6}), "s",
       "if a rank makes no progress for this time, rank 0 prints what each rank is doing, with the rank that blocks "
       "the others first; the time is ten times as long while the run starts, imports, plans, saves a checkpoint or "
       "ends. 0: 60 s or 20 steps, whichever is longer"},
      {"run.watchdog_abort_seconds", number(&RunParams::watchdog_abort_seconds, {.min = 0, .max = 1e6}), "s",
       "a run that still makes no progress this long after the first table of run.watchdog_seconds ends with status 1; "
       "0: never"},
      {"run.fingerprint_every", integer(&RunParams::fingerprint_every, {.min = 0, .max = kMaxSteps}), "steps",
       "steps.csv gets a fingerprint of all parameters at this interval of steps: the same on every grid. convoy "
       "compare finds the first that differs, convoy replay computes them again; 0: never"},
      {"run.audit_every", integer(&RunParams::audit_every, {.min = 0, .max = kMaxSteps}), "steps",
       "every step whose number is a multiple of this is checked before it is applied: each replica also computes a "
       "micro-batch of its neighbour's, and both must have the same bits. A rank whose memory or arithmetic is wrong "
       "is named, and the run ends with exit status 75, to be resumed from a checkpoint. A check takes the time of one "
       "micro-batch through all stages and back, and the memory of one more set of gradients; 0: never"},
      {"run.rank_seconds", number(&RunParams::rank_seconds, {.min = 0, .max = 1e6, .above_min = true}), "s",
       "at this interval each rank's step time, waits and memory, and the readings of its GPU, are written as a row of "
       "ranks.csv and of log.jsonl; a rank that is slower than its peers is named"},
      {"run.tensorboard", flag(&RunParams::tensorboard), "",
       "writes event files to run.directory: tensorboard --logdir shows them while the run trains"},

      // --- The other commands, before and after a training --------------------------------------------------------
      {"check.hash", flag(&CheckParams::hash), "",
       "convoy check FILE.cfg: true: also compares every byte of the data sets with their hashes, each shard on one "
       "rank; false: only the heads of the shards"},

      {"info.draw", path_or_empty(&InfoParams::draw, kPartial), "",
       "an .svg file for a picture of the network: its cells, and the layers of each kind of cell"},

      {"plan.ranks", integers(&PlanParams::ranks, {.min = 1, .max = 1'000'000}), "ranks",
       "numbers of ranks: compares all layouts for each number, and plans for the first number; empty: plans for the "
       "ranks that it is started with or, started on one rank, for one replica"},
      {"plan.micro", integers_or_max(&PlanParams::micro, {.min = 1, .max = kMaxSamples}), "samples",
       "the micro-batches that layouts are compared with; max: plans for the largest micro-batch that fits the memory, "
       "with as many micro-batches per step as before; empty: batch.micro"},
      {"plan.measure", flag(&PlanParams::measure), "",
       "true: layouts are compared by the measured times of cells, memory and messages (kept in costs.txt of "
       "run.directory); false: by a model of a processor core and a network, and a training starts without measuring"},
      {"plan.draw", path_or_empty(&PlanParams::draw, kPartial), "",
       "an .svg file for a picture of the planned step, a row per rank"},
      {"plan.draw_efficiency", path_or_empty(&PlanParams::draw_efficiency, kPartial), "",
       "an .svg file for a picture of the fastest layout on each of plan.ranks: how much of a step its ranks compute, "
       "and what they wait for"},
      {"plan.samples_per_rank", integer(&PlanParams::samples_per_rank, {.min = 0, .max = kMaxSamples}), "samples",
       "batch.global for plan.ranks is this number times the ranks; 0: batch.global itself"},
      {"plan.samples", integer(&PlanParams::samples, {.min = 0, .max = kMaxDescribedSamples}), "samples",
       "number of training samples of a data set that need not exist on this machine: convoy plan then does not open "
       "data.train; 0: that of data.train, or not known if there is none"},
      {"plan.classes", integer(&PlanParams::classes, {.min = 0, .max = 1 << 24}), "classes",
       "without data: classes of the data set; 0: as many as usual for the network"},
      {"plan.image_size", integers(&PlanParams::image_size, {.min = 1, .max = 65536}), "pixels",
       "without data: size of the images, as 224 (224 x 224 in colour), 28, 28, 1 (rows, columns, channels); empty: "
       "augment.size, or as usual for the network"},
      {"plan.values", array_forms(&PlanParams::values, {.min = 1, .max = 1 << 24}), "values",
       "without data: extents of the only array of each sample, channels last, as 32, or 64, 64, 7 (rows, columns, "
       "channels); or of several by their names, as image: 64 x 64 x 7, position: 3; empty: as usual for the network, "
       "if it reads arrays"},
      {"plan.vocabulary", integer(&PlanParams::vocabulary, {.min = 0, .max = kMaxVocabulary}), "tokens",
       "without data: tokens that the texts are made of; 0: 20000, if the network reads texts"},
      {"plan.tflop_s", number(&PlanParams::tflop_s, {.min = 0, .max = 1e6}), "TFLOP/s",
       "with plan.measure = false: arithmetic speed of a rank's processor or GPU that convolutions or matrix products "
       "reach; 0: that of a core"},
      {"plan.memory_gb_s", number(&PlanParams::memory_gb_s, {.min = 0, .max = 1e6}), "GB/s",
       "with plan.measure = false: memory bandwidth of a rank, reads and writes together; 0: a core's share"},
      {"plan.ranks_per_node", integer(&PlanParams::ranks_per_node, {.min = 0, .max = 4096}), "ranks",
       "ranks on each node of the cluster that is planned for, each with cores or a GPU of its own; 0: as many as the "
       "nodes of this job have"},
      {"plan.latency_us", numbers(&PlanParams::latency_us, {.min = 0, .max = 1e6}), "us",
       "latency of messages of the cluster that is planned for: on a node, between nodes; one number: of both; empty, "
       "or 0: as measured"},
      {"plan.bandwidth_gb_s", numbers(&PlanParams::bandwidth_gb_s, {.min = 0, .max = 1e6}), "GB/s",
       "bandwidth of messages from rank to rank: on a node, between nodes; one number: of both; empty, or 0: as "
       "measured"},
      {"plan.node_gb_s", number(&PlanParams::node_gb_s, {.min = 0, .max = 1e6}), "GB/s",
       "bandwidth of all ranks of a node together to other nodes; 0: the bandwidth of one rank, times the ranks of the "
       "node"},
      {"plan.spread_percent", number(&PlanParams::spread_percent, {.min = 0, .max = 1000}), "%",
       "standard deviation of the times that ranks take for the same work: a step waits for the slowest"},
      {"plan.loader_samples_s", number(&PlanParams::loader_samples_s, {.min = 0, .max = 1e9}), "samples/s",
       "speed of the loader threads of a rank (tools/bench/loader measures it); 0: no step waits for samples"},
      {"plan.disk_gb_s", number(&PlanParams::disk_gb_s, {.min = 0, .max = 1e6}), "GB/s",
       "speed at which a checkpoint is written; 0: no step waits for checkpoints"},

      {"replay.steps", step_range(&ReplayParams::steps, kMaxSteps), "steps",
       "convoy replay computes these steps of the run in run.directory again, from its newest checkpoint before them, "
       "and compares each loss and fingerprint with steps.csv"},

      {"watch.once", flag(&WatchParams::once), "",
       "true: convoy watch prints the picture once and ends, as it always does if its output is not a terminal"},

      {"sweep.work", choice(&SweepParams::work), "",
       "what convoy sweep measures: train, steps on data.train; predict, forward passes over data.test"},
      {"sweep.ranks", integers(&SweepParams::ranks, {.min = 1, .max = 1'000'000}), "ranks",
       "numbers of ranks for a row, at most the ranks that the sweep is started with; empty: all of them, or stages x "
       "replicas"},
      {"sweep.replicas", integers(&SweepParams::replicas, {.min = 1, .max = 1'000'000}), "replicas",
       "numbers of replicas: a row takes stages x replicas ranks. In place of sweep.ranks"},
      {"sweep.stages", integers(&SweepParams::stages, {.min = 1, .max = 1'000'000}), "stages",
       "values of grid.stages; grid.cuts is used for rows that it fits. If this list (or any list below) is empty, the "
       "value of the key in its own section is used"},
      {"sweep.global", integers(&SweepParams::global, {.min = 1, .max = kMaxSamples}), "samples",
       "values of batch.global"},
      {"sweep.samples_per_rank", integers(&SweepParams::samples_per_rank, {.min = 1, .max = kMaxSamples}), "samples",
       "samples of a step per rank: batch.global of a row is this number times its ranks. In place of sweep.global"},
      {"sweep.micro", integers_or_max(&SweepParams::micro, {.min = 1, .max = kMaxSamples}), "samples",
       "values of batch.micro: the split size of a pipeline; max: the largest that fits the memory, with as many "
       "micro-batches per step as batch.global and batch.micro give"},
      {"sweep.micro_batches", integers(&SweepParams::micro_batches, {.min = 1, .max = kMaxSamples}), "micro-batches",
       "into how many micro-batches each replica's share of a step is cut, which gives batch.micro. In place of "
       "sweep.micro"},
      {"sweep.schedule", choices(&SweepParams::schedule), "", "values of schedule.kind"},
      {"sweep.chunks", integers(&SweepParams::chunks, {.min = 2, .max = 64}), "chunks",
       "values of schedule.chunks, for rows with the schedule interleaved"},
      {"sweep.precision", choices(&SweepParams::precision), "", "values of train.precision"},
      {"sweep.recompute", choices(&SweepParams::recompute), "", "values of memory.recompute"},
      {"sweep.steps", integer(&SweepParams::steps, {.min = 1, .max = 1'000'000}), "steps",
       "measured steps of each row in each round"},
      {"sweep.warm_steps", integer(&SweepParams::warm_steps, {.min = 1, .max = 1'000'000}), "steps",
       "steps before the measured ones of each row, which are not counted"},
      {"sweep.rounds", integer(&SweepParams::rounds, {.min = 1, .max = 1000}), "rounds",
       "how often all rows are measured, one after the other: what disturbs a machine for a while then disturbs all "
       "rows alike"},
      {"sweep.row", integer(&SweepParams::row, {.min = 0, .max = 1'000'000}), "",
       "number (from 1) of the only row to measure, for jobs of a Slurm array; 0: all rows"},
      {"sweep.list", flag(&SweepParams::list), "", "only prints the rows, and why some cannot be measured"},

      {"import.format", choice(&ImportParams::format), "",
       "what import.source is: folder (of images: [split/]class/image), cifar (CIFAR's binary files), idx (MNIST's "
       "files), text ([split/]class/text.txt), csv (a table of texts .csv or .tsv, or a folder with train.csv, val.csv "
       "or dev.csv, and test.csv), arrays (.npy, .npz, HDF5, or a folder of PNG and TIFF pictures whose numbers and "
       "channels are kept), table (of numbers, .csv or .tsv); auto: found out from the files; pictures are images of 8 "
       "bits, and a .csv is a table of numbers if import.target is given"},
      {"import.source", path_or_empty(&ImportParams::source), "",
       "folder to import from, or one table or file of arrays"},
      {"import.output", path_or_empty(&ImportParams::output, "/train-0000.h5.partial"), "",
       "folder for train*.h5, val*.h5 and test*.h5"},
      {"import.storage", choice(&ImportParams::storage), "",
       "raw: pixels, all images of one size; encoded: the files as they are, decoded when they are loaded"},
      {"import.size", integer(&ImportParams::size, {.min = 0, .max = 4096}), "pixels",
       "rows and columns that raw images are resized to; 0: not resized, and all must have the same size"},
      {"import.resize", choice(&ImportParams::resize), "",
       "crop: the short side becomes import.size, and the middle is kept; squash: both sides become import.size"},
      {"import.channels", choice(&ImportParams::channels), "", "1: grey, 3: RGB; auto: grey if every file is grey"},
      {"import.orient", flag(&ImportParams::orient), "",
       "true: turns JPEG files as their Exif orientation says (encoded files when they are loaded); false: does not, "
       "like torchvision"},
      {"import.tokenizer", choice(&ImportParams::tokenizer), "",
       "what tokens texts are divided into; words: as Unicode finds them, in lower case; subwords: parts of words, by "
       "SentencePiece. Both are learnt from the split train"},
      {"import.vocabulary", integer(&ImportParams::vocabulary, {.min = kMinVocabulary, .max = kMaxVocabulary}),
       "tokens", "how many different tokens there are at most: the most frequent words, or as many parts of words"},
      {"import.text_column", text(&ImportParams::text_column, "a column's name"), "",
       "for a table: name (in its first row) of the column with the texts. convoy predict uses this key, too; if it is "
       "not given, the name is that of the network's training texts"},
      {"import.label_column", text(&ImportParams::label_column, "a column's name"), "",
       "for a table: name of the column with the classes. convoy predict uses this key, too, but does not need "
       "classes"},
      {"import.splits", flag(&ImportParams::splits), "",
       "true: folders of import.source whose names begin with train, val or test, and that hold folders, are splits; "
       "false: each folder of import.source is a class, whatever its name"},
      {"import.max_class_fraction", number(&ImportParams::max_class_fraction, {.min = 0, .max = 1}), "",
       "for a table, and for arrays without import.target_kind: more than 10 classes are refused if their number is "
       "more than this share of the number of samples of train, because such a column probably has texts, numbers or "
       "ids; 1: any number of classes"},
      {"import.val_fraction", number(&ImportParams::val_fraction, {.min = 0, .max = 1, .below_max = true}), "",
       "share of each class of train that becomes the split val, drawn from train.seed. It is a random hold-out set "
       "and no fold of a cross-validation (import.folds): sets of two seeds may overlap"},
      {"import.folds", integer(&ImportParams::folds, {.min = 0, .max = kMaxFolds}), "",
       "number of folds for a cross-validation, at least 2: each sample of train gets a fold, drawn from train.seed. "
       "Folds have the same share of each class; with import.group, each group lies in one fold. A training leaves "
       "out one of them: data.fold; 0: no folds"},
      {"import.inputs", text_or_empty(&ImportParams::inputs, "NAME: WHERE, ..."), "",
       "for arrays: the arrays of a sample, and where each is: a file, FILE:ARRAY, an array of import.source, or "
       "columns separated by |, which may have * and ?; -COLUMN leaves a column out. As \"image: x.npy, position: "
       "all.npz:p\". Empty: the only "
       "array that there is, or all columns that no other key names"},
      {"import.target", text_or_empty(&ImportParams::target, "WHERE"), "",
       "for arrays: where the target is, written as in import.inputs: y.npy, all.npz:y, or columns. Empty, for a "
       "folder of pictures: the class is the name of the picture's folder"},
      {"import.target_kind", choice(&ImportParams::target_kind), "",
       "what the target is: class (one of several), labels (each of several is there or not), numbers (real numbers, "
       "also at each pixel); auto: found out from the values"},
      {"import.axes", choice(&ImportParams::axes), "",
       "which axis of a sample is that of the channels; none: a sample has one channel and no such axis; auto: the "
       "shorter one of the first and the last. Vectors have only that one; a target has the pixels of an input"},
      {"import.bad_values", choice(&ImportParams::bad_values), "",
       "samples with NaN or infinite inputs, or without a target; refuse: they end the import, which names the first; "
       "skip: they are named and left out; mean: a NaN input becomes its channel's mean over train, here and in "
       "predictions, and the others end the import"},
      {"import.id", text_or_empty(&ImportParams::id, "WHERE"), "",
       "for arrays: where the name of each sample is, written as import.target; empty: names are FILE:ROW. For "
       "pictures that a table lists: their files"},
      {"import.group", text_or_empty(&ImportParams::group, "WHERE"), "",
       "for arrays: where the group of each sample is (as the patient), written as import.target. Samples of one group "
       "are kept in one split"},
      {"import.test_fraction", number(&ImportParams::test_fraction, {.min = 0, .max = 1, .below_max = true}), "",
       "for arrays: share of each class of train that becomes the split test, drawn as that of import.val_fraction"},
      {"import.val_rows", path_or_empty(&ImportParams::val_rows), "",
       "for arrays: an .npy, or a text with a number in each line: the rows of train (from 0) that become the split "
       "val"},
      {"import.test_rows", path_or_empty(&ImportParams::test_rows), "",
       "for arrays: the rows that become the split test"},
      {"import.shards", integer(&ImportParams::shards, {.min = 0, .max = 9999}), "files",
       "files that a split is written to, each by one rank; 0: one for every 128 MiB, at most 256"},
      {"import.strict", flag(&ImportParams::strict), "",
       "true: the first bad sample ends the import; false: bad images and texts are named and skipped; of arrays, "
       "import.bad_values says what is done"},
      {"import.replace", flag(&ImportParams::replace), "",
       "true: replaces the data set that import.output holds; false: refuses to replace it"},

      {"export.output", path_or_empty(&ExportParams::output, kPartial), "", "the .safetensors file for the weights"},
  };
}

/// What `part` is of each key that is wanted, in the order of the table.
template <typename Part, typename IsWanted>
std::vector<std::string> collect(const Part& part, const IsWanted& is_wanted) {
  std::vector<std::string> parts;
  for (const Key& key : keys())
    if (is_wanted(key)) parts.push_back(std::invoke(part, key));
  return parts;
}

/// The key among those that are wanted whose section is nearest; empty if there is none.
template <typename IsWanted>
std::string find_in_nearest_section(const std::string& section, const IsWanted& is_wanted) {
  const std::vector<std::string> candidates = collect(&Key::section, is_wanted);
  if (candidates.empty()) return "";
  const std::string near = nearest(section, candidates);
  const std::string home = near.empty() ? candidates.front() : near;
  return collect(&Key::name, [&](const Key& key) { return key.section() == home && is_wanted(key); }).front();
}

std::vector<std::string> leaves_of(const std::string& section) {
  return collect(&Key::leaf, [&](const Key& key) { return key.section() == section; });
}

/// Only sections with its initial are compared: among all sections a short one is always within two letters.
std::vector<std::string> leaves_like(const std::string& leaf) {
  return collect(&Key::leaf, [&](const Key& key) { return key.leaf().starts_with(leaf.substr(0, 1)); });
}

/// "lr" of learning_rate.
std::string initials(const std::string& leaf) {
  std::string letters = leaf.substr(0, 1);
  for (std::size_t i = 1; i < leaf.size(); ++i)
    if (leaf[i - 1] == '_') letters += leaf[i];
  return letters;
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
  const auto found = std::find_if(keys().begin(), keys().end(), [&](const Key& key) { return key.is_called(lower); });
  return found == keys().end() ? nullptr : &*found;
}

/// First the only one of the section that goes on as the given one ends (grid.stage). Then a key of that leaf in
/// another section (train.lr, opt.kind), or one that abbreviates it or is abbreviated (learning_rate, wd). Then a leaf
/// that is near, misspelt or cut off: in the section that is named (batch.globl) or near (optim.weight), in all where
/// there is none (epoch). Then any near name.
std::string nearest_key(const std::string& given) {
  const std::string name = lower_case(given);
  const std::string section = name.substr(0, name.find('.'));
  const std::string leaf = name.substr(name.rfind('.') + 1);
  const auto has_leaf = [&](const Key& key) { return key.leaf() == leaf; };
  const auto is_short_for = [&](const Key& key) {
    return leaf.size() > 1 && (initials(leaf) == key.leaf() || initials(key.leaf()) == leaf);
  };
  const std::vector<std::string> longer =
      collect(&Key::name, [&](const Key& key) { return key.name.starts_with(name); });
  if (longer.size() == 1 && name.find('.') != std::string::npos) return longer.front();
  if (std::string same = find_in_nearest_section(section, has_leaf); !same.empty()) return same;
  if (std::string same = find_in_nearest_section(section, is_short_for); !same.empty()) return same;
  const bool section_is_known = !leaves_of(section).empty();
  const std::string home = section_is_known || section != name ? nearest(section, sections()) : "";
  const std::string near = nearest(leaf, home.empty() ? leaves_like(leaf) : leaves_of(home));
  if (!near.empty())
    return home.empty() ? find_in_nearest_section(section, [&](const Key& key) { return key.leaf() == near; })
                        : home + "." + near;
  return section_is_known ? "" : nearest(name, collect(&Key::name, [](const Key&) { return true; }));
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
  if (section == "sweep")
    hint +=
        " convoy sweep measures the speed of layouts; to try values of other keys, start a run for each: "
        "jobs/parameter_files.sh.";
  return hint + " All keys: convoy --help.";
}

}  // namespace convoy::params
