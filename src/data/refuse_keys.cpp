/// Compares keys with their defaults.
#include "data/refuse_keys.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "convoy/base/error.h"
#include "convoy/params/parse.h"

namespace convoy {

namespace {

constexpr std::string_view kKeysOfArrays[] = {"augment.flip_rows", "augment.turn", "augment.factor", "augment.noise"};

std::string samples_of(const io::DatasetInfo& data) {
  return data.kind == input_kinds::kText ? "texts" : data.kind;
}

}  // namespace

void refuse_augmentation(const AugmentParams& asked, const io::DatasetInfo& data) {
  const Parameters plain;
  Parameters given;
  given.augment = asked;
  for (const KeyChange& change : changed_keys(plain, given)) {
    const bool is_of_arrays = std::ranges::find(kKeysOfArrays, change.key) != std::end(kKeysOfArrays);
    refuse("{} = {} changes {}, and {} holds {}. Leave it out", change.key, change.after,
           is_of_arrays ? "arrays" : "images", data.source, samples_of(data));
  }
}

void refuse_mirrors(SampleView view, const io::DatasetInfo& data) {
  if (view == SampleView::kMirrored)
    refuse("evaluate.mirror = true mirrors images, and {} holds {}. Leave it out", data.source, samples_of(data));
}

}  // namespace convoy
