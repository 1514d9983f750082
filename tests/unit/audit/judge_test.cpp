/// Who is named, for made-up evidence of grids of all shapes.
#include "audit/judge.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace convoy {
namespace {

using Kind = ChecksumItem::Kind;

/// Two buckets, without chunks of its own.
const std::vector<ChecksumItem> kItems = {{.kind = Kind::kFeatures},
                                          {.kind = Kind::kInput},
                                          {.kind = Kind::kOutput},
                                          {.kind = Kind::kOutputGradient},
                                          {.kind = Kind::kInputGradient},
                                          {.kind = Kind::kLoss},
                                          {.kind = Kind::kWeightGradient, .bucket = 0},
                                          {.kind = Kind::kWeightGradient, .bucket = 1}};
constexpr std::size_t kOutput = 2, kInputGradient = 4, kBucket0 = 6, kBucket1 = 7;

/// All ranks agree, until a test says otherwise.
class Evidence {
 public:
  Evidence(std::int64_t replicas, std::int64_t stages)
      : grid_{.stages = stages, .replicas = replicas}, items_(static_cast<std::size_t>(stages), kItems) {
    for (std::int64_t rank = 0; rank < grid_.ranks(); ++rank) {
      AuditEvidence& of_rank = ranks_.emplace_back();
      of_rank.parameters = 100 + static_cast<std::uint64_t>(rank % stages);
      for (std::int64_t c = 0; c < kNumComputations; ++c)
        of_rank.checksums.emplace_back(kItems.size(), 1 + static_cast<std::uint64_t>(rank % stages));
    }
  }

  AuditEvidence& of(std::int64_t replica, std::int64_t stage) {
    return ranks_[static_cast<std::size_t>(replica * grid_.stages + stage)];
  }
  std::uint64_t& at(std::int64_t replica, std::int64_t stage, Computation computation, std::size_t item) {
    return of(replica, stage).checksums[static_cast<std::size_t>(computation)][item];
  }
  /// That rank gives something else, and so do all that compute from what it gives in the same passage.
  void spoil(std::int64_t replica, std::int64_t stage, Computation computation, std::size_t item) {
    at(replica, stage, computation, item) = 77;
    for (std::int64_t s = stage + 1; item == kOutput && s < grid_.stages; ++s)
      for (std::size_t i = 1; i < kItems.size(); ++i) at(replica, s, computation, i) = 77;
    for (std::int64_t s = item == kOutput ? grid_.stages - 1 : stage - 1; s >= 0; --s)
      for (const std::size_t i : {kInputGradient - 1, kInputGradient, kBucket0, kBucket1})
        at(replica, s, computation, i) = 77;
  }
  std::vector<AuditFinding> judged() const { return judge(grid_, items_, ranks_); }

 private:
  GridShape grid_;
  std::vector<std::vector<ChecksumItem>> items_;
  std::vector<AuditEvidence> ranks_;
};

using Finding = AuditFinding::Kind;

/// One rank, for certain.
void expect_rank(const std::vector<AuditFinding>& findings, Finding kind, std::int64_t replica, std::int64_t stage) {
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, kind);
  EXPECT_EQ(findings[0].replica, replica);
  EXPECT_EQ(findings[0].stage, stage);
  EXPECT_TRUE(findings[0].is_certain);
}

void expect_one(const std::vector<AuditFinding>& findings, std::int64_t replica, std::int64_t stage, Kind item) {
  expect_rank(findings, Finding::kComputation, replica, stage);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].item.kind, item);
}

TEST(Judge, FindsNothingWhereAllAgree) {
  for (const std::int64_t replicas : {1, 2, 3, 4})
    for (const std::int64_t stages : {1, 2, 3}) EXPECT_TRUE(Evidence(replicas, stages).judged().empty());
}

TEST(Judge, NamesTheFirstStageThatDiffersInTheForward) {
  for (const std::int64_t replicas : {1, 2, 3, 4}) {
    Evidence evidence(replicas, 3);
    evidence.spoil(0, 1, Computation::kOwn, kOutput);
    expect_one(evidence.judged(), 0, 1, Kind::kOutput);
  }
}

TEST(Judge, NamesTheFirstStageThatDiffersInTheBackward) {
  Evidence evidence(2, 3);
  evidence.spoil(1, 1, Computation::kOwn, kBucket0);
  expect_one(evidence.judged(), 1, 1, Kind::kWeightGradient);
}

