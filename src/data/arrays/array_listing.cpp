/// Rank 0 reads targets and groups once, row by row, and sends what follows from them.
#include "data/arrays/array_listing.h"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/random.h"
#include "convoy/base/text.h"
#include "convoy/comm/gather.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/packed.h"
#include "convoy/io/shard_files.h"

#include "data/arrays/array_splits.h"
#include "data/arrays/row_list.h"
#include "data/text/check_text.h"

namespace convoy {

namespace {

constexpr std::int64_t kRowsPerBlock = 4096;
constexpr std::size_t kMaxNamedClasses = 3;
constexpr const char* kSourceKey = "import.source";

ArraySourceSpec spec_of(const ImportParams& params, const std::string& path) {
  return {.path = path,
          .key = kSourceKey,
          .inputs = parse_parts(params.inputs, "import.inputs"),
          .target = params.target,
          .id = params.id,
          .group = params.group,
          .axes = params.axes};
}

// --- Forms as bytes --------------------------------------------------------------------------------------------------

std::vector<std::byte> pack(const TargetForm& form) {
  mpi::Packer packed;
  packed.add(static_cast<std::int64_t>(form.kind));
  packed.add(static_cast<std::int64_t>(form.are_lists));
  for (const std::string& name : form.names) packed.add(name);
  return packed.bytes();
}

TargetForm unpack_form(std::span<const std::byte> bytes) {
  mpi::Unpacker packed(bytes);
  TargetForm form{.kind = static_cast<TargetKind>(packed.number()), .names = {}, .are_lists = packed.number() != 0};
  while (!packed.is_empty()) form.names.emplace_back(packed.text());
  return form;
}

}  // namespace

// --- SplitRows -------------------------------------------------------------------------------------------------------

SplitRows::SplitRows(std::shared_ptr<const std::vector<RowSplit>> splits, RowSplit split)
    : splits_(std::move(splits)), split_(split) {
  for (std::size_t begin = 0; begin < splits_->size(); begin += kRowsPerBlock) {
    before_.push_back(num_rows_);
    const std::size_t end = std::min(begin + kRowsPerBlock, splits_->size());
    num_rows_ += std::count(splits_->begin() + static_cast<std::ptrdiff_t>(begin),
                            splits_->begin() + static_cast<std::ptrdiff_t>(end), split);
  }
}

std::int64_t SplitRows::row(std::int64_t sample) {
  if (splits_ == nullptr) return sample;
  if (sample < last_sample_ || last_sample_ < 0 || sample > last_sample_ + kRowsPerBlock) {
    const auto block = std::ranges::upper_bound(before_, sample) - before_.begin() - 1;
    last_sample_ = before_[static_cast<std::size_t>(block)] - 1;
    last_row_ = block * kRowsPerBlock - 1;
  }
  while (last_sample_ < sample)
    if ((*splits_)[static_cast<std::size_t>(++last_row_)] == split_) ++last_sample_;
  return last_row_;
}

// --- ArrayListing ----------------------------------------------------------------------------------------------------

ArrayListing::ArrayListing(const ImportParams& params, const mpi::Communicator& world)
    : params_(params), world_(world) {
  std::vector<SplitPath> splits;  // on rank 0
  std::vector<std::byte> found;
  mpi::on_root(world_, [&] {
    splits = find_splits(params_);
    mpi::Packer packed;
    for (const SplitPath& split : splits) {
      packed.add(split.name);
      packed.add(split.path);
    }
    found = packed.bytes();
    check_request(splits.front().pictures && splits.front().pictures->are_classes_folders);
  });
  found = world_.broadcast(found, 0);
  for (mpi::Unpacker packed(found); !packed.is_empty();) {
    const std::string name(packed.text());
    open(name, std::string(packed.text()), splits.empty() ? std::nullopt : splits[sources_.size()].pictures);
  }
  mpi::on_root(world_, [this] { check_inputs(); });
  groups_.resize(sources_.size());
  list_train();
  for (std::size_t i = 1; i < sources_.size(); ++i) list_other(i);
  mpi::on_root(world_, [this] { check_groups_of_splits(); });
}

void ArrayListing::check_request(bool are_classes_folders) const {
  if (are_classes_folders && params_.target_kind != TargetRequest::kAuto &&
      params_.target_kind != TargetRequest::kClass)
    refuse("import.target_kind: without import.target, the folders of pictures are their classes. Leave it out");
  if (params_.target.empty() && !are_classes_folders)
    refuse(
        "import.target is needed: the array, file or column with what the network has to answer, for example y.npy, "
        "all.npz:y, or a column's name");
  if (params_.val_fraction + params_.test_fraction >= 1)
    refuse("import.val_fraction = {} and import.test_fraction = {} leave nothing to train. Their sum must be below 1",
           params_.val_fraction, params_.test_fraction);
  if (params_.val_fraction > 0 && !params_.val_rows.empty())
    refuse("import.val_fraction and import.val_rows both say which samples are val. Give one");
  if (params_.test_fraction > 0 && !params_.test_rows.empty())
    refuse("import.test_fraction and import.test_rows both say which samples are test. Give one");
}

// Opens a split. One of test without a target is left out: no accuracy can be measured on it.
void ArrayListing::open(const std::string& split, const std::string& path,
                        const std::optional<PictureSource>& pictures) {
  ArraySourceSpec spec = spec_of(params_, path);
  spec.pictures = pictures;
  std::int64_t has_target = 1;
  mpi::on_root(world_, [&] {
    if (split == io::kSplitNames.back() && !pictures && !ArrayFinder(path, kSourceKey).has(params_.target))
      has_target = 0;
    if (has_target == 0)
      log_warning(fmt::format(
          "'{}' has no target '{}' and is left out of the import: no accuracy can be measured on it. convoy "
          "predict reads samples without targets directly: predict.data = {}",
          path, params_.target, path));
  });
  if (world_.max(world_.rank() == 0 ? has_target : 0) == 0) return;
  sources_.push_back(std::make_unique<ArraySource>(spec, world_));
  names_.push_back(split);
}

void ArrayListing::check_inputs() const {
  const auto record = [this](std::size_t i) {
    std::vector<io::ArrayInfo> arrays = io::record_of(sources_[i]->inputs(), sources_[i]->form_of_target());
    for (io::ArrayInfo& array : arrays) array.source.clear();  // files of splits may have other names
    return arrays;
  };
  for (std::size_t i = 1; i < sources_.size(); ++i)
    if (record(i) != record(0))
      refuse("{} = {}: samples of {} are {}, and those of {} {}", kSourceKey, params_.source, names_[0],
             io::describe_forms(record(0)), names_[i], io::describe_forms(record(i)));
}

std::uint64_t ArrayListing::group_of(ArraySource& source, std::int64_t row) const {
  std::string all;
  SamplePart& part = *source.group();
  for (std::int64_t i = 0; i < part.num_values(); ++i) {
    const std::string_view text = part.text(row, i);
    if (is_blank(text))
      refuse("import.group = {}: {} has no group. Samples of one group are kept in one split", params_.group,
             part.place(row));
    all.append(text).push_back('\n');
  }
  return hash_name(all);
}

void ArrayListing::list_train() {
  ArraySource& source = *sources_.front();
  std::vector<std::byte> form;
  std::vector<std::int32_t> labels;
  mpi::on_root(world_, [&] {
    TargetScan scan(*source.target(), params_.target.empty() ? TargetRequest::kClass : params_.target_kind,
                    params_.max_class_fraction, source.target_name(), source.target_place(),
                    source.form_of_target().dims);
    try {
      for (std::int64_t row = 0; (scan.wants_rows() || source.group() != nullptr) && source.has(row); ++row) {
        if (scan.wants_rows()) scan.add(row);
        if (source.group() != nullptr) groups_[0].push_back(group_of(source, row));
      }
    } catch (const Error& error) {
      refuse("{}", error.what());
    }
    TargetListing listing = scan.finish();
    form = pack(listing.form);
    labels = std::move(listing.labels);
    notes_ = std::move(listing.notes);
    if (params_.target.empty())
      notes_.push_back(
          fmt::format("the target is the folder of each picture, a class of {}", listing.form.names.size()));
  });
  target_ = unpack_form(world_.broadcast(form, 0));
  source.count(world_);
  listing_.class_names = target_.names;
  mpi::broadcast_values(world_, labels);
  add_split(names_.front(), std::move(labels), {0, SplitRows(source.num_samples())});
}

void ArrayListing::list_other(std::size_t index) {
  ArraySource& source = *sources_[index];
  std::vector<std::int32_t> labels;
  mpi::on_root(world_, [&] {
    if (!source.form_of_target().is_in_record()) check_part(*source.target(), target_, source.target_place());
    try {
      if (target_.kind == TargetKind::kClass) labels = labels_of(index);
      for (std::int64_t row = 0; source.group() != nullptr && source.has(row); ++row)
        groups_[index].push_back(group_of(source, row));
    } catch (const Error& error) {
      refuse("{}", error.what());
    }
  });
  source.count(world_);
  mpi::broadcast_values(world_, labels);
  add_split(names_[index], std::move(labels), {index, SplitRows(source.num_samples())});
}

std::vector<std::int32_t> ArrayListing::labels_of(std::size_t index) const {
  ArraySource& source = *sources_[index];
  TargetReader reader(*source.target(), target_);
  std::vector<std::int32_t> labels;
  for (std::int64_t row = 0; source.has(row); ++row) {
    labels.push_back(reader.read(row).label);
    if (const std::string_view text = reader.class_text(row); labels.back() < 0 && !text.empty())
      refuse("{}: the class '{}' of split {} is none of train: {}", source.place(row), excerpt(text), names_[index],
             examples(target_.names));
  }
  return labels;
}

void ArrayListing::add_split(std::string name, std::vector<std::int32_t> labels, Place place) {
  SourceSplit& split = listing_.splits.emplace_back();
  split.name = std::move(name);
  split.labels = std::move(labels);
  split.num_samples = place.rows.size();
  places_.push_back(std::move(place));
}

// --- Groups ----------------------------------------------------------------------------------------------------------

void ArrayListing::refuse_shared_group(ArraySource& a, std::int64_t row_a, ArraySource& b, std::int64_t row_b) const {
  const std::string text(a.group()->text(row_a, 0));
  refuse(
      "import.group = {}: the samples {} and {} are of one group, '{}', but in different splits. What a network has "
      "seen in training must not be measured",
      params_.group, a.place(row_a), b.place(row_b), excerpt(text));
}

void ArrayListing::check_groups_of_splits() {
  if (params_.group.empty() || sources_.size() < 2) return;
  std::vector<std::uint64_t> groups;
  std::vector<RowSplit> splits;
  std::vector<std::int64_t> begins;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    begins.push_back(std::ssize(groups));
    groups.insert(groups.end(), groups_[i].begin(), groups_[i].end());
    splits.resize(groups.size(), static_cast<RowSplit>(i));
  }
  const auto shared = find_shared_group(groups, splits);
  if (!shared) return;
  const auto source_of = [&](std::int64_t row) {
    return static_cast<std::size_t>(std::ranges::upper_bound(begins, row) - begins.begin() - 1);
  };
  const std::size_t a = source_of(shared->first), b = source_of(shared->second);
  refuse_shared_group(*sources_[a], shared->first - begins[a], *sources_[b], shared->second - begins[b]);
}

