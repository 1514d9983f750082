/// A vote between computations, then a walk along the micro-batch's way to the first tensor that differs.
#include "audit/judge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "step/step_audit.h"

namespace convoy {

namespace {

using Kind = ChecksumItem::Kind;

/// A micro-batch through all stages of a replica.
struct Passage {
  std::int64_t replica = 0;                        ///< the replica that computed it
  std::vector<std::vector<std::uint64_t>> stages;  ///< the checksums of each stage
};

/// The location of a checksum.
struct Location {
  std::int64_t stage = 0;
  std::size_t index = 0;  ///< among the stage's checksums
};

class Judge {
 public:
  Judge(const GridShape& grid, const std::vector<std::vector<ChecksumItem>>& items,
        const std::vector<AuditEvidence>& ranks)
      : grid_(grid), items_(items), ranks_(ranks) {}

  std::vector<AuditFinding> run() {
    find_changed_memory();
    if (findings_.empty()) find_differing_parameters();
    if (!findings_.empty()) return findings_;
    order_items();
    for (std::int64_t replica = 0; replica < grid_.replicas; ++replica) compare_passages(replica);
    drop_doubts();
    return findings_;
  }

 private:
  const AuditEvidence& evidence(std::int64_t replica, std::int64_t stage) const {
    return ranks_[replica * grid_.stages + stage];
  }
  std::int64_t wrapped(std::int64_t replica) const { return (replica + grid_.replicas) % grid_.replicas; }

  void find_changed_memory() {
    for (std::int64_t r = 0; r < grid_.replicas; ++r)
      for (std::int64_t s = 0; s < grid_.stages; ++s)
        if (const std::uint64_t changes = evidence(r, s).memory_changes; changes != 0)
          findings_.push_back(
              {.kind = AuditFinding::Kind::kMemory, .replica = r, .stage = s, .memory_changes = changes, .item = {}});
  }

  // The parameters that most replicas of a stage have are right; without a majority all replicas are named.
  void find_differing_parameters() {
    for (std::int64_t s = 0; s < grid_.stages; ++s) {
      std::map<std::uint64_t, std::int64_t> count;
      for (std::int64_t r = 0; r < grid_.replicas; ++r) ++count[evidence(r, s).parameters];
      if (count.size() == 1) continue;
      const auto most = std::ranges::max_element(count, {}, [](const auto& of_checksum) { return of_checksum.second; });
      const bool is_certain = 2 * most->second > grid_.replicas;
      for (std::int64_t r = 0; r < grid_.replicas; ++r) {
        if (is_certain && evidence(r, s).parameters == most->first) continue;
        findings_.push_back(
            {.kind = AuditFinding::Kind::kParameters, .replica = r, .stage = s, .is_certain = is_certain, .item = {}});
      }
    }
  }

  // Forward through the virtual stages, the loss, and back. What a virtual stage computes follows from its input alone,
  // so the first checksum that differs names the rank that was wrong. Backward completes buckets from the last one on.
  void order_items() {
    const auto add = [&](std::int64_t virtual_stage, std::initializer_list<Kind> kinds) {
      const std::int64_t stage = virtual_stage % grid_.stages, chunk = virtual_stage / grid_.stages;
      const std::vector<ChecksumItem>& items = items_[stage];
      for (const Kind kind : kinds) {
        const std::size_t before = way_.size();
        for (std::size_t i = 0; i < items.size(); ++i)
          if (items[i].kind == kind && (items[i].chunk == chunk || kind == Kind::kLoss))
            way_.push_back({.stage = stage, .index = i});
        std::reverse(way_.begin() + static_cast<std::ptrdiff_t>(before), way_.end());
      }
    };
    std::int64_t chunks = 0;
    for (const ChecksumItem& item : items_.front()) chunks = std::max(chunks, item.chunk + 1);
    const std::int64_t last = chunks * grid_.stages - 1;
    for (std::int64_t v = 0; v <= last; ++v) add(v, {Kind::kFeatures, Kind::kInput, Kind::kOutput});
    add(last, {Kind::kLoss});
    for (std::int64_t v = last; v >= 0; --v)
      add(v, {Kind::kOutputGradient, Kind::kWeightGradient, Kind::kInputGradient});
  }

  // Returns all computations of that replica's micro-batch, by itself and by other replicas.
  std::vector<Passage> passages_of(std::int64_t replica) const {
    const std::pair<Computation, std::int64_t> computed[] = {{Computation::kOwn, replica},
                                                             {Computation::kNeighbour, wrapped(replica - 1)},
                                                             {Computation::kOwnAgain, replica},
                                                             {Computation::kNeighbourAgain, wrapped(replica - 1)},
                                                             {Computation::kSecond, wrapped(replica - 2)}};
    std::vector<Passage> passages;
    for (const auto& [computation, by] : computed) {
      if (computation == Computation::kSecond && grid_.replicas < 3) continue;
      Passage& passage = passages.emplace_back(Passage{.replica = by, .stages = {}});
      for (std::int64_t s = 0; s < grid_.stages; ++s)
        passage.stages.push_back(evidence(by, s).checksums[static_cast<std::size_t>(computation)]);
    }
    return passages;
  }

  // A replica that contradicts itself was wrong at one of the times. The others are compared with each other.
  void compare_passages(std::int64_t replica) {
    std::map<std::int64_t, std::vector<Passage>> by_replica;
    for (Passage& passage : passages_of(replica)) by_replica[passage.replica].push_back(std::move(passage));
    std::vector<Passage> consistent;
    for (const auto& of_replica : by_replica) {
      const std::vector<Passage>& passages = of_replica.second;
      const Passage& first = passages.front();
      const auto other =
          std::ranges::find_if(passages, [&](const Passage& passage) { return passage.stages != first.stages; });
      if (other != passages.end()) {
        add_wrong(first, *other, true);
      } else {
        consistent.push_back(first);
      }
    }
    compare_consistent(consistent);
  }