TEST(Judge, NamesTheLaterBucketFirst) {
  Evidence evidence(2, 1);
  evidence.at(1, 0, Computation::kOwn, kBucket0) = 77;
  evidence.at(1, 0, Computation::kOwn, kBucket1) = 78;
  const std::vector<AuditFinding> findings = evidence.judged();
  expect_one(findings, 1, 0, Kind::kWeightGradient);
  EXPECT_EQ(findings[0].item.bucket, 1) << "backward completes it first";
}

TEST(Judge, NamesTheReplicaThatComputedANeighboursMicroBatchWrongly) {
  for (const std::int64_t replicas : {2, 3, 4}) {
    Evidence evidence(replicas, 2);
    evidence.spoil(1, 0, Computation::kNeighbour, kOutput);
    expect_one(evidence.judged(), 1, 0, Kind::kOutput);
  }
}

TEST(Judge, OfThreeReplicasNamesTheOneThatIsAlwaysWrong) {
  Evidence evidence(3, 2);
  for (std::int64_t c = 0; c < kNumComputations; ++c) evidence.spoil(2, 1, static_cast<Computation>(c), kOutput);
  expect_one(evidence.judged(), 2, 1, Kind::kOutput);
}

TEST(Judge, OfTwoReplicasThatInsistNamesBothInDoubt) {
  Evidence evidence(2, 1);
  for (std::int64_t c = 0; c < kNumComputations; ++c) evidence.spoil(1, 0, static_cast<Computation>(c), kOutput);
  const std::vector<AuditFinding> findings = evidence.judged();
  ASSERT_EQ(findings.size(), 2U);
  for (const AuditFinding& finding : findings) EXPECT_FALSE(finding.is_certain);
  EXPECT_NE(findings[0].replica, findings[1].replica);
}

TEST(Judge, NamesTheReplicaThatContradictsItselfThoughItsResultsAreAllWrong) {
  Evidence evidence(2, 1);
  evidence.at(0, 0, Computation::kOwn, kOutput) = 70;
  evidence.at(0, 0, Computation::kOwnAgain, kOutput) = 71;
  expect_one(evidence.judged(), 0, 0, Kind::kOutput);
}

TEST(Judge, OfOneReplicaThatGivesAnotherResultEachTimeIsCertain) {
  Evidence evidence(1, 2);
  for (std::int64_t c = 0; c < kNumComputations; ++c)
    evidence.at(0, 1, static_cast<Computation>(c), kOutput) = 70 + static_cast<std::uint64_t>(c);
  expect_one(evidence.judged(), 0, 1, Kind::kOutput);
}

TEST(Judge, DropsWhatWasInDoubtWhereAnotherMicroBatchDecides) {
  Evidence evidence(2, 1);
  for (const Computation c : {Computation::kOwn, Computation::kOwnAgain}) evidence.at(1, 0, c, kOutput) = 70;
  evidence.at(1, 0, Computation::kNeighbour, kOutput) = 71;
  expect_one(evidence.judged(), 1, 0, Kind::kOutput);
}

TEST(Judge, BlamesAChangedMemoryForAllThatFollows) {
  Evidence evidence(2, 2);
  evidence.of(1, 0).memory_changes = 4;
  evidence.spoil(1, 0, Computation::kOwn, kOutput);
  evidence.of(0, 1).parameters = 5;
  const std::vector<AuditFinding> findings = evidence.judged();
  expect_rank(findings, Finding::kMemory, 1, 0);
  EXPECT_EQ(findings.front().memory_changes, 4U);
}

TEST(Judge, NamesTheReplicaWhoseParametersAreNotThoseOfTheMost) {
  Evidence evidence(3, 2);
  evidence.of(2, 1).parameters = 5;
  expect_rank(evidence.judged(), Finding::kParameters, 2, 1);
}

TEST(Judge, OfTwoReplicasWithDifferentParametersNamesBothInDoubt) {
  Evidence evidence(2, 1);
  evidence.of(0, 0).parameters = 5;
  const std::vector<AuditFinding> findings = evidence.judged();
  ASSERT_EQ(findings.size(), 2U);
  for (const AuditFinding& finding : findings) EXPECT_FALSE(finding.is_certain);
}

}  // namespace
}  // namespace convoy
