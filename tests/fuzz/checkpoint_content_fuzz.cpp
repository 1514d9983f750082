/// Checkpoints that are valid HDF5 files and hold what no run writes: groups and arrays that are missing or of another
/// type or shape, links to nowhere, attributes of other lengths. They test the reader alone, not HDF5.
#include <array>

#include <hdf5.h>

#include "convoy/io/checkpoint.h"

#include "fuzz/fuzz.h"
#include "fuzz/sealed.h"
#include "io/trailer.h"
#include "unit/io/checkpoint_samples.h"

namespace {

using convoy::fuzz::Input;

constexpr std::array kPaths = {"card",
                               "card/name",
                               "card/kind",
                               "card/class_names",
                               "card/tokenizer",
                               "card/vocabulary",
                               "card/activation",
                               "card/positions",
                               "card/norm",
                               "state",
                               "parameters",
                               "version",
                               "model",
                               "model/conv1.weight",
                               "model/fc.bias",
                               "ema",
                               "ema/conv1.weight",
                               "optimizer",
                               "optimizer/momentum",
                               "optimizer/momentum/fc.bias",
                               "counters",
                               "parts",
                               "parts/folder",
                               "parts/sizes",
                               "parts/hashes",
                               "parts/names",
                               "parts/shapes",
                               "parts/pixels_first",
                               "parts/groups",
                               "parts/members",
                               "parts/pieces"};
constexpr std::array kAttributes = {"format",
                                    "rows",
                                    "columns",
                                    "channels",
                                    "resizes",
                                    "short_side",
                                    "orients",
                                    "normalizes",
                                    "channel_mean",
                                    "channel_deviation",
                                    "length",
                                    "vocabulary_size",
                                    "layers",
                                    "heads",
                                    "dropout",
                                    "step",
                                    "samples",
                                    "seed",
                                    "num_objectives",
                                    "epoch_loss_sum_2",
                                    "epoch_num_labels",
                                    "loss_lowest",
                                    "layer1.0.bn1.num_batches_tracked"};

hid_t some_type(Input& input) {
  switch (input.below(8)) {
    case 0:
      return H5Tcopy(H5T_STD_I64LE);
    case 1:
      return H5Tcopy(H5T_IEEE_F64LE);
    case 2:
      return H5Tcopy(H5T_STD_U8LE);
    case 3:
      return H5Tcopy(H5T_IEEE_F32BE);
    case 4: {  // a text of some length, at times of gigabytes
      const hid_t type = H5Tcopy(H5T_C_S1);
      const std::size_t length = input.below(4) == 0 ? std::size_t{input.byte()} << 23 : input.byte();
      H5Tset_size(type, std::max<std::size_t>(length, 1));
      return type;
    }
    case 5: {  // texts of any length, which point to other parts of the file
      const hid_t type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, H5T_VARIABLE);
      return type;
    }
    default:
      return H5Tcopy(H5T_IEEE_F32LE);
  }
}

hid_t some_space(Input& input) {
  std::array<hsize_t, 4> dims = {};
  const std::size_t rank = input.below(6);
  if (rank == 5) return H5Screate(H5S_NULL);
  if (rank == 0) return H5Screate(H5S_SCALAR);
  for (std::size_t i = 0; i < rank; ++i) dims.at(i) = input.below(8) == 0 ? input.number() >> 8 : input.below(5);
  return H5Screate_simple(static_cast<int>(rank), dims.data(), nullptr);
}

