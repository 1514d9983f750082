/// Which rank is not to be trusted, from what all ranks computed of the same micro-batches.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/comm/process_grid.h"

#include "step/micro_batch_record.h"

namespace convoy {

/// A replica's computations of a micro-batch, in the order of AuditEvidence::records.
enum class Computation {
  kOwn,             ///< of its own micro-batch, in the step
  kNeighbour,       ///< before the step: of the one of the next replica, counted round
  kOwnAgain,        ///< after it
  kNeighbourAgain,  ///< after it
  kSecond,          ///< after it: of the one of the next replica but one; only of three replicas or more
};
inline constexpr std::int64_t kNumComputations = 5;

/// What one rank knows.
struct AuditEvidence {
  std::uint64_t memory_changes = 0;                 ///< as MemoryChecksums::changes()
  std::uint64_t parameters = 0;                     ///< their checksum before the step
  std::vector<std::vector<std::uint64_t>> records;  ///< by Computation
};

struct AuditFinding {
  enum class Kind {
    kMemory,      ///< it changed between two updates, without any
    kParameters,  ///< they differ from those of other replicas
    kComputation  ///< it gave something else than the same computation elsewhere, or at another time
  };

  Kind kind = Kind::kComputation;
  std::int64_t replica = 0, stage = 0;
  bool is_certain = true;            ///< else another finding may be the cause instead of this one
  std::uint64_t memory_changes = 0;  ///< of kMemory
  RecordItem item;                   ///< of kComputation: the first that differs, as the step comes to them
};

/// Rank 0's judgement. `ranks` are all of the grid, in order; `items` of each stage are record_items(). A changed
/// memory explains whatever was computed with it, and differing parameters likewise: where there are such ranks, only
/// they are named. A replica that gave two results for one micro-batch was wrong once. Of replicas that each repeat
/// theirs, what two have is right; of two alone either may be wrong, and both are named, which is not certain. No
/// findings: all agree.
std::vector<AuditFinding> judge(const GridShape& grid, const std::vector<std::vector<RecordItem>>& items,
                                const std::vector<AuditEvidence>& ranks);

}  // namespace convoy
