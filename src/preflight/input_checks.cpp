/// See input_checks.h.
#include "preflight/input_checks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/data/copy_shards.h"
#include "convoy/data/training_set.h"
#include "convoy/io/dataset.h"
#include "convoy/io/inspect.h"
#include "convoy/io/shard_files.h"
#include "convoy/params/parameters.h"
#include "convoy/params/parse.h"

#include "calibrate/run_layout.h"

namespace convoy::preflight {

namespace {

constexpr const char* kCheck = "parameters";

// Reports each problem in a line if all ranks have the same problems. They differ only if a host lacks files.
void add_problems(const std::vector<std::string>& mine, Report& report) {
  const std::vector<std::string> texts = report.gather(fmt::format("{}", fmt::join(mine, "\n")));
  if (!report.is_root()) return;
  if (std::all_of(texts.begin(), texts.end(), [&](const std::string& text) { return text == texts.front(); })) {
    for (const std::string& problem : mine) report.add(kCheck, fails(problem));
    return;
  }
  std::vector<Finding> findings;
  for (const std::string& text : texts) findings.push_back(text.empty() ? ok("") : fails(text));
  report.add(kCheck, summarise(findings, report.hosts()));
}

// Returns what is wrong with the grid for this number of ranks and this network; "" if nothing is. The result is the
// same on all ranks.
std::string find_grid_problem(const Parameters& params, std::int64_t num_ranks) {
  try {
    requested_grid(params, num_ranks);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// A split of the data that the parameters name.
struct Split {
  std::string key, path;

  std::string name() const { return key.substr(key.find('.') + 1); }
  std::vector<std::string> shards() const { return io::find_shards(path, fmt::format("{} = {}", key, path), name()); }
};

std::vector<Split> splits_of(const DataParams& data) {
  std::vector<Split> splits;
  for (Split split : {Split{"data.train", data.train}, Split{"data.val", data.val}, Split{"data.test", data.test}})
    if (!split.path.empty()) splits.push_back(std::move(split));
  return splits;
}

// Returns the reason why a shard cannot be opened; nothing if it can be.
std::optional<std::string> try_to_open(const Split& split, const std::string& path) {
  try {
    const io::Dataset opened(path, split.key);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

// Returns " (2 of 8 shards cannot be opened)", because an error names only the first of them; "" if there is only one.
std::string count_bad_shards(const Split& split) {
  std::size_t num_bad = 0;
  try {
    const std::vector<std::string> shards = split.shards();
    for (const std::string& shard : shards)
      if (try_to_open(split, shard)) ++num_bad;
    return num_bad < 2 ? ""
                       : fmt::format(" ({} of {} cannot be opened)", num_bad, counted(std::ssize(shards), "shard"));
  } catch (const Error&) {  // no shard exists, or one is missing: the data set's error says so
    return "";
  }
}

Finding open_split(const Split& split, const Parameters& params, std::optional<io::Dataset>& opened) {
  try {
    opened =
        split.key == "data.train" ? open_training_set(params) : io::Dataset(split.path, split.key, params.data.verify);
    const io::DatasetInfo& info = opened->info();
    return ok(fmt::format("{} in {}, {}; content {:016x}", counted(info.num_samples, input_kinds::one_of(info.kind)),
                          counted(std::ssize(split.shards()), "shard"), counted(std::ssize(info.class_names), "class"),
                          static_cast<std::uint64_t>(opened->content_hash())));
  } catch (const Error& error) {
    return fails(error.what() + count_bad_shards(split));
  }
}

// Returns whether all ranks have opened the split and found the same data.
bool check_split(const Split& split, const Parameters& params, std::optional<io::Dataset>& opened, Report& report) {
  const Finding mine = open_split(split, params, opened);
  if (report.world().max(mine.outcome == Outcome::kFails ? 1 : 0) > 0) {
    report.add_of_all(split.key, mine);
    return false;
  }
  report.add_agreement(split.key, mine.text, Outcome::kFails, "Give all hosts the same files.");
  const std::string of_root = report.world().broadcast(mine.text, 0);
  return report.world().max(of_root == mine.text ? 0 : 1) == 0;
}

// Hashes this rank's part of the shards.
Finding hash_shards(const std::vector<Split>& splits, const mpi::Communicator& world, StatusBoard& board) {
  std::size_t index = 0, num_mine = 0, num_damaged = 0;
  std::string first;
  try {
    for (const Split& split : splits) {
      for (const std::string& shard : split.shards()) {
        if (index++ % static_cast<std::size_t>(world.size()) != static_cast<std::size_t>(world.rank())) continue;
        board.enter(Activity::kOpeningData);  // shows progress at each file, which may be large
        ++num_mine;
        const auto damage = io::verify_file(shard);
        if (damage && num_damaged++ == 0) first = fmt::format("{}: {}", shard, *damage);
      }
    }
  } catch (const Error& error) {
    return fails(error.what());
  }
  if (num_damaged == 0) return ok("every byte is as it was written");
  return fails(fmt::format("{}{}. Import the data again, or copy the file once more", first,
                           num_damaged == 1 ? ""
                                            : fmt::format(" ({} of {} are damaged)", num_damaged,
                                                          counted(static_cast<std::int64_t>(num_mine), "shard"))));
}

// Compares the size of the shards with the room for copies on this rank's node.
Finding check_copies(const std::string& to, const std::vector<std::optional<io::Dataset>>& sets) {
  std::int64_t needed = 0;
  for (const auto& set : sets)
    for (std::int64_t s = 0; set && s < set->num_shards(); ++s) needed += set->body_bytes(s);
  try {
    const std::int64_t room = room_for_copies(to);
    const std::string both = fmt::format("{} of shards, room for {}", human_bytes(needed), human_bytes(room));
    if (needed <= room) return ok(both);
    return warning(both + ": the shards that do not fit are read from their original files, in every epoch");
  } catch (const Error& error) {
    return fails(error.what());
  }
}

std::optional<io::Dataset> take(std::vector<Split>& splits, std::vector<std::optional<io::Dataset>>& opened,
                                const std::string& key) {
  for (std::size_t i = 0; i < splits.size(); ++i)
    if (splits[i].key == key) return std::move(opened[i]);
  return std::nullopt;
}

}  // namespace

ParameterState check_parameters(const Request& request, Report& report) {
  const mpi::Communicator& world = report.world();
  const std::string mine = fmt::format("{:016x}", std::hash<std::string>{}(render(request.params)));
  const std::string of_root = world.broadcast(mine, 0);
  ParameterState state{.is_common = world.max(mine == of_root ? 0 : 1) == 0};
  if (world.max(request.problems.empty() ? 0 : 1) > 0) {
    add_problems(request.problems, report);
    return state;
  }
  const std::string problem = state.is_common ? find_grid_problem(request.params, world.size()) : "";
  state.is_sound = state.is_common && problem.empty();
  if (problem.empty())
    report.add_agreement(kCheck, "no key is refused; fingerprint " + mine, Outcome::kFails,
                         "Give all hosts the same parameter files.");
  else
    report.add(kCheck, fails(problem));
  for (const std::string& doubt : warnings_for(request.params)) report.add(kCheck, warning(doubt));
  return state;
}

std::optional<RunData> check_data(const Parameters& params, Report& report, StatusBoard& board) {
  board.enter(Activity::kOpeningData);
  std::vector<Split> splits = splits_of(params.data);
  std::vector<std::optional<io::Dataset>> opened(splits.size());
  bool all_open = true;
  for (std::size_t i = 0; i < splits.size(); ++i)
    all_open = check_split(splits[i], params, opened[i], report) && all_open;
  if (params.check.hash) {
    report.add_of_all("hashes", hash_shards(splits, report.world(), board));
  } else {
    report.add("hashes", not_checked("only the heads of the shards were read; check.hash = true reads every byte"));
  }
  if (params.data.copy_to != "none") report.add_of_all("copies", check_copies(params.data.copy_to, opened));
  auto train = take(splits, opened, "data.train"), val = take(splits, opened, "data.val"),
       test = take(splits, opened, "data.test");
  const bool has_all = train && (val || test || params.data.fold > 0);
  if (!all_open || !has_all) {
    report.add("data fit", not_checked(has_all ? "not all ranks have opened the same data" : "data are missing"));
    return std::nullopt;
  }
  try {
    RunData data(params, report.world(), std::move(*train), std::move(val), std::move(test));
    report.add("data fit", ok(fmt::format("the splits have the same classes, and {}s that one network can read",
                                          input_kinds::one_of(data.metadata.kind()))));
    for (const std::string& gap : data.gaps()) report.add("data fit", warning(gap));
    return data;
  } catch (const Error& error) {  // the same on all ranks
    report.add("data fit", fails(error.what()));
    return std::nullopt;
  }
}

}  // namespace convoy::preflight