// Adds an array, mostly contiguous; nothing is written to it, so that no size is too large.
void put_array(hid_t file, const char* path, Input& input) {
  const hid_t type = some_type(input), space = some_space(input), creation = H5Pcreate(H5P_DATASET_CREATE);
  const std::size_t layout = input.below(8);
  if (layout == 0) H5Pset_layout(creation, H5D_COMPACT);
  if (layout == 1) H5Pset_external(creation, "/dev/zero", 0, H5F_UNLIMITED);  // values in another file
  if (layout == 2) H5Pset_alloc_time(creation, H5D_ALLOC_TIME_LATE);
  H5Dclose(H5Dcreate2(file, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  H5Pclose(creation), H5Sclose(space), H5Tclose(type);
}

void put_attribute(hid_t file, const char* path, const char* name, Input& input) {
  const hid_t object = H5Oopen(file, path, H5P_DEFAULT);
  if (object < 0) return;
  H5Adelete(object, name);
  if (input.flag()) {
    const std::array<std::uint64_t, 4> values = {input.number(), 1, 2, 3};
    const hid_t type = H5Tcopy(input.flag() ? H5T_STD_I64LE : H5T_IEEE_F64LE);
    const hsize_t count = 1 + input.below(4);
    const hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, values.data());
    H5Aclose(attribute), H5Sclose(space), H5Tclose(type);
  }
  H5Oclose(object);
}

void edit(hid_t file, Input& input) {
  const char* const path = kPaths.at(input.below(kPaths.size()));
  const std::size_t kind = input.below(8);
  if (kind < 2) {
    const char* const name = kAttributes.at(input.below(kAttributes.size()));
    return put_attribute(file, input.flag() ? path : ".", name, input);
  }
  H5Ldelete(file, path, H5P_DEFAULT);
  const char* const target = kPaths.at(input.below(kPaths.size()));
  switch (kind) {
    case 2:
      break;  // the object is missing
    case 3:
      H5Gclose(H5Gcreate2(file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      break;
    case 4:
      H5Lcreate_soft(target, file, path, H5P_DEFAULT, H5P_DEFAULT);
      break;
    case 5:
      H5Lcreate_hard(file, target, file, path, H5P_DEFAULT, H5P_DEFAULT);
      break;
    case 6:
      H5Lcreate_external("/dev/zero", target, file, path, H5P_DEFAULT, H5P_DEFAULT);
      break;
    default:
      put_array(file, path, input);
  }
}

/// Returns the file with all edits that the input has.
std::vector<std::byte> edited(std::vector<std::byte> image, Input& input) {
  constexpr int kMaxEdits = 16;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 16, /*backing_store=*/0);
  H5Pset_file_image(access, image.data(), image.size());
  const hid_t file = H5Fopen("image", H5F_ACC_RDWR, access);
  for (int i = 0; i < kMaxEdits && !input.is_empty(); ++i) edit(file, input);
  H5Fflush(file, H5F_SCOPE_LOCAL);
  image.resize(static_cast<std::size_t>(std::max<ssize_t>(0, H5Fget_file_image(file, nullptr, 0))));
  H5Fget_file_image(file, image.data(), image.size());
  H5Fclose(file), H5Pclose(access);
  return image;
}

convoy::io::Checkpoint text_checkpoint() {
  convoy::io::Checkpoint checkpoint = convoy::test::make_checkpoint();
  checkpoint.metadata.name = "transformer";
  checkpoint.metadata.input =
      convoy::io::TextInput{.length = 16, .tokenization = {.kind = "words", .model = "good\nbad\n", .vocabulary = 7}};
  return checkpoint;
}

convoy::io::Checkpoint checkpoint_in_parts() {
  convoy::io::Checkpoint checkpoint = convoy::test::make_checkpoint();
  checkpoint.parts = {.folder = convoy::io::parts_folder(1234, 7),
                      .files = {{.size_bytes = 1 << 20, .hash = std::string(32, '0')}},
                      .tensors = {}};
  for (const convoy::io::NamedTensor& tensor : checkpoint.model)
    checkpoint.parts->tensors[tensor.name] = {.cuts_pixels_first = tensor.dims.size() == 4,
                                              .pieces = {{.part = 0, .first = 0, .count = tensor.count()}}};
  return checkpoint;
}

std::vector<std::byte> without_trailer(std::vector<std::byte> file) {
  file.resize(file.size() - 32);
  return file;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  static const std::vector<std::byte> kOfImages = without_trailer(io::encode_checkpoint(test::make_checkpoint()));
  static const std::vector<std::byte> kOfTexts = without_trailer(io::encode_checkpoint(text_checkpoint()));
  Input input(data, size);
  static const std::vector<std::byte> kInParts = without_trailer(io::encode_checkpoint(checkpoint_in_parts()));
  static const std::array kWholes = {&kOfImages, &kOfTexts, &kInParts};
  const std::vector<std::byte>& whole = *kWholes.at(input.below(kWholes.size()));
  std::vector<std::byte> sealed = edited(whole, input);
  io::append_trailer(sealed, &whole == &kInParts ? io::magic::kCheckpointOfParts : io::magic::kCheckpoint);
  fuzz::read_or_refuse([&] { io::decode_state(sealed, "a.h5"); });
  return fuzz::read_or_refuse([&] {
    const io::Checkpoint checkpoint = io::decode_checkpoint(sealed, "a.h5");
    for (const io::NamedTensor& tensor : checkpoint.model)
      fuzz::require(checkpoint.parts ? tensor.values.empty() : tensor.count() == std::ssize(tensor.values),
                    "a tensor has the values that its shape says, or none");
    if (!checkpoint.parts) return;
    for (const auto& [name, list] : checkpoint.parts->tensors)
      for (const io::Piece& piece : list.pieces)
        fuzz::require(piece.part == 0 && piece.count > 0, "a piece has values of a part that there is");
  });
}
