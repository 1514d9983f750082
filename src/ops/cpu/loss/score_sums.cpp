/// Sums of scores on the CPU: a few values per sample.
#include "convoy/ops/score_sums.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

namespace {

class CpuScoreSums final : public ScoreSumsOp {
 public:
  explicit CpuScoreSums(const ScoreSumsSpec& spec) : spec_(spec) {}

  void run(const ScoreSumsArguments& args) override {
    for (std::int64_t o = 0; o < spec_.num_objectives; ++o) {
      LossSums sums;
      for (const SampleScore* score = args.scores + o * spec_.n; score != args.scores + (o + 1) * spec_.n; ++score) {
        sums.loss += double{score->loss};
        sums.num_correct += static_cast<std::int64_t>(score->num_correct);
        sums.num_labels += static_cast<std::int64_t>(score->num_labels);
        sums.num_samples += score->num_labels > 0 ? 1 : 0;
      }
      args.sums[o] = sums;
    }
    if (args.dscores == nullptr) return;
    const auto scale = static_cast<float>(double{args.loss_scale} * double{spec_.gradient_scale});
    std::fill_n(args.dscores, spec_.num_objectives * spec_.n, SampleScore{.loss = scale});
  }

 private:
  ScoreSumsSpec spec_;
};

}  // namespace

template <>
std::unique_ptr<ScoreSumsOp> make_op(const ScoreSumsSpec& spec, const Resources&) {
  return std::make_unique<CpuScoreSums>(spec);
}

}  // namespace convoy::ops::cpu
