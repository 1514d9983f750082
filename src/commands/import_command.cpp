/// convoy import: converts public formats into Convoy's data sets. All ranks work.
#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>

#include <fmt/core.h>

#include "convoy/base/clock.h"
#include "convoy/base/log.h"
#include "convoy/base/print.h"
#include "convoy/base/progress_line.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/data/import.h"
#include "convoy/io/atomic_file.h"

#include "commands/commands.h"

namespace convoy::commands {

namespace {

// "60000 images 28x28x1"
std::string describe_samples(const io::DatasetInfo& info) {
  if (info.kind == input_kinds::kArrays)
    return fmt::format("{} of {}", counted(info.num_samples, "sample"), io::describe_forms(info.record()));
  if (info.kind == input_kinds::kText)
    return fmt::format("{} ({} tokens, a vocabulary of {} {})", counted(info.num_samples, "text"),
                       human_count(info.text.num_tokens), info.text.tokenization.vocabulary,
                       info.text.tokenization.kind);
  if (info.encoded)
    return fmt::format("{} of images ({})", counted(info.num_samples, "file"),
                       info.image.c == 1 ? "grey" : "in colour");
  return fmt::format("{} {}", counted(info.num_samples, "image"), to_string(info.image));
}

// "10 classes", "1 number", "2 numbers at each of 64 x 64 pixels"
std::string describe_outputs(const io::DatasetInfo& info) {
  const char* const one = info.target.kind == TargetKind::kClass    ? "class"
                          : info.target.kind == TargetKind::kLabels ? "label"
                                                                    : "number";
  return counted(std::ssize(info.class_names), one) + io::describe_place(info.target);
}

void print_split(const ImportedSplit& split) {
  print("{}: {}, {} -> {}{}\n", split.name, describe_samples(split.info), describe_outputs(split.info),
        split.paths.front(), split.paths.size() > 1 ? fmt::format(" .. {}", split.paths.back()) : std::string());
}

// Logs the skipped samples, or the first of many, of which a file then has all. Returns where they are named.
std::string name_skipped(const std::vector<SkippedSample>& skipped, const std::string& folder) {
  constexpr std::size_t kMaxShown = 10;
  const std::string path = folder + "/skipped.txt";
  std::error_code absent;
  std::filesystem::remove(path, absent);  // of an earlier import
  for (const SkippedSample& bad : std::span(skipped).first(std::min(skipped.size(), kMaxShown)))
    log_warning(fmt::format("skipped '{}': {}", excerpt(bad.name), bad.reason));
  if (skipped.size() <= kMaxShown) return "above";
  std::string all;
  for (const SkippedSample& bad : skipped) all += fmt::format("{}: {}\n", printable(bad.name), printable(bad.reason));
  io::write_text_atomically(path, all);
  log_warning(fmt::format("{} more were skipped; {} names all", skipped.size() - kMaxShown, path));
  return "in " + path;
}

}  // namespace

ExitStatus import(const Request& request, WatchdogSession& watchdog) {
  const double start = now_seconds();
  watchdog.board().enter(Activity::kImporting);
  CountedProgress line("samples");
  const auto show = [&](const ImportProgress& progress) {  // called on rank 0
    line.show(progress.work, progress.done, progress.total,
              progress.skipped > 0 ? fmt::format("  {} bad", progress.skipped) : "");
  };
  const ImportSummary summary =
      import_samples(request.params.import, request.params.train.seed, watchdog.world(), show);
  if (watchdog.world().rank() != 0) return ExitStatus::kDone;
  line.clear();
  const std::string where_named = name_skipped(summary.skipped, request.params.import.output);
  for (const std::string& warning : summary.warnings) log_warning(warning);
  for (const std::string& note : summary.notes) print("{}\n", printable(note));
  std::int64_t imported = 0;
  for (const ImportedSplit& split : summary.splits) {
    print_split(split);
    if (const std::string empty = io::describe_empty_classes(split.info); !empty.empty())
      log_warning(fmt::format("{}: {}", split.name, empty));
    imported += split.info.num_samples;
  }
  const double seconds = now_seconds() - start;
  const std::string_view sample = input_kinds::one_of(summary.splits.front().info.kind);
  print("imported {} in {:.1f} s ({:.0f} {}s/s){}\n", counted(imported, sample), seconds,
        static_cast<double>(imported) / seconds, sample,
        summary.skipped.empty()
            ? ""
            : fmt::format("; skipped {}, named {}", counted(std::ssize(summary.skipped), fmt::format("bad {}", sample)),
                          where_named));
  return ExitStatus::kDone;
}

}  // namespace convoy::commands
