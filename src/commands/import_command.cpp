/// convoy import: public formats into data sets of Convoy's own. All ranks work.

#include <fmt/format.h>

#include "convoy/base/clock.h"
#include "convoy/base/log.h"
#include "convoy/base/progress_line.h"
#include "convoy/data/import.h"

#include "commands/commands.h"

namespace convoy::commands {

namespace {

/// Rank 0's line.
class ImportLine {
 public:
  void show(const ImportProgress& progress) {
    line_.show(progress.work, progress.done, progress.total,
               progress.skipped > 0 ? fmt::format("  {} bad", progress.skipped) : "");
  }
  void clear() { line_.clear(); }

 private:
  CountedProgress line_{"images"};
};

void print_split(const ImportedSplit& split) {
  const io::DatasetInfo& info = split.info;
  const std::string images = info.encoded
                                 ? fmt::format("files of images ({})", info.image.c == 1 ? "grey" : "in colour")
                                 : fmt::format("images {}", to_string(info.image));
  fmt::print("{}: {} {}, {} classes -> {}{}\n", split.name, info.num_samples, images, info.class_names.size(),
             split.paths.front(), split.paths.size() > 1 ? fmt::format(" .. {}", split.paths.back()) : std::string());
}

}  // namespace

ExitStatus import(const Request& request, mpi::Session& session) {
  const double start = now_seconds();
  ImportLine line;
  const ImportSummary summary = import_images(request.params.import, request.params.train.seed, session.world(),
                                              [&](const ImportProgress& progress) { line.show(progress); });
  if (session.world().rank() != 0) return ExitStatus::kDone;
  line.clear();
  for (const BadImage& bad : summary.skipped) log_warning(fmt::format("skipped '{}': {}", bad.name, bad.reason));
  std::int64_t images = 0;
  for (const ImportedSplit& split : summary.splits) {
    print_split(split);
    images += split.info.num_samples;
  }
  const double seconds = now_seconds() - start;
  fmt::print("imported {} images in {:.1f} s ({:.0f} images/s){}\n", images, seconds,
             static_cast<double>(images) / seconds,
             summary.skipped.empty() ? "" : fmt::format("; skipped {} bad ones, named above", summary.skipped.size()));
  return ExitStatus::kDone;
}

}  // namespace convoy::commands
