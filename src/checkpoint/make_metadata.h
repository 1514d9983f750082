/// The metadata that a checkpoint holds for evaluations: how samples become the network's input, and what its logits
/// mean.
#pragma once

#include <optional>
#include <string>

#include "convoy/io/model_metadata.h"
#include "convoy/io/sample_store.h"
#include "convoy/model/network_file.h"

namespace convoy {

namespace mpi {
class Communicator;
}

struct AugmentParams;
struct Parameters;

/// Returns the network that `params` name, with its settings, but without the shape of samples and the classes. Throws
/// RequestError if model.file cannot be read, or model.set has another form.
NetworkRequest network_request(const Parameters& params);

/// Returns the metadata of the network that `params` trains on the data set `train`. Throws RequestError if its images
/// have different sizes and augment.size does not bring them to one, or as network_request() and build_network_list()
/// do. If there are `ranks`, all of them call it, and rank 0 reads the network's file.
io::ModelMetadata model_metadata(const Parameters& params, const io::DatasetInfo& train,
                                 const mpi::Communicator* ranks = nullptr);

/// Returns the metadata with the image size and crop that an evaluation asks for by augment.size and
/// augment.eval_resize; 0 keeps the value of the metadata.
io::ModelMetadata with_size(io::ModelMetadata metadata, const AugmentParams& params);

/// Returns a sentence if a training that begins with the weights of a file normalises images in another way than the
/// training of that file, or if the file does not say how. Empty if nothing differs, and for texts. `metadata` is that
/// of the new training, `of_file` that of the checkpoint (a safetensors file has none), and `owner` names the file:
/// "init.weights = a.h5".
std::string describe_new_normalisation(const Parameters& params, const io::ModelMetadata& metadata,
                                       const std::optional<io::ModelMetadata>& of_file, const std::string& owner);
/// Returns a warning if augment.mean or augment.stddev ask for other values than those with which the evaluated network
/// was trained; otherwise an empty text. `owner` names the network: "'runs/a/checkpoints/best.h5'".
std::string describe_ignored_normalisation(const AugmentParams& params, const io::ModelMetadata& metadata,
                                           const std::string& owner);

/// Throws RequestError if the samples of `data` cannot be the network's input: if they are of another kind, images have
/// another number of channels or cannot be resized, texts have another vocabulary, or arrays other extents or columns.
/// `key` names the samples
/// ("data.train") and `owner` the network ("'runs/a/checkpoints/best.h5'") in messages.
void check_samples(const io::ModelMetadata& metadata, const io::DatasetInfo& data, const std::string& key,
                   const std::string& owner);
/// Throws RequestError if network and data are of texts, but with different vocabularies. `key` and `owner` are as in
/// check_samples().
void check_vocabulary(const io::ModelMetadata& metadata, const io::DatasetInfo& data, const std::string& key,
                      const std::string& owner);
/// Returns "images: 256x256x3, resized to 224x224x3\n"; empty if the stored images have the network's size, are encoded
/// files (JPEG, for example), or if the data are texts.
std::string describe_resizing(const io::ModelMetadata& metadata, const io::DatasetInfo& data);
/// Throws RequestError if the classes, labels or numbers of the data are not those of the network. `remedy` is the last
/// sentence of the message; `key` and `owner` are as in check_samples().
void check_classes(const io::ModelMetadata& metadata, const io::DatasetInfo& data, const std::string& key,
                   const std::string& owner, const std::string& remedy = "Import both with one command.");

}  // namespace convoy