// --- Drawing splits --------------------------------------------------------------------------------------------------

RowSplitSpec ArrayListing::split_spec(std::uint64_t seed) const {
  const std::int64_t num_rows = sources_.front()->num_samples();
  RowSplitSpec spec{.val_fraction = params_.val_fraction, .test_fraction = params_.test_fraction, .seed = seed};
  if (!params_.val_rows.empty()) spec.val_rows = read_row_list(params_.val_rows, "import.val_rows", num_rows);
  if (!params_.test_rows.empty()) spec.test_rows = read_row_list(params_.test_rows, "import.test_rows", num_rows);
  std::vector<std::int64_t> both;
  std::ranges::set_intersection(spec.val_rows, spec.test_rows, std::back_inserter(both));
  if (!both.empty()) refuse("import.val_rows and import.test_rows both have row {}", both.front());
  return spec;
}

RowsToSplit ArrayListing::rows_of_train() const {
  return {.num_rows = sources_.front()->num_samples(),
          .num_classes = target_.kind == TargetKind::kClass ? std::ssize(target_.names) : 0,
          .labels = listing_.splits.front().labels,
          .groups = groups_.front()};
}

// Names the classes that only one split or fold can have, as all their samples are of one group.
void ArrayListing::note_classes_of_one_group() {
  const bool draws = params_.val_fraction > 0 || params_.test_fraction > 0 || params_.folds > 0;
  if (params_.group.empty() || !draws) return;
  const std::vector<ClassOfOneGroup> found = find_classes_of_one_group(rows_of_train());
  if (found.empty()) return;
  std::vector<std::string> named;
  for (const ClassOfOneGroup& one : std::span(found).first(std::min<std::size_t>(found.size(), kMaxNamedClasses)))
    named.push_back(fmt::format("class '{}' in group '{}'", excerpt(target_.names[static_cast<std::size_t>(one.label)]),
                                excerpt(sources_.front()->group()->text(one.row, 0))));
  const auto num_more = std::ssize(found) - std::ssize(named);
  log_warning(fmt::format(
      "import.group = {}: all samples of a class are of one group: {}{}. {}. Add samples of other groups, or leave "
      "these classes out",
      params_.group, fmt::join(named, ", "), num_more > 0 ? fmt::format(" and {} more", num_more) : "",
      params_.folds > 0 ? "Only one fold has such a class, and a training without this fold does not see it"
                        : "Such a group stays in split train, and its class is not measured"));
}

