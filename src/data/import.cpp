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

#include "data/arrays/array_files.h"
#include "data/class_folders.h"
#include "data/folder_walk.h"
#include "data/images/image_source.h"
#include "data/import_input.h"
#include "data/import_sums.h"
#include "data/refuse_keys.h"
#include "data/text/text_source.h"
#include "data/text/text_table.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

// Small enough that many ranks can write. max_usual_shards() keeps their number small enough that a rank that trains
// can have all of them open.
constexpr std::int64_t kShardBytes = std::int64_t{128} << 20;

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

/// Numbers of good samples of a split: all, and those of each class, or with each label; numbers have no such counts.
struct GoodSamples {
  std::int64_t count = 0;
  std::vector<std::int64_t> by_class = {}, by_fold = {};

  void add(const io::SampleAnswer& answer) {
    ++count;
    if (answer.fold > 0) ++by_fold[static_cast<std::size_t>(answer.fold - 1)];
    if (answer.label >= 0) ++by_class[static_cast<std::size_t>(answer.label)];
    for (std::size_t k = 0; k < std::min(by_class.size(), answer.target.size()); ++k)
      if (answer.target[k] == 1) ++by_class[k];
  }
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

bool is_array_file(const std::string& path) {
  const auto kind = find_array_file_kind(path);
  return kind && *kind != ArrayFileKind::kTable;
}

// Whether a folder holds files of arrays, itself or in the folders of splits.
bool holds_arrays(const std::string& folder) {
  const auto holds_some = [](const fs::path& path) {
    const std::vector<fs::path> files = files_in(path, "import.source");
    return std::ranges::any_of(files, [](const fs::path& file) { return is_array_file(file.string()); });
  };
  const std::vector<fs::path> folders = folders_in(folder, "import.source");
  return holds_some(folder) || std::ranges::any_of(folders, [&](const fs::path& path) {
           return split_called(path.filename().string()) && holds_some(path);
         });
}

// Finds the format of import.source, which import.format = auto leaves open. Rank 0.
ImportFormat find_format(const ImportParams& params) {
  std::error_code error;
  const bool is_folder = fs::is_directory(params.source, error), is_auto = params.format == ImportFormat::kAuto;
  if (params.format == ImportFormat::kArrays || params.format == ImportFormat::kTable) return params.format;
  if (params.format == ImportFormat::kCsv && fs::is_regular_file(params.source, error)) return params.format;
  const bool has_parts = !params.inputs.empty() || !params.target.empty();  // only arrays and tables of numbers have
  if (!is_folder && is_auto && is_table(params.source)) {
    if (!fs::is_regular_file(params.source, error)) refuse("import.source = {}: there is no such file", params.source);
    return has_parts ? ImportFormat::kTable : ImportFormat::kCsv;
  }
  if (!is_folder && is_auto && is_array_file(params.source)) return ImportFormat::kArrays;
  check_is_folder(params.source);
  if (!is_auto) return params.format;
  if (holds_arrays(params.source)) return ImportFormat::kArrays;
  if (has_parts) return ImportFormat::kTable;
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

// Opens the input: arrays, texts or images.
std::unique_ptr<ImportInput> open_input(const ImportParams& params, const mpi::Communicator& world) {
  ImportFormat format = params.format;
  mpi::on_root(world, [&] { format = find_format(params); });
  world.broadcast(&format, sizeof format, 0);
  const bool are_arrays = format == ImportFormat::kArrays || format == ImportFormat::kTable;
  const bool are_texts = format == ImportFormat::kText || format == ImportFormat::kCsv;
  refuse_import_keys(params, are_arrays ? input_kinds::kArrays : are_texts ? input_kinds::kText : input_kinds::kImages);
  if (are_arrays) return make_array_import(params, world);
  return are_texts ? make_text_import(params, format, world) : make_image_import(params, format, world);
}

class Import {
 public:
  Import(const ImportParams& params, std::uint64_t seed, const mpi::Communicator& world, const ShowImport& show)
      : params_(params), world_(world), show_(show) {
    mpi::on_root(world_, [this] { check_nothing_is_replaced(); });
    input_ = open_input(params, world);
    warn_of_single_samples();
    if (const std::string unusual = input_->divide(params, seed); !unusual.empty() && world_.rank() == 0)
      log_warning(unusual);
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
    summary_.notes = input_->notes();
    describe_folds();
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
    return std::clamp<std::int64_t>(usual, 1, std::min(input_->max_usual_shards(), split.size()));
  }

  /// Plans the shards, and which of them this rank writes.
  void plan() {
    std::int64_t number = 0;
    for (std::size_t s = 0; s < listing().splits.size(); ++s) {
      const SourceSplit& split = listing().splits[s];
      const std::int64_t count = num_shards(s);
      ImportedSplit& imported = summary_.splits.emplace_back();
      imported.name = split.name;
      imported.info.num_folds = s == 0 ? params_.folds : 0;
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
    const bool are_numbers = info.target.kind == TargetKind::kNumbers;
    good_.push_back({.by_class = std::vector<std::int64_t>(are_numbers ? 0 : listing().class_names.size()),
                     .by_fold = std::vector<std::int64_t>(static_cast<std::size_t>(info.num_folds))});
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
    io::DatasetInfo info = summary_.splits[task.split].info;
    info.num_samples = task.end - task.begin;
    io::ShardWriter& shard = shards_.emplace_back(task.location, info);
    input_->begin_shard(task.split, task.location.index);
    for (std::int64_t i = task.begin; i < task.end; ++i) {
      const auto bytes = read(task.split, i);
      if (bytes) {
        io::SampleAnswer answer = input_->answer(task.split, i);
        answer.fold = listing().splits[task.split].fold(i);
        shard.append(*bytes, answer, input_->name_of(task.split, i));
        good_[task.split].add(answer);
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
  std::optional<std::span<const std::byte>> read(std::size_t split, std::int64_t sample) {
    try {
      return input_->read(split, sample);
    } catch (const RequestError&) {
      throw;
    } catch (const Error& error) {
      std::string name = input_->name_of(split, sample);
      if (params_.strict)
        refuse("import.strict = true: '{}' in '{}' cannot be imported: {}", name, params_.source, error.what());
      skipped_.push_back({std::move(name), error.what()});
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
      info.class_counts.resize(good_[s].by_class.size());
      if (!info.class_counts.empty()) world_.start_sum(good_[s].by_class, info.class_counts).wait();
      info.num_samples = world_.sum(good_[s].count);
    }
    std::vector<std::int64_t>& mine = good_.front().by_fold;
    std::vector<std::int64_t> all(mine.size());
    if (!mine.empty()) world_.start_sum(mine, all).wait();
    mine = all;
    together([this] { input_->check_samples(); });
    together([this] { check_classes(); });
    together([this] { check_folds(); });
  }

  void check_folds() const {
    const std::vector<std::int64_t>& counts = good_.front().by_fold;
    if (const auto empty = std::ranges::find(counts, 0); empty != counts.end())
      refuse("import.folds = {}: all samples of fold {} are bad. Correct them, or choose another number of folds",
             params_.folds, empty - counts.begin() + 1);
  }

  void describe_folds() {
    const std::vector<std::int64_t>& counts = good_.front().by_fold;
    if (counts.empty() || world_.rank() != 0) return;
    const auto [min, max] = std::ranges::minmax(counts);
    summary_.notes.push_back(fmt::format("train: {} folds of {} samples (import.folds)", counts.size(),
                                         min == max ? fmt::format("{}", min) : fmt::format("{} to {}", min, max)));
  }

  void check_classes() const {
    for (std::size_t s = 0; s < good_.size(); ++s) {
      const SourceSplit& split = listing().splits[s];
      for (std::int64_t i = 0; i < split.size(); ++i) {
        const std::int32_t listed = split.label(i);
        const auto label = static_cast<std::size_t>(listed);
        if (listed < 0 || summary_.splits[s].info.class_counts[label] > 0) continue;
        const auto bad = std::ranges::find(summary_.skipped, input_->name_of(s, i), &SkippedSample::name);
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
  std::vector<io::ShardWriter> shards_;  ///< one per task
  std::vector<GoodSamples> good_;        ///< of each split, those of this rank
  std::vector<SkippedSample> skipped_;   ///< samples that this rank skipped
};

}  // namespace

std::string ImportInput::divide(const ImportParams& params, std::uint64_t seed) {
  std::string unusual;
  if (params.val_fraction > 0)
    unusual = cut_validation(listing(), params.val_fraction, seed)
                  .describe("import.val_fraction", params.val_fraction, "val");
  SourceSplit& train = listing().splits.front();
  if (params.folds > 0)
    train.folds = deal_folds({.num_rows = train.size(), .labels = train.labels}, params.folds, seed);
  return unusual;
}

ImportSummary import_samples(const ImportParams& params, std::uint64_t seed, const mpi::Communicator& world,
                             const ShowImport& show) {
  return Import(params, seed, world, show).run();
}

}  // namespace convoy
