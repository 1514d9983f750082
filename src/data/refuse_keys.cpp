/// Compares keys with their defaults.
#include "data/refuse_keys.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/params/parse.h"

namespace convoy {

namespace {

constexpr std::string_view kKeysOfArrays[] = {"augment.flip_rows", "augment.turn", "augment.factor", "augment.noise"};

// The keys of imports that only one kind of samples takes.
constexpr std::pair<std::string_view, const char*> kImportKeys[] = {
    {"import.storage", input_kinds::kImages},
    {"import.size", input_kinds::kImages},
    {"import.resize", input_kinds::kImages},
    {"import.channels", input_kinds::kImages},
    {"import.orient", input_kinds::kImages},
    {"import.tokenizer", input_kinds::kText},
    {"import.vocabulary", input_kinds::kText},
    {"import.text_column", input_kinds::kText},
    {"import.label_column", input_kinds::kText},
    {"import.inputs", input_kinds::kArrays},
    {"import.target", input_kinds::kArrays},
    {"import.target_kind", input_kinds::kArrays},
    {"import.axes", input_kinds::kArrays},
    {"import.bad_values", input_kinds::kArrays},
    {"import.id", input_kinds::kArrays},
    {"import.group", input_kinds::kArrays},
    {"import.test_fraction", input_kinds::kArrays},
    {"import.val_rows", input_kinds::kArrays},
    {"import.test_rows", input_kinds::kArrays},
};

std::string samples_of(const std::string& kind) {
  return kind == input_kinds::kText ? "texts" : kind;
}

}  // namespace

void refuse_augmentation(const AugmentParams& asked, const io::DatasetInfo& data) {
  const Parameters plain;
  Parameters given;
  given.augment = asked;
  for (const KeyChange& change : changed_keys(plain, given)) {
    const bool is_of_arrays = std::ranges::find(kKeysOfArrays, change.key) != std::end(kKeysOfArrays);
    refuse("{} = {} changes {}, and {} holds {}. Leave it out", change.key, change.after,
           is_of_arrays ? "arrays" : "images", data.source, samples_of(data.kind));
  }
}

void refuse_import_keys(const ImportParams& given, const std::string& kind) {
  Parameters asked;
  asked.import = given;
  for (const KeyChange& change : changed_keys({}, asked)) {
    const auto* const found =
        std::ranges::find(kImportKeys, change.key, &std::pair<std::string_view, const char*>::first);
    if (found == std::end(kImportKeys) || found->second == kind) continue;
    refuse("{} is for {}; '{}' holds {}. Leave it out{}", change.key, samples_of(found->second), given.source,
           samples_of(kind), given.format == ImportFormat::kAuto ? ", or give import.format" : "");
  }
}

void refuse_mirrors(SampleView view, const io::DatasetInfo& data) {
  if (view == SampleView::kMirrored)
    refuse("evaluate.mirror = true mirrors images, and {} holds {}. Leave it out", data.source, samples_of(data.kind));
}

}  // namespace convoy
