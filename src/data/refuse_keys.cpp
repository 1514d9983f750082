/// Compares keys with their defaults.
#include "data/refuse_keys.h"

#include "convoy/base/error.h"
#include "convoy/params/parse.h"

namespace convoy {

void refuse_keys_of_images(const AugmentParams& asked, SampleView view, const io::DatasetInfo& data) {
  const std::string held = data.kind == input_kinds::kText ? "texts" : data.kind;
  const Parameters plain;
  Parameters given;
  given.augment = asked;
  for (const KeyChange& change : changed_keys(plain, given))
    refuse("{} = {} changes images, and {} holds {}. Leave it out", change.key, change.after, data.source, held);
  if (view == SampleView::kMirrored)
    refuse("evaluate.mirror = true mirrors images, and {} holds {}. Leave it out", data.source, held);
}

}  // namespace convoy