std::vector<RowSplit> ArrayListing::divide_on_root(std::uint64_t seed) {
  for (std::size_t i = 1; i < names_.size(); ++i) {
    const bool is_val = names_[i] == io::kSplitNames[1];
    if (is_val ? params_.val_fraction > 0 || !params_.val_rows.empty()
               : params_.test_fraction > 0 || !params_.test_rows.empty())
      refuse("import.{0}_fraction and import.{0}_rows: the source has a split {0} already. Leave them out", names_[i]);
  }
  ArraySource& source = *sources_.front();
  const RowsToSplit rows = rows_of_train();
  DividedRows divided = divide_rows(rows, split_spec(seed));
  notes_.insert(notes_.end(), divided.notes.begin(), divided.notes.end());
  if (const auto shared = find_shared_group(groups_.front(), divided.splits))
    refuse_shared_group(source, shared->first, source, shared->second);
  return std::move(divided.splits);
}

void ArrayListing::divide(std::uint64_t seed) {
  mpi::on_root(world_, [this] { note_classes_of_one_group(); });
  divide_train(seed);
  if (params_.folds > 0) deal_train(seed);
  groups_.clear();
}

void ArrayListing::deal_train(std::uint64_t seed) {
  SourceSplit& train = listing_.splits.front();
  mpi::on_root(world_, [&] {
    std::vector<std::uint64_t> groups;
    for (std::int64_t i = 0; !params_.group.empty() && i < train.size(); ++i)
      groups.push_back(groups_.front()[static_cast<std::size_t>(row(0, i))]);
    train.folds = deal_folds({.num_rows = train.size(), .labels = train.labels, .groups = groups}, params_.folds, seed);
  });
  mpi::broadcast_values(world_, train.folds);
}

