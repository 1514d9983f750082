/// Finds which rank of an audited step is wrong, from the checksums that all ranks have computed for the same
/// micro-batches, and describes it in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/comm/process_grid.h"

#include "plan/step_plan.h"
#include "step/micro_batch_checksums.h"

namespace convoy {

/// Which micro-batch a replica has computed, and when. AuditEvidence::checksums has this order.
enum class Computation {
  kOwn,             ///< its own micro-batch, in the step
  kNeighbour,       ///< that of the next replica, before the step; the last replica computes that of the first
  kOwnAgain,        ///< its own micro-batch, again after the step
  kNeighbourAgain,  ///< that of the next replica, again after the step
  kSecond,          ///< that of the replica after the next, after the step; only with three replicas or more
};
/// Number of values of Computation.
inline constexpr std::int64_t kNumComputations = 5;

/// The checksums of one rank for a step that an audit has refused.
struct AuditEvidence {
  std::uint64_t memory_changes = 0;                   ///< parts that have changed: bits of MemoryChecksums::changes()
  std::uint64_t parameters = 0;                       ///< checksum of the parameters before the step
  std::vector<std::vector<std::uint64_t>> checksums;  ///< by Computation: MicroBatchChecksums::values()
};

/// A rank that is wrong, and what is wrong.
struct AuditFinding {
  enum class Kind {
    kMemory,      ///< its memory changed between two updates, although nothing wrote to it
    kParameters,  ///< its parameters differ from those of other replicas
    kComputation  ///< one of its results differs from that of another rank, or from its own at another time
  };

  Kind kind = Kind::kComputation;
  std::int64_t replica = 0, stage = 0;
  bool is_certain = true;            ///< false: another finding may be the cause instead
  std::uint64_t memory_changes = 0;  ///< for kMemory: parts that have changed, bits of MemoryChecksums::changes()
  ChecksumItem item;  ///< for kComputation: the first item that differs, in the order in which a step computes them
};

/// Finds which ranks are wrong; empty if all agree. `ranks` has the evidence of all ranks of the grid, by rank, and
/// `items` the checksum_items() of each stage. The rules:
/// - Ranks whose memory has changed, or else ranks whose parameters differ, explain all differing results: if there are
///   any, only they are named.
/// - A replica with two different results for one micro-batch was wrong once.
/// - Among replicas that repeat their own result, two that agree are right.
/// - If only two replicas are left and differ, either may be wrong: both are named as not certain.
std::vector<AuditFinding> judge(const GridShape& grid, const std::vector<std::vector<ChecksumItem>>& items,
                                const std::vector<AuditEvidence>& ranks);

/// Returns "rank 5 (replica 2, stage 1) on node7, GPU-5e1f: the output of layer2.0 .. layer2.3 is not what other
/// computations gave for the same micro-batch". `places` is Audit::Result::places: "node7, GPU-5e1f" for each rank.
std::string describe_finding(const AuditFinding& finding, const StepPlan& plan, const std::vector<std::string>& places);

}  // namespace convoy
