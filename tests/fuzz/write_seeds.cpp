/// Writes the files that fuzzing begins with: for each target a folder of small files that its parser accepts, by our
/// own writers if they exist; and for texts with key words a dictionary of these. Called with the folder to write to.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "convoy/base/features.h"
#include "convoy/base/special_tokens.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/safetensors.h"
#include "convoy/io/shard_writer.h"
#include "convoy/ops/engine_cache.h"
#include "convoy/params/parse.h"

#include "data/text/subwords.h"
#include "fuzz/fuzz.h"
#include "fuzz/network_samples.h"
#include "model/built_in_networks.h"
#include "model/layer_functions.h"
#include "params/key_table.h"
#include "unit/data/idx_files.h"
#include "unit/data/image_files.h"
#include "unit/data/picture_files.h"
#include "unit/io/array_files.h"
#include "unit/io/array_samples.h"
#include "unit/io/checkpoint_samples.h"
#include "unit/io/dataset_samples.h"
#include "unit/io/temporary_directory.h"

namespace convoy {
namespace {

using Bytes = std::vector<std::byte>;

/// The targets' folders.
class Seeds {
 public:
  explicit Seeds(std::string folder) : folder_(std::move(folder)) {}

  void add(const std::string& target, const std::string& name, std::span<const std::byte> content) const {
    test::write_bytes(folder_ + "/" + target + "/" + name, content);
  }
  void add(const std::string& target, const std::string& name, std::string_view content) const {
    add(target, name, fuzz::bytes_of(content));
  }
  /// Writes TARGET.dict next to the folders, with a word on each line.
  void add_words(const std::string& target, const std::vector<std::string>& words) const {
    std::string lines;
    for (const std::string& word : words) lines += '"' + word + "\"\n";
    test::write_bytes(folder_ + "/" + target + ".dict", fuzz::bytes_of(lines));
  }