void ArrayListing::divide_train(std::uint64_t seed) {
  const bool divides =
      params_.val_fraction > 0 || params_.test_fraction > 0 || !params_.val_rows.empty() || !params_.test_rows.empty();
  auto splits = std::make_shared<std::vector<RowSplit>>();
  if (divides) mpi::on_root(world_, [&] { *splits = divide_on_root(seed); });
  if (!divides) return;
  mpi::broadcast_values(world_, *splits);
  SourceListing listed = std::exchange(listing_, {});
  std::vector<Place> places = std::exchange(places_, {});
  listing_.class_names = std::move(listed.class_names);
  for (std::size_t i = 0; i < io::kSplitNames.size(); ++i) {
    const auto own = std::ranges::find(listed.splits, io::kSplitNames[i], &SourceSplit::name);
    if (i > 0 && own != listed.splits.end()) {
      const auto number = static_cast<std::size_t>(own - listed.splits.begin());
      add_split(own->name, std::move(own->labels), std::move(places[number]));
      continue;
    }
    Place place{0, SplitRows(splits, static_cast<RowSplit>(i))};
    if (place.rows.size() == 0) continue;
    std::vector<std::int32_t> labels;
    const std::vector<std::int32_t>& all = listed.splits.front().labels;
    for (std::size_t row = 0; row < all.size(); ++row)
      if ((*splits)[row] == static_cast<RowSplit>(i)) labels.push_back(all[row]);
    add_split(io::kSplitNames[i], std::move(labels), std::move(place));
  }
}

std::vector<std::string> ArrayListing::notes() const {
  if (world_.rank() != 0) return {};
  std::vector<std::string> notes = sources_.front()->notes();
  notes.insert(notes.end(), notes_.begin(), notes_.end());
  return notes;
}

}  // namespace convoy
