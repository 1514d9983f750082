/// convoy import: public formats into data sets of Convoy's own. Rank 0 works.
#include <algorithm>

#include <fmt/format.h>

#include "convoy/base/clock.h"
#include "convoy/data/import_idx.h"

#include "commands/commands.h"

namespace convoy::commands {

namespace {

void write_split(const ImportParams& params, const std::string& name, io::DatasetContent& content) {
  const auto paths = io::write_dataset(params.output, name, static_cast<int>(params.shards), content);
  fmt::print("{}: {} images {}, {} classes -> {}{}\n", name, content.info.num_samples, to_string(content.info.image),
             content.info.class_names.size(), paths.front(),
             paths.size() > 1 ? fmt::format(" .. {}", paths.back()) : std::string());
}

// Before anything is written: a train split of this import beside the test split of another would be worse than none.
void check_shards(const ImportParams& params, const IdxSplits& splits) {
  const std::int64_t most = std::min(splits.train.info.num_samples, splits.test.info.num_samples);
  if (params.shards > most)
    refuse("import.shards = {}, but the smaller split has {} images. Allowed: 1 to {}.", params.shards, most, most);
}

}  // namespace

ExitStatus import(const Request& request, mpi::Session& session) {
  if (session.world().rank() != 0) return ExitStatus::kDone;
  const ImportParams& params = request.params.import;
  const double start = now_seconds();
  IdxSplits splits = read_idx_folder(params.source);
  check_shards(params, splits);
  write_split(params, "train", splits.train);
  write_split(params, "test", splits.test);
  const std::int64_t images = splits.train.info.num_samples + splits.test.info.num_samples;
  const double seconds = now_seconds() - start;
  fmt::print("imported {} images in {:.1f} s ({:.0f} images/s)\n", images, seconds,
             static_cast<double>(images) / seconds);
  return ExitStatus::kDone;
}

}  // namespace convoy::commands