 private:
  std::string folder_;
};

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns the text in the form that fuzz::Input::text() reads.
std::string with_length(const std::string& text) {
  return {static_cast<char>(text.size() & 0xff) + std::string(1, static_cast<char>(text.size() >> 8)) + text};
}

// --- Parameters ------------------------------------------------------------------------------------------------------

void add_parameters(const Seeds& seeds) {
  seeds.add("parameter_file", "all_keys", render(Parameters{}));
  seeds.add("parameter_file", "quotes", "[run]\ndirectory = \"a \"\"b\"\" ; c\"  # kept\n[Batch]\nGLOBAL=64;\n");
  seeds.add("command_line", "train", "train\n--batch.global=64\n--batch.micro\n32\n--data.train=x\n--data.test=x\n");
  seeds.add("command_line", "help", "help\noptimizer\ntrain\nbatch.micro\n");
  seeds.add("command_line", "plan", "plan\n--data.train=x\n--grid.stages=auto\n--model.name=resnet20\n--help\n");
  std::vector<std::string> in_file, in_arguments;
  for (const params::Key& key : params::keys()) {
    in_file.push_back(key.leaf() + " = ");
    in_arguments.push_back("--" + key.name + "=");
  }
  for (const std::string& section : params::sections()) in_file.push_back("[" + section + "]");
  seeds.add_words("parameter_file", in_file);
  seeds.add_words("command_line", in_arguments);
}

// --- Files of ours ---------------------------------------------------------------------------------------------------

io::Checkpoint small_checkpoint() {
  io::Checkpoint checkpoint = test::make_checkpoint();
  checkpoint.model.resize(1);
  checkpoint.ema.clear();
  checkpoint.optimizer.erase("variance");
  return checkpoint;
}

void add_checkpoints(const Seeds& seeds) {
  seeds.add("checkpoint", "of_images", io::encode_checkpoint(small_checkpoint()));
  io::Checkpoint of_texts = small_checkpoint();
  of_texts.metadata.input =
      io::TextInput{.length = 16, .tokenization = {.kind = "words", .model = "good\nbad\n", .vocabulary = 7}};
  seeds.add("checkpoint", "of_texts", io::encode_checkpoint(of_texts));
  io::Checkpoint in_parts = small_checkpoint();
  in_parts.optimizer.clear();
  in_parts.parts = {.folder = io::parts_folder(1234, 7),
                    .files = {{.size_bytes = 1 << 20, .hash = std::string(32, '0')}},
                    .tensors = {{in_parts.model.front().name,
                                 {.cuts_pixels_first = true,
                                  .pieces = {{.part = 0, .first = 0, .count = in_parts.model.front().count()}}}}}};
  seeds.add("checkpoint", "in_parts", io::encode_checkpoint(in_parts));
  const std::vector<float> values = {1, 2, 3, 4};
  seeds.add(
      "checkpoint_part", "of_two_groups",
      io::encode_part({{"model", "fc.bias", values}, {"optimizer/momentum", "fc.bias", std::span(values).first(1)}}));
  for (int i = 0; i < 8; ++i) {
    std::string edits;
    for (int k = 0; k < 64; ++k) edits += static_cast<char>(37 * k * (i + 1) + i);
    seeds.add("checkpoint_content", fmt::format("edits_{}", i), edits);
  }
}

Bytes shard_of(const io::DatasetInfo& info, const std::vector<Bytes>& samples) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "train.h5";
  io::ShardWriter writer({path, 0, 1}, info);
  for (std::size_t i = 0; i < samples.size(); ++i)
    writer.append(samples[i], {.label = static_cast<std::int32_t>(i % 2)}, fmt::format("{}.x", i));
  writer.end_samples();
  writer.finish(info);
  writer.commit();
  return io::read_file(path);
}

void add_shards(const Seeds& seeds) {
  io::DatasetInfo pixels;
  pixels.image = {2, 3, 1};
  pixels.num_samples = 2;
  pixels.class_names = {"ant", "bee"};
  pixels.class_counts = {1, 1};
  pixels.channel_mean = pixels.channel_stddev = {0.5};
  pixels.source = "seeds";
  const Bytes image(6, std::byte{9});
  seeds.add("shard", "of_pixels", shard_of(pixels, {image, image}));
  io::DatasetInfo files = pixels;
  files.encoded = true, files.image = {0, 0, 1};
  seeds.add("shard", "of_files", shard_of(files, {image, Bytes(3)}));
  io::DatasetInfo texts = pixels;
  texts.kind = input_kinds::kText;
  texts.image = {};
  texts.channel_mean = texts.channel_stddev = {};
  texts.text.tokenization = {.kind = "words", .model = "good\nbad\n", .vocabulary = 7};
  texts.text.num_tokens = 5;
  seeds.add("shard", "of_texts", shard_of(texts, {Bytes(4, std::byte{0}), Bytes(6, std::byte{1})}));
  for (const TargetKind kind : {TargetKind::kClass, TargetKind::kLabels, TargetKind::kNumbers}) {
    const test::TemporaryDirectory directory;
    test::write_arrays(directory.path(), test::arrays_info(kind));
    seeds.add("shard", fmt::format("of_arrays_with_{}", outputs_of(kind)), io::read_file(directory / "train.h5"));
  }
  io::DatasetInfo folds = test::arrays_info();
  folds.num_folds = 2;
  folds.fold_mean.assign(2 * 7, 0.5);
  folds.fold_stddev = folds.fold_mean;
  const test::TemporaryDirectory of_folds;
  test::write_arrays(of_folds.path(), folds);
  seeds.add("shard", "of_folds", io::read_file(of_folds / "train.h5"));
  for (int i = 0; i < 8; ++i) {
    std::string numbers;
    for (int k = 0; k < 96; ++k) numbers += static_cast<char>((k * (i + 3)) % 7 + (k % 5 == i % 5 ? 1 : 0));
    seeds.add("shard_content", fmt::format("numbers_{}", i), numbers);
  }
}

void add_weights(const Seeds& seeds) {
  io::StateDict dict;
  dict.tensors = {test::make_tensor("bn1.running_mean", {3}, 0.5f), test::make_tensor("conv1.weight", {1, 2, 1, 2}, -1),
                  test::make_tensor("empty", {0, 4}, 0), test::make_tensor("scalar", {}, 7)};
  dict.counters = {{"bn1.num_batches_tracked", 12}};
  seeds.add("safetensors", "of_all_kinds", io::encode_safetensors(dict));
  seeds.add_words("safetensors", {"\\\"F16\\\"", "\\\"BF16\\\"", "\\\"F64\\\"", "\\\"I64\\\"", "\\\"__metadata__\\\"",
                                  "num_batches_tracked"});
}

// --- Files of a run --------------------------------------------------------------------------------------------------

void add_run_files(const Seeds& seeds) {
  ops::EngineCache engines;
  engines.insert("conv 3x3 on H100", "engine 7");
  engines.insert("linear", "engine 1, k = 3");
  seeds.add("engines", "two", engines.serialise());
  seeds.add("costs", "of_cells",
            "\2convoy cell costs 4\nresnet20\n# seconds\n1e-3 2e-3 1e-3 1e-3 0 1e-3 1e-4\n1 2 3 4 5 6\n");
  seeds.add("costs", "of_messages", "\1convoy rates 1\n2 ranks\n# message; memory\n5e-6 1e10 2e10\n");
  const std::string begin = {3, 1};
  seeds.add("run_tables", "log", begin + "epoch,step,loss,fingerprint\n1,4,0.5,ab\n2,8,0.25,\n3,12,0.1,cd\n");
  seeds.add("run_tables", "older_log", begin + "epoch,step,loss\n1,4,0.5\n3,1");
  seeds.add("run_tables", "steps", begin + "step,loss,lr,fingerprint\n1,0.5,0.1,\n2,0.25,0.1,0123456789abcdef\n");
  seeds.add("run_tables", "starts", begin + "step,version,grid,machine\n0,\"0.9.0\",\"2 x 4\",\"a, b\"\n");
}

// --- Networks --------------------------------------------------------------------------------------------------------

void add_networks(const Seeds& seeds) {
  std::vector<std::string> words;
  for (const LayerFunction& function : layer_functions()) words.push_back(function.name);
  seeds.add_words("network_file", words);
  seeds.add_words("network_list", words);
  for (const BuiltInNetwork& network : built_in_networks()) {
    const std::string& reads = network.declaration.reads;
    const std::string kind(1, reads == input_kinds::kText ? '\1' : reads == input_kinds::kArrays ? '\2' : '\0');
    seeds.add("network_file", network.source.name, kind + network.source.text);
    const NetworkRequest request{.input = fuzz::sample_of_kind(static_cast<std::size_t>(kind[0])),
                                 .num_classes = fuzz::kNumOutputs};
    seeds.add("network_list", network.source.name, kind + to_text(run_network_file(network.source, request).list));
  }
}

// --- Pictures with their own numbers ---------------------------------------------------------------------------------

void add_pictures(const Seeds& seeds) {
  const std::vector<std::uint16_t> numbers(5 * 4 * 3, 517);
  seeds.add("picture", "png", test::make_deep_png(5, 4, 3, numbers));
  for (const std::string mode : {"wl", "wb", "w8"})
    for (const int compression : {1, 5, 8})
      for (const int tile : {0, 16})
        seeds.add("picture", fmt::format("tiff_{}_{}_{}", mode, compression, tile),
                  test::make_tiff_picture({.channels = 3,
                                           .is_separate = compression == 5,
                                           .tile = tile,
                                           .compression = compression,
                                           .mode = mode},
                                          std::as_bytes(std::span(numbers))));
}

// --- Images ----------------------------------------------------------------------------------------------------------

void add_images(const Seeds& seeds) {
  const auto add = [&](const char* name, const Bytes& file) {
    const std::string as_asked = {1, 0, 4, 4, 1, 1};  // turned, in colour, at 4 x 4 or more, a window
    seeds.add("image", name, as_asked + text_of(file));
  };
  add("jpeg", test::make_jpeg({.h = 17, .w = 9, .quality = 75}));
  add("jpeg_progressive", test::make_jpeg({.h = 9, .w = 9, .progressive = true, .quality = 50}));
  add("jpeg_arithmetic", test::make_jpeg({.h = 9, .w = 9, .arithmetic = true, .across = 2, .quality = 50}));
  add("jpeg_cmyk", test::make_jpeg({.h = 8, .w = 9, .channels = 4, .ycck = true, .quality = 50}));
  add("jpeg_turned",
      test::with_exif(test::make_jpeg({.h = 9, .w = 17, .quality = 50}), test::make_tiff({.orientation = 6})));
  add("png", test::make_png({.h = 5, .w = 4, .text = "a comment"}));
  add("png_palette", test::make_png({.h = 5, .w = 4, .color_type = 3, .bit_depth = 4, .interlaced = true}));
  add("png_16_bits", test::make_png({.h = 3, .w = 4, .color_type = 6, .bit_depth = 16}));

  const std::string images = test::idx_header({2, 3, 2}) + std::string(12, 'x');
  const std::string labels = test::idx_header({2}) + std::string({0, 1});
  seeds.add("idx", "plain", '\0' + with_length(labels) + images);
  seeds.add("idx", "zipped", '\1' + with_length(labels) + images);

  const std::string pixels(3 * 1024, 'p');
  seeds.add("cifar", "of_10", std::string({0, 1}) + with_length("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n") + '\3' + pixels);
  seeds.add("cifar", "of_100", std::string({1, 0}) + with_length("") + "\3\4" + pixels);
}

// --- Texts -----------------------------------------------------------------------------------------------------------

void add_texts(const Seeds& seeds) {
  const std::string csv = "label,text\n1,\"a \"\"b\"\", c\n d\"\r\n0,e\n\n2,f";
  seeds.add("text_table", "csv", std::string({1, 1}) + csv);
  seeds.add("text_table", "broken_quotes",
            std::string({1, 1}) + "text,label\n\"a fine film,1\nb,0\n\"c\" d,1\ne\rf,0\n\"open,1\ng,0");
  seeds.add("text_table", "tsv", std::string({0, 0}) + "text\tlabel\na\t1\n\"b\t2\n");

  const auto vocabulary = static_cast<char>(special_tokens::kCount + 2);
  seeds.add("words", "two", std::string(1, vocabulary) + with_length("good\nbad\n") + "Good, BAD \xc3\x9cgly!");
  seeds.add("words", "scripts",
            std::string(1, vocabulary) + with_length("a\nb\n") + "\xe6\x97\xa5\xe6\x9c\xac a\xcc\x88");

  std::vector<std::string> lines;
  for (int i = 0; i < 40; ++i) lines.push_back(fmt::format("the {}th film was good and not so bad as the other", i));
  const io::Tokenization model = learn_subwords(lines, 40);
  // Most of a model is its table of letters, which is the same in all.
  seeds.add("subwords", "small", static_cast<char>(model.vocabulary) + with_length("the good film") + model.model);
}

void add_arrays(const Seeds& seeds) {
  const std::string values(24, '\1');
  const std::string plain = test::npy({}, values);
  seeds.add("npy", "plain", plain);
  seeds.add("npy", "fortran", test::npy({.descr = ">i2", .shape = "(2, 3, 2)", .is_fortran_order = true}, values));
  seeds.add("npy", "texts", test::npy({.descr = "<U2", .shape = "(3,)", .version = 2}, std::string(24, '\0')));
  seeds.add_words("npy",
                  {"descr", "fortran_order", "shape", "True", "False", "<f4", ">f8", "|S4", "<U2", "|O", "(2L,)"});
  const test::TemporaryDirectory directory;
  for (const bool deflates : {false, true}) {
    const std::string path = directory / "all.npz";
    test::write_zip(path, {{"x.npy", plain}, {"a/y.npy", plain}, {"notes.txt", "none"}}, deflates);
    seeds.add("npz", deflates ? "deflated" : "stored", io::read_file(path));
  }
  seeds.add("number_table", "csv", std::string({1}) + "a,\"b, c\",d\r\n1,+2.5e3,NA\n\n\"4\",,-inf\n");
  seeds.add("number_table", "tsv", std::string({0}) + "1\t2\n3\t\"4\n");
}

void write_all(const std::string& folder) {
  const Seeds seeds(folder);
  add_parameters(seeds);
  add_checkpoints(seeds);
  add_shards(seeds);
  add_weights(seeds);
  add_run_files(seeds);
  add_networks(seeds);
  add_images(seeds);
  add_pictures(seeds);
  add_texts(seeds);
  add_arrays(seeds);
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
    return 2;
  }
  try {
    convoy::write_all(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz_seeds: %s\n", error.what());
    return 1;
  }
  return 0;
}
