/// Finds which rank is not to be trusted, from what all ranks computed of the same micro-batches.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/comm/process_grid.h"

#include "step/micro_batch_record.h"

namespace convoy {

/// A replica's computations of a micro-batch, in the order of AuditEvidence::records.
enum class Computation {
  kOwn,             ///< its own micro-batch, in the step
  kNeighbour,       ///< the next replica's, before the step; the last replica computes the first one's
  kOwnAgain,        ///< its own, once more after the step
  kNeighbourAgain,  ///< the next replica's, once more after the step
  kSecond,          ///< that of the second replica after it, after the step; only with three replicas or more
};
inline constexpr std::int64_t kNumComputations = 5;

/// What one rank knows of the step that was found wrong.
struct AuditEvidence {
  std::uint64_t memory_changes = 0;                 ///< MemoryChecksums::changes()
  std::uint64_t parameters = 0;                     ///< checksum of the parameters before the step
  std::vector<std::vector<std::uint64_t>> records;  ///< checksums of each Computation
};

struct AuditFinding {
  enum class Kind {
    kMemory,      ///< memory changed between two updates, by itself
    kParameters,  ///< parameters differ from those of other replicas
    kComputation  ///< a computation gave another result than on another rank, or at another time
  };

  Kind kind = Kind::kComputation;
  std::int64_t replica = 0, stage = 0;
  bool is_certain = true;            ///< false: another finding may be the cause instead of this one
  std::uint64_t memory_changes = 0;  ///< for kMemory
  RecordItem item;                   ///< for kComputation: the first item that differs, in the order of the step
};

/// Finds on rank 0 which ranks were wrong; no findings mean that all agree. `ranks` has the evidence of all ranks of
/// the grid, in order, and `items` the record_items() of each stage. Changed memory explains all that was computed with
/// it, and so do differing parameters: if some ranks have such, only they are named. A replica that gave two results
/// for one micro-batch was wrong once. Of replicas that each repeat their result, two that agree are right; if only two
/// are left and differ, either may be wrong, and both are named as not certain.
std::vector<AuditFinding> judge(const GridShape& grid, const std::vector<std::vector<RecordItem>>& items,
                                const std::vector<AuditEvidence>& ranks);

}  // namespace convoy
