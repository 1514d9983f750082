/// Runs the steps of an import: list the samples, find out what they have in common, write the shards, add up the
/// statistics, give the files their names.
#include "convoy/data/import.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/packed.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/shard_files.h"
#include "convoy/io/shard_writer.h"
#include "convoy/params/data_parameters.h"

#include "data/class_folders.h"
#include "data/folder_walk.h"
#include "data/images/image_source.h"
#include "data/import_input.h"
#include "data/import_sums.h"
#include "data/text/text_source.h"
#include "data/text/text_table.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

// Size and number of shards: small enough that many ranks can write, and few enough that a rank that trains can keep
// all of them open.
constexpr std::int64_t kShardBytes = std::int64_t{128} << 20, kMaxUsualShards = 256;

// Returns "train.csv:109" as the file and the line: a name, and the number after its last colon; if there is none, the
// name and 0.
std::pair<std::string_view, std::int64_t> position_of(const SkippedSample& bad) {
  const std::string_view name = bad.name;
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return {name, 0};
  const auto line = parse_number<std::int64_t>(name.substr(colon + 1));
  return line ? std::pair(name.substr(0, colon), *line) : std::pair(name, std::int64_t{0});
}

/// A shard that a rank has to write: samples [begin, end) of a split.
struct ShardTask {
  std::size_t split = 0;
  std::int64_t begin = 0, end = 0;
  io::ShardLocation location;
};

// Returns the first folder, going down by name, that holds no folders: the folder of a class.
fs::path first_leaf(const std::string& root) {
  fs::path folder = root;
  for (int depth = 0; depth < 8; ++depth) {  // limited, as a link may lead in a circle
    const std::vector<fs::path> inner = folders_in(folder, "import.source");
    if (inner.empty()) break;
    folder = inner.front();
  }
  return folder;
}

bool holds_mostly_texts(const fs::path& folder) {
  std::int64_t texts = 0, others = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    ++(lower_case(entry.path().string()).ends_with(kTextFolders.suffix) ? texts : others);
  return texts > others;
}

// Finds the format of import.source, which import.format = auto leaves open. Rank 0.
ImportFormat find_format(const ImportParams& params) {
  std::error_code error;
  const bool is_folder = fs::is_directory(params.source, error);
  if (params.format == ImportFormat::kCsv && fs::is_regular_file(params.source, error)) return params.format;
  if (!is_folder && params.format == ImportFormat::kAuto && is_table(params.source)) {
    if (!fs::is_regular_file(params.source, error)) refuse("import.source = {}: there is no such file", params.source);
    return ImportFormat::kCsv;
  }
  check_is_folder(params.source);
  if (params.format != ImportFormat::kAuto) return params.format;
  if (!find_tables(params.source, "import.source").empty()) return ImportFormat::kCsv;
  const std::optional<ImportFormat> packed = find_packed_format(params.source);
  const bool holds_images = packed || !folders_in(params.source, "import.source").empty();
  if (const auto others = other_tables(params.source); !others.empty() && !holds_images)
    refuse(
        "import.source = {}: no table in it is named as a split (train*, val* or dev*, test*): {}. Give one of them as "
        "import.source, or rename them",
        params.source, excerpt(fmt::format("{}", fmt::join(others, ", "))));
  if (holds_mostly_texts(first_leaf(params.source))) return ImportFormat::kText;
  return packed.value_or(ImportFormat::kFolder);
}

// Opens the input: texts or images.
std::unique_ptr<ImportInput> open_input(const ImportParams& params, const mpi::Communicator& world) {
  ImportFormat format = params.format;
  mpi::on_root(world, [&] { format = find_format(params); });
  world.broadcast(&format, sizeof format, 0);
  const bool is_text = format == ImportFormat::kText || format == ImportFormat::kCsv;
  return is_text ? make_text_import(params, format, world) : make_image_import(params, format, world);
}

class Import {
 public:
  Import(const ImportParams& params, std::uint64_t seed, const mpi::Communicator& world, const ShowImport& show)
      : params_(params), world_(world), show_(show) {
    mpi::on_root(world_, [this] { check_nothing_is_replaced(); });
    input_ = open_input(params, world);
    warn_of_single_samples();
    if (params.val_fraction > 0) warn(cut_validation(input_->listing(), params.val_fraction, seed));
  }

  ImportSummary run() {
    check_request();
    together([this] { check_output(); });
    input_->prepare(show_);
    plan();
    write();
    gather_skipped();
    sum_up();
    summary_.warnings = input_->warnings();
    together([this] {
      for (std::size_t i = 0; i < shards_.size(); ++i) shards_[i].finish(summary_.splits[tasks_[i].split].info);
    });
    together([this] {
      for (io::ShardWriter& shard : shards_) shard.commit();
    });
    mpi::on_root(world_, [this] {
      for (const ImportedSplit& split : summary_.splits) {
        io::remove_earlier_shards(params_.output, split.name, std::ssize(split.paths));
      }
    });
    return std::move(summary_);
  }

