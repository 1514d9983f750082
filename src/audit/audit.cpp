/// One computation before the step, and up to three after it if something differs.
#include "audit/audit.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>

#include <fmt/core.h>

#include "convoy/base/host_name.h"
#include "convoy/base/random.h"
#include "convoy/comm/gather.h"
#include "convoy/comm/tags.h"

namespace convoy {

namespace {

std::string own_place(Device& device) {
  const char* const slurm = std::getenv("SLURMD_NODENAME");  // the name that sbatch --exclude knows
  const std::string hardware = device.hardware_id();
  return fmt::format("{}, {}", slurm != nullptr ? slurm : host_name(),
                     hardware.empty() ? device.description() : hardware);
}

std::int64_t num_computations(const GridShape& grid) {
  return grid.replicas >= 3 ? kNumComputations : kNumComputations - 1;
}

}  // namespace

bool Audit::is_due(std::int64_t step) const {
  const std::int64_t every = runtime_.plan().spec().run.audit_every;
  return every > 0 && step % every == 0;
}

std::int64_t Audit::replica_after(std::int64_t shift) const {
  const ProcessGrid& grid = runtime_.grid();
  return (grid.replica() + shift + grid.num_replicas()) % grid.num_replicas();
}

// Chooses a micro-batch that all replicas have, of an even number: the gradient tree adds nothing to its gradients
// before they are read.
std::int64_t Audit::choose_micro_batch(std::int64_t step) const {
  const StepPlan& plan = runtime_.plan();
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t r = 0; r < plan.grid().replicas; ++r) fewest = std::min(fewest, plan.micro_batches_of(r).size());
  const RandomKey key{.seed = plan.spec().train.seed, .purpose = Purpose::kAudit};
  const auto num_even = static_cast<std::uint64_t>((fewest + 1) / 2);
  return 2 * static_cast<std::int64_t>(random_below(key, static_cast<std::uint64_t>(step), num_even));
}

// Returns the micro-batch's number in the whole step.
std::int64_t Audit::number_of(std::int64_t micro_batch, std::int64_t shift) const {
  return runtime_.plan().micro_batches_of(replica_after(shift)).begin + micro_batch;
}

void Audit::prepare(std::int64_t step) {
  prepared_ = open_(step, number_of(choose_micro_batch(step), 1));
  prepared_step_ = step;
}

void Audit::begin(std::int64_t step) {
  if (prepared_ == nullptr || prepared_step_ != step) prepare(step);
  step_ = step;
  draws_for_ = training_.counts().steps;
  micro_batch_ = choose_micro_batch(step);
  training_.runtime().finish();
  training_.audit()->memory().take();
  neighbour_ = compute(1, *prepared_);
  prepared_.reset();
  training_.audit()->begin(micro_batch_, exchange(neighbour_));
}

// Computes the micro-batch of the replica that is `shift` after this one.
std::vector<std::uint64_t> Audit::compute(std::int64_t shift, BatchSource& source) {
  const std::span<const std::uint64_t> checksums =
      training_.audit()->repeat().run(source, number_of(micro_batch_, shift), draws_for_);
  return {checksums.begin(), checksums.end()};
}

std::vector<std::uint64_t> Audit::compute_again(std::int64_t shift) {
  const std::unique_ptr<BatchSource> source = open_(step_, number_of(micro_batch_, shift));
  return compute(shift, *source);
}

// Exchanges checksums with the ranks of this stage in the replicas before and after this one.
StepAudit::Expected Audit::exchange(const std::vector<std::uint64_t>& neighbour) const {
  const ProcessGrid& grid = runtime_.grid();
  std::vector<std::uint64_t> sent = {training_.audit()->memory().parameters()};
  sent.insert(sent.end(), neighbour.begin(), neighbour.end());
  std::vector<std::uint64_t> received = sent;
  if (grid.num_replicas() > 1) {
    const auto size_bytes = static_cast<std::int64_t>(std::span(sent).size_bytes());
    const int after = grid.world_rank(replica_after(1), grid.stage());
    const int before = grid.world_rank(replica_after(-1), grid.stage());
    mpi::Request receive = grid.world().start_receive(received.data(), size_bytes, before, tags::kAudit);
    mpi::Request send = grid.world().start_send(sent.data(), size_bytes, after, tags::kAudit);
    receive.wait();
    send.wait();
  }
  return {.parameters = received.front(), .micro_batch = {received.begin() + 1, received.end()}};
}

Audit::Result Audit::settle() {
  const StepPlan& plan = runtime_.plan();
  const std::span<const std::uint64_t> own = training_.audit()->micro_batch().values();
  std::vector<std::vector<std::uint64_t>> checksums = {
      {own.begin(), own.end()}, neighbour_, compute_again(0), compute_again(1)};
  if (plan.grid().replicas >= 3) checksums.push_back(compute_again(2));
  const std::vector<std::uint64_t> all = mpi::gather_values(runtime_.grid().world(), own_evidence(checksums));
  Result result{.findings = {}, .places = mpi::gather_texts(runtime_.grid().world(), own_place(runtime_.device()))};
  if (!runtime_.grid().is_root()) return result;
  std::vector<std::vector<ChecksumItem>> items;
  for (const StagePlan& stage : plan.stages()) items.push_back(checksum_items(stage));
  std::vector<AuditEvidence> evidence;
  auto number = all.begin();
  const auto next = [&number] { return *number++; };
  for (std::int64_t rank = 0; rank < plan.grid().ranks(); ++rank) {
    AuditEvidence& of_rank = evidence.emplace_back();
    of_rank.memory_changes = next();
    of_rank.parameters = next();
    for (std::int64_t i = 0; i < num_computations(plan.grid()); ++i)
      std::ranges::generate(of_rank.checksums.emplace_back(items[rank % plan.grid().stages].size()), next);
  }
  result.findings = judge(plan.grid(), items, evidence);
  return result;
}

std::vector<std::uint64_t> Audit::own_evidence(const std::vector<std::vector<std::uint64_t>>& checksums) const {
  StepAudit& audit = *training_.audit();
  std::vector<std::uint64_t> numbers = {audit.memory_changes(), audit.memory().parameters()};
  for (const std::vector<std::uint64_t>& computed : checksums)
    numbers.insert(numbers.end(), computed.begin(), computed.end());
  return numbers;
}

}  // namespace convoy
