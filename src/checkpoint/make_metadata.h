/// Makes the metadata that a checkpoint holds for an evaluation: how samples become the network's input, and what its
/// logits mean.
#pragma once

#include <optional>
#include <string>

#include "convoy/io/model_metadata.h"
#include "convoy/io/sample_store.h"

namespace convoy {

struct AugmentParams;
struct Parameters;

/// Returns the metadata of the network that `params` trains on such data. Throws RequestError if images have different
/// sizes and are not resized to one.
io::ModelMetadata model_metadata(const Parameters& params, const io::DatasetInfo& train);

/// Returns the metadata with the augment.size and augment.eval_resize that an evaluation asks for; 0 keeps the
/// metadata's.
io::ModelMetadata with_size(io::ModelMetadata metadata, const AugmentParams& params);

/// Returns what a training that begins with weights has to say of mean and standard deviation: the file (`owner`, as in
/// "init.weights = a.h5") was trained with others, or does not say with which ones. Empty if nothing differs, and for
/// texts. `of_file`: the metadata of a checkpoint; a safetensors file has none.
std::string describe_new_normalisation(const Parameters& params, const io::ModelMetadata& metadata,
                                       const std::optional<io::ModelMetadata>& of_file, const std::string& owner);
/// Returns a warning if augment.mean or augment.stddev ask for other values than those that the checkpoint, which is to
/// be evaluated, was trained with; else an empty text.
std::string describe_ignored_normalisation(const AugmentParams& params, const io::ModelMetadata& metadata,
                                           const std::string& owner);

/// Throws RequestError if these samples cannot be the network's input: they are of another kind; images have other
/// channels, or would have to be resized to something else than a square; texts have another vocabulary. `key` names
/// the samples, `owner` the owner of the metadata: "data.train", "'runs/a/checkpoints/best.h5'".
void check_samples(const io::ModelMetadata& metadata, const io::DatasetInfo& data, const std::string& key,
                   const std::string& owner);
/// Throws RequestError if both are of texts and a token means different words in them.
void check_vocabulary(const io::ModelMetadata& metadata, const io::DatasetInfo& data, const std::string& key,
                      const std::string& owner);
/// Returns "images: 256x256x3, resized to 224x224x3\n"; empty for pixels that have the network's size, and for files.
std::string describe_resizing(const io::ModelMetadata& metadata, const io::DatasetInfo& data);
/// Throws RequestError if the classes of the data are not those of the network; `remedy` ends its message.
void check_classes(const io::ModelMetadata& metadata, const io::DatasetInfo& data, const std::string& key,
                   const std::string& owner, const std::string& remedy = "Import both with one command.");

}  // namespace convoy
