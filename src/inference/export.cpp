/// Converts a checkpoint to a safetensors file.
#include "convoy/base/error.h"
#include "convoy/base/print.h"
#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/safetensors.h"
#include "convoy/params/parse.h"

#include "checkpoint/weights_file.h"
#include "inference/check_output.h"
#include "inference/inference.h"
#include "run/restart.h"

namespace convoy {

ExitStatus export_weights(const Request& request) {
  const std::string& output = request.params.exporting.output;
  if (!output.ends_with(".safetensors"))
    refuse(
        "export.output = {} must end in .safetensors, the format that is written. tools/torch_weights makes a .pth of "
        "it.",
        output);
  const FoundFile found = find_weights(request);
  check_output({.key = "export.output",
                .path = output,
                .kind = "weights that convoy export has written",
                .is_earlier = io::is_own_safetensors_file},
               {found.path});
  const FileWeights weights = decode_weights(found.bytes, found.path, request.params.evaluate.weights, found.prefix);
  const io::StateDict& dict = weights.dict;
  std::int64_t values = 0;
  for (const io::NamedTensor& tensor : dict.tensors) values += std::ssize(tensor.values);
  io::write_file_atomically(output, io::encode_safetensors(dict));
  print("checkpoint: {}{}\n{}{}: {} values in {} tensors -> {}\n", found.path, found.choice, found.path,
        weights.of_ema ? " (moving average)" : "", human_count(values), dict.tensors.size(), output);
  return ExitStatus::kDone;
}

}  // namespace convoy