  // A result that two of them have computed is right, unless two others have another result.
  void compare_consistent(const std::vector<Passage>& passages) {
    const auto support = [&](const Passage& passage) {
      return std::ranges::count(passages, passage.stages, &Passage::stages);
    };
    for (const Passage& passage : passages) {
      for (const Passage& other : passages) {
        if (other.stages == passage.stages) continue;
        const bool is_certain = support(other) >= 2 && support(passage) < 2;
        if (is_certain || support(passage) < 2) add_wrong(passage, other, is_certain);
      }
    }
  }

  std::optional<Location> first_difference(const Passage& a, const Passage& b) const {
    for (const Location& at : way_)
      if (a.stages[at.stage][at.index] != b.stages[at.stage][at.index]) return at;
    return std::nullopt;
  }

  // A rank that is certainly wrong explains why another could not be told from it.
  void drop_doubts() {
    if (std::ranges::any_of(findings_, &AuditFinding::is_certain))
      std::erase_if(findings_, [](const AuditFinding& finding) { return !finding.is_certain; });
  }

  // Names each rank once, and as certain if one of its findings is.
  void add_wrong(const Passage& wrong, const Passage& other, bool is_certain) {
    const std::optional<Location> at = first_difference(wrong, other);
    if (!at) return;
    const auto known = std::ranges::find_if(findings_, [&](const AuditFinding& finding) {
      return finding.replica == wrong.replica && finding.stage == at->stage;
    });
    if (known != findings_.end() && (known->is_certain || !is_certain)) return;
    if (known != findings_.end()) findings_.erase(known);
    findings_.push_back({.kind = AuditFinding::Kind::kComputation,
                         .replica = wrong.replica,
                         .stage = at->stage,
                         .is_certain = is_certain,
                         .item = items_[at->stage][at->index]});
  }

  GridShape grid_;
  const std::vector<std::vector<ChecksumItem>>& items_;
  const std::vector<AuditEvidence>& ranks_;
  std::vector<Location> way_;  ///< all checksums, as a micro-batch comes to them
  std::vector<AuditFinding> findings_;
};

// The parts whose bits are set in memory_changes: "the parameters and the optimizer's state 1".
std::string changed_parts(const AuditFinding& finding, const StepPlan& plan) {
  const RuntimeSpec& spec = plan.spec();
  const bool has_ema = spec.train.ema_decay > 0;
  const std::vector<std::string> names =
      MemoryChecksums::names(spec.network.type != DataType::kFloat32, plan.num_states() - (has_ema ? 1 : 0), has_ema);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if ((finding.memory_changes >> i & 1) == 0) continue;
    text += (text.empty() ? "" : " and ") + names[i];
  }
  return text;
}

std::string describe_item(const AuditFinding& finding, const StepPlan& plan) {
  const StagePlan& stage = plan.stages()[finding.stage];
  const ChecksumItem& item = finding.item;
  const std::int64_t stages = plan.grid().stages;
  const std::int64_t before = (finding.stage + stages - 1) % stages, after = (finding.stage + 1) % stages;
  switch (item.kind) {
    case ChecksumItem::Kind::kFeatures:
      return "the samples that it loaded are";
    case ChecksumItem::Kind::kInput:
      return fmt::format(
          "the activations that it received from stage {} (its own memory or the link may be faulty) are", before);
    case ChecksumItem::Kind::kOutput:
      return fmt::format("the output of {} is", cell_names(plan.network(), {stage.chunks[item.chunk].cells}));
    case ChecksumItem::Kind::kLoss:
      return "the loss is";
    case ChecksumItem::Kind::kOutputGradient:
      if (stage.chunks[item.chunk].is_last) return "the loss's gradient is";
      return fmt::format("the gradient that it received from stage {} (its own memory or the link may be faulty) is",
                         after);
    case ChecksumItem::Kind::kWeightGradient:
      return fmt::format("the gradients of the parameters of {} are",
                         cell_names(plan.network(), {stage.layout.buckets[item.bucket].cells}));
    case ChecksumItem::Kind::kInputGradient:
      return fmt::format("the gradient that it computed for stage {} is", before);
  }
  return "";
}

std::string describe_what(const AuditFinding& finding, const StepPlan& plan) {
  switch (finding.kind) {
    case AuditFinding::Kind::kMemory:
      return fmt::format("{} changed in its memory between two updates, although the program wrote nothing there",
                         changed_parts(finding, plan));
    case AuditFinding::Kind::kParameters:
      return finding.is_certain ? "its parameters are not those of the other replicas"
                                : "its parameters are not those of another replica";
    case AuditFinding::Kind::kComputation:
      return fmt::format("{} not the same as in {} for the same micro-batch", describe_item(finding, plan),
                         finding.is_certain ? "other computations" : "another replica");
  }
  return "";
}

}  // namespace

std::vector<AuditFinding> judge(const GridShape& grid, const std::vector<std::vector<ChecksumItem>>& items,
                                const std::vector<AuditEvidence>& ranks) {
  return Judge(grid, items, ranks).run();
}

std::string describe_finding(const AuditFinding& finding, const StepPlan& plan,
                             const std::vector<std::string>& places) {
  const std::int64_t rank = finding.replica * plan.grid().stages + finding.stage;
  return fmt::format("rank {} (replica {}, stage {}) on {}: {}", rank, finding.replica, finding.stage, places[rank],
                     describe_what(finding, plan));
}

}  // namespace convoy
