/// An evaluation: data, weights, and what rank 0 makes of the logits.
#include <cmath>

#include "convoy/base/clock.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/shard_writer.h"
#include "convoy/train/trainer.h"

#include "train/checkpointing.h"
#include "train/class_scores.h"
#include "train/evaluation.h"
#include "train/restart.h"

namespace convoy {

namespace {

void write_confusion(const std::string& directory, const ClassScores& scores, const std::vector<std::string>& classes) {
  const auto write = [&](const std::string& name, const std::string& text) {
    io::write_file_atomically(directory + "/" + name, std::as_bytes(std::span(text)));
  };
  write("confusion.csv", scores.confusion_table(classes));
  write("classes.csv", scores.class_table(classes));
}

}  // namespace

ExitStatus evaluate(const Request& request, const ProcessGrid& grid, ops::Library& library) {
  const Parameters& params = request.params;
  // 1. Which weights, on what
  const bool has_test = !params.data.test.empty();
  const std::string path = has_test ? params.data.test : params.data.val, key = has_test ? "data.test" : "data.val";
  const io::Dataset test(path, key, params.data.verify);
  const TrainedModel model = load_trained(request, grid.world());
  check_images(model.card, test.info(), key, model.owner());
  check_classes(model.card, test.info(), key, model.owner());
  Engine engine(engine_spec(params, model.card), grid, library);
  restore_weights(model.tensors, model.path, engine);
  if (params.evaluate.confusion) mpi::on_root(grid.world(), [&] { io::make_directory(params.run.directory); });
  // 2. All samples
  const double start = now_seconds();
  const std::vector<std::string>& classes = test.info().class_names;
  ClassScores scores(std::ssize(classes));
  const LogitsObserver observe = [&](const StepLogits& step) {
    std::int64_t sample = step.first_sample;
    for (auto logits = step.logits; !logits.empty(); logits = logits.subspan(classes.size()))
      scores.add(test.label(sample++), logits.first(classes.size()));
  };
  const StepMetrics metrics =
      evaluate_dataset(engine,
                       {.samples = test, .card = model.card, .params = params, .work = "evaluate", .observe = observe})
          .value();
  const double seconds = now_seconds() - start;
  if (grid.is_root() && !std::isfinite(metrics.loss_sum))
    fail("{} gives a loss that is no finite number on {}", model.path, path);
  if (params.evaluate.confusion)
    mpi::on_root(grid.world(), [&] { write_confusion(params.run.directory, scores, classes); });
  // 3. What came out
  if (grid.is_root()) {
    const bool has_top5 = std::ssize(classes) > ClassScores::kGuesses;  // with fewer classes every guess is among them
    const std::string top5 = has_top5 ? fmt::format("  top-5 {:.2f} %", 100 * scores.top5()) : "";
    fmt::print("checkpoint: {}\n{}", model.describe(), describe_resizing(model.card, test.info()));
    if (params.evaluate.mirror) fmt::print("each picture as it is and mirrored (evaluate.mirror)\n");
    fmt::print("{}: {} samples  loss {:.4f}  top-1 {:.2f} %{}  ({:.0f} images/s)\n", path, metrics.num_samples,
               metrics.mean_loss(), 100 * metrics.top1(), top5, static_cast<double>(metrics.num_samples) / seconds);
    if (params.evaluate.confusion)
      fmt::print("-> {}/confusion.csv, {}/classes.csv\n", params.run.directory, params.run.directory);
  }
  return ExitStatus::kDone;
}

}  // namespace convoy
