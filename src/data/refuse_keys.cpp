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

// The keys of imports that only one kind of samples takes.
constexpr struct {
  const char* kind;
  const char* samples;
  std::initializer_list<std::string_view> keys;
} kImportKeys[] = {
    {input_kinds::kImages,
     "images",
     {"import.storage", "import.size", "import.resize", "import.channels", "import.orient"}},
    {input_kinds::kText,
     "texts",
     {"import.tokenizer", "import.vocabulary", "import.text_column", "import.label_column"}},
    {input_kinds::kArrays,
     "arrays and tables of numbers",
     {"import.inputs", "import.target", "import.target_kind", "import.axes", "import.bad_values", "import.id",
      "import.group", "import.test_fraction", "import.val_rows", "import.test_rows"}},
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
  for (const KeyChange& change : changed_keys({}, asked))
    for (const auto& [own_kind, samples, keys] : kImportKeys)
      if (own_kind != kind && std::ranges::find(keys, change.key) != keys.end())
        refuse("{} is for {}; '{}' holds {}. Leave it out{}", change.key, samples, given.source, samples_of(kind),
               given.format == ImportFormat::kAuto ? ", or give import.format" : "");
}

void refuse_mirrors(SampleView view, const io::DatasetInfo& data) {
  if (view == SampleView::kMirrored)
    refuse("evaluate.mirror = true mirrors images, and {} holds {}. Leave it out", data.source, samples_of(data.kind));
}

}  // namespace convoy