 private:
  const SourceListing& listing() const { return input_->listing(); }

  // Warns of classes with a single sample: perhaps something else was meant, such as a folder for each picture or a
  // column of ids.
  void warn_of_single_samples() const {
    const SourceSplit& train = listing().splits.front();
    std::vector<std::int64_t> counts(listing().class_names.size());
    for (const std::int32_t label : train.labels)
      if (label >= 0) ++counts[static_cast<std::size_t>(label)];
    std::vector<std::string> single;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] == 1) single.push_back(listing().class_names[i]);
    if (single.empty() || world_.rank() != 0) return;
    log_warning(fmt::format("import.source = {}: {} of {} of split train {} a single sample: {}", params_.source,
                            single.size(), counted(std::ssize(counts), "class"), single.size() == 1 ? "has" : "have",
                            examples(single)));
  }

  void warn(const ValidationCut& cut) const {
    const std::string unusual = cut.describe(params_.val_fraction);
    if (!unusual.empty() && world_.rank() == 0) log_warning(unusual);
  }

  void check_nothing_is_replaced() const {
    if (params_.replace) return;
    for (const char* const name : io::kSplitNames) {
      if (const std::string shard = io::find_any_shard(params_.output, name); !shard.empty())
        refuse(
            "import.output = {}: '{}' exists, from an earlier import. Set import.replace = true to replace it, or "
            "choose another folder",
            params_.output, shard);
    }
  }

  void check_request() const {
    input_->check_request();
    for (const SourceSplit& split : listing().splits) {
      if (params_.shards > split.size()) {
        refuse("import.shards = {}, but split {} has {} {}s. Allowed: 1 to {}", params_.shards, split.name,
               split.size(), input_kinds::one_of(input_->kind()), split.size());
      }
    }
  }

  std::int64_t num_shards(std::size_t split_number) {
    if (params_.shards > 0) return params_.shards;
    const SourceSplit& split = listing().splits[split_number];
    const std::int64_t usual = (split.size() * input_->mean_sample_bytes(split_number) + kShardBytes - 1) / kShardBytes;
    return std::clamp<std::int64_t>(usual, 1, std::min(kMaxUsualShards, split.size()));
  }

  /// Plans the shards, and which of them this rank writes.
  void plan() {
    std::int64_t number = 0;
    for (std::size_t s = 0; s < listing().splits.size(); ++s) {
      const SourceSplit& split = listing().splits[s];
      const std::int64_t count = num_shards(s);
      ImportedSplit& imported = summary_.splits.emplace_back();
      imported.name = split.name;
      describe(split, imported.info);
      for (std::int64_t i = 0; i < count; ++i, ++number) {
        imported.paths.push_back(io::shard_path(params_.output, split.name, i, count));
        if (number % world_.size() != world_.rank()) continue;
        tasks_.push_back(
            {s, split.size() * i / count, split.size() * (i + 1) / count, {imported.paths.back(), i, count}});
      }
    }
  }

  // Refuses an output that would mix imports: a train split of this import next to the val split of another would be
  // worse than none.
  void check_output() const {
    for (const char* const name : io::kSplitNames) {
      const auto is_name = [&](const SourceSplit& split) { return split.name == name; };
      if (std::any_of(listing().splits.begin(), listing().splits.end(), is_name)) continue;
      if (const std::string shard = io::find_any_shard(params_.output, name); !shard.empty()) {
        refuse(
            "import.output = {}: '{}' comes from another import, and this one has no split {}. Remove it, or import "
            "into another folder",
            params_.output, shard, name);
      }
    }
    if (world_.rank() == 0) io::make_directory(params_.output);
  }

  void describe(const SourceSplit& split, io::DatasetInfo& info) {
    info.kind = input_->kind();
    input_->describe(info);
    info.class_names = listing().class_names;
    info.source = params_.source;
    info.num_samples = split.size();
    good_.emplace_back(listing().class_names.size(), 0);
  }

  // --- Bodies --------------------------------------------------------------------------------------------------------

  void write() {
    std::int64_t total = 0;
    for (const SourceSplit& split : listing().splits) total += split.size();
    ImportSums sums(world_, "importing", total, show_);
    together([&] {
      std::exception_ptr error;
      try {
        for (const ShardTask& task : tasks_) {
          if (!write_shard(task, sums)) break;
        }
      } catch (const Error&) {
        error = std::current_exception();
      }
      sums.end(error != nullptr);
      if (error) std::rethrow_exception(error);
    });
  }

  /// Writes a shard. Returns false if another rank has failed.
  bool write_shard(const ShardTask& task, ImportSums& sums) {
    const SourceSplit& split = listing().splits[task.split];
    io::DatasetInfo info = summary_.splits[task.split].info;
    info.num_samples = task.end - task.begin;
    io::ShardWriter& shard = shards_.emplace_back(task.location, info);
    for (std::int64_t i = task.begin; i < task.end; ++i) {
      const auto bytes = read(task.split, i);
      if (bytes) {
        const std::int32_t label = split.labels[static_cast<std::size_t>(i)];
        shard.append(*bytes, {.label = label}, split.names[i]);
        ++good_[task.split][static_cast<std::size_t>(label)];
      }
      if (!sums.add(bytes.has_value())) return false;
    }
    if (shard.num_samples() == 0) {
      refuse("'{0}' would hold no {1}s: all {2} are bad; the last one: {3}. Replace the bad {1}s{4}",
             task.location.path, input_kinds::one_of(input_->kind()), task.end - task.begin, skipped_.back().reason,
             params_.shards > 1 ? ", or set a smaller import.shards" : "");
    }
    shard.end_samples();
    return true;
  }

  /// Returns the sample as the shard stores it; nothing if it is bad.
  std::optional<std::span<const std::byte>> read(std::size_t split_number, std::int64_t sample) {
    const SourceSplit& split = listing().splits[split_number];
    try {
      return input_->read(split_number, sample);
    } catch (const Error& error) {
      if (params_.strict)
        refuse("import.strict = true: '{}' in '{}' cannot be imported: {}", split.names[sample], params_.source,
               error.what());
      skipped_.push_back({std::string(split.names[sample]), error.what()});
      return std::nullopt;
    }
  }

  // --- What only all ranks together know -----------------------------------------------------------------------------

  void gather_skipped() {
    mpi::Packer mine;
    for (const SkippedSample& bad : skipped_) {
      mine.add(bad.name);
      mine.add(bad.reason);
    }
    const std::vector<std::byte> bytes = world_.gather(mine.bytes(), 0);
    for (mpi::Unpacker all(bytes); !all.is_empty();) {
      SkippedSample& bad = summary_.skipped.emplace_back();
      bad.name = all.text();
      bad.reason = all.text();
    }
    std::ranges::sort(summary_.skipped, {}, position_of);
  }

  void sum_up() {
    for (std::size_t s = 0; s < good_.size(); ++s) {
      io::DatasetInfo& info = summary_.splits[s].info;
      input_->sum_up(s, info);
      info.class_counts.resize(good_[s].size());
      world_.start_sum(good_[s], info.class_counts).wait();
      info.num_samples = 0;
      for (const std::int64_t count : info.class_counts) info.num_samples += count;
    }
    together([this] { check_classes(); });
  }

  void check_classes() const {
    for (std::size_t s = 0; s < good_.size(); ++s) {
      const SourceSplit& split = listing().splits[s];
      for (std::int64_t i = 0; i < split.size(); ++i) {
        const std::int32_t listed = split.labels[static_cast<std::size_t>(i)];
        const auto label = static_cast<std::size_t>(listed);
        if (listed < 0 || summary_.splits[s].info.class_counts[label] > 0) continue;
        const auto bad = std::find_if(summary_.skipped.begin(), summary_.skipped.end(),
                                      [&](const SkippedSample& skipped) { return skipped.name == split.names[i]; });
        refuse("import.source = {}: class '{}' of split {} has no good sample{}", params_.source,
               excerpt(listing().class_names[label]), split.name,
               bad == summary_.skipped.end() ? "" : fmt::format("; '{}': {}", bad->name, bad->reason));
      }
    }
  }

  /// Does work of every rank. If it fails on one, all remove their files before the error is thrown.
  void together(const std::function<void()>& work) {
    try {
      mpi::on_all(world_, work);
    } catch (const Error&) {
      shards_.clear();
      world_.barrier();
      throw;
    }
  }

  const ImportParams& params_;
  mpi::Communicator world_;
  const ShowImport& show_;
  std::unique_ptr<ImportInput> input_;
  ImportSummary summary_;

  std::vector<ShardTask> tasks_;
  std::vector<io::ShardWriter> shards_;          ///< one per task
  std::vector<std::vector<std::int64_t>> good_;  ///< good samples by split and class
  std::vector<SkippedSample> skipped_;           ///< samples that this rank skipped
};

}  // namespace

ImportSummary import_samples(const ImportParams& params, std::uint64_t seed, const mpi::Communicator& world,
                             const ShowImport& show) {
  return Import(params, seed, world, show).run();
}

}  // namespace convoy
