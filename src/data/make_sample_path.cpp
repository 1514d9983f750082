/// Has one line for each kind of input.
#include "convoy/data/make_sample_path.h"

#include "convoy/base/error.h"
#include "convoy/base/features.h"

#include "data/arrays/array_path.h"
#include "data/images/image_path.h"
#include "data/text/text_path.h"

namespace convoy {

std::unique_ptr<SamplePath> make_sample_path(const SamplePathSpec& spec) {
  const std::string& kind = spec.samples.info().kind;
  if (kind == input_kinds::kImages) return make_image_path(spec);
  if (kind == input_kinds::kText) return make_text_path(spec);
  if (kind == input_kinds::kArrays) return make_array_path(spec);
  fail("this program cannot read samples of kind {} from {}", kind, spec.samples.info().source);
}

}  // namespace convoy
