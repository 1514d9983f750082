/// Five checksums for each chunk, one for the loss, then one for each bucket.
#include "step/micro_batch_record.h"

#include <algorithm>

namespace convoy {

namespace {

using Kind = RecordItem::Kind;

constexpr Kind kOfChunk[] = {Kind::kFeatures, Kind::kInput, Kind::kOutput, Kind::kOutputGradient, Kind::kInputGradient};

}  // namespace

std::vector<RecordItem> record_items(const StagePlan& plan) {
  std::vector<RecordItem> items;
  for (std::int64_t chunk = 0; chunk < std::ssize(plan.chunks); ++chunk)
    for (const Kind kind : kOfChunk) items.push_back({.kind = kind, .chunk = chunk});
  items.push_back({.kind = Kind::kLoss});
  for (std::int64_t chunk = 0; chunk < std::ssize(plan.layout.runs); ++chunk) {
    const ArenaRun& run = plan.layout.runs[chunk];
    for (std::int64_t b = 0; b < run.num_buckets; ++b)
      items.push_back({.kind = Kind::kWeightGradient, .chunk = chunk, .bucket = run.first_bucket + b});
  }
  return items;
}

MicroBatchRecord::MicroBatchRecord(const StagePlan& plan, Device& device, ops::ElementwiseOps& elementwise)
    : plan_(plan),
      elementwise_(elementwise),
      sums_(device, std::ssize(record_items(plan)) * static_cast<std::int64_t>(sizeof(std::uint64_t))) {}

void MicroBatchRecord::begin(std::int64_t m) {
  std::ranges::fill(sums_.as<std::uint64_t>(), 0);
  micro_batch_ = m;
}

std::uint64_t* MicroBatchRecord::sum_of(Kind kind, std::int64_t chunk) const {
  std::uint64_t* const sums = sums_.as<std::uint64_t>().data();
  if (kind == Kind::kLoss) return sums + std::size(kOfChunk) * plan_.chunks.size();
  return sums + std::ssize(kOfChunk) * chunk + (std::ranges::find(kOfChunk, kind) - std::begin(kOfChunk));
}

void MicroBatchRecord::add(Kind kind, std::int64_t chunk, const void* data, std::int64_t size_bytes) {
  elementwise_.add_checksum(data, size_bytes, sum_of(kind, chunk));
}

void MicroBatchRecord::add_weight_gradients(std::int64_t chunk, const CellRange& cells, const float* gradients) {
  std::uint64_t* const first = sum_of(Kind::kLoss, 0) + 1;
  const ArenaRun& run = plan_.layout.runs[chunk];
  for (std::int64_t b = run.first_bucket; b < run.first_bucket + run.num_buckets; ++b) {
    const Bucket& bucket = plan_.layout.buckets[b];
    if (bucket.cells.begin < cells.begin || bucket.cells.end > cells.end) continue;
    elementwise_.add_checksum(gradients + bucket.begin, bucket.count() * kFloatBytes, first + b);
  }
}

}  // namespace convoy
