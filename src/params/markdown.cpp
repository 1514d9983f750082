/// convoy help --markdown: input/README.md, the page about parameter files and every key.
#include <fmt/format.h>

#include "convoy/params/parse.h"

#include "params/command_table.h"
#include "params/key_table.h"

namespace convoy {

namespace {

using namespace params;

constexpr const char* kIntroduction = R"(# Parameter files

Written by `convoy help --markdown > input/README.md`: change it in `src/params`.

A parameter file says what is trained, on what, and how. Copy one of this folder that comes near to what you want; its
first lines say what it trains and how it is started, and its comments what each value is for:

```
cp input/fashion_resnet20.cfg my.cfg
tools/mpirun -n 4 build/release/convoy train my.cfg --grid.stages=2 --optimizer.lr=0.1
```

A file names only what differs from the defaults below. `params.cfg` in a run's directory has all keys with the values
that the run took at its last start; `convoy train params.cfg` resumes it with them.

| to | write |
| --- | --- |
| set a key in a file | its section in brackets, then its name: `[batch]`, and below it `global = 128` |
| set a key on the command line | `--batch.global=128` or `--batch.global 128` |
| override a file | a second file after it, or the command line. What comes later holds; the command line overrides all files |
| add a comment | `#` or `;` at the start of a line or after a blank: `directory = runs/a#b   # a comment` means `runs/a#b` |
| keep a `#`, or blanks at the ends | quotes, `"runs/a # b"` or `'runs/a # b'`; in them two quotes stand for one |
| give several values | commas between them: `step_epochs = 30, 60, 80` |
| say yes or no | `true` or `false`, `on` or `off`, `yes` or `no`, `1` or `0` |
| use capitals | sections, keys, networks and choices may have them: `[Train]`, `name = ResNet18`, `kind = SGD`. Paths and patterns are taken as they are |

Paths are relative to the directory where convoy is started.

A wrong key or value ends with status 2 before any work. The message names the key, the file and line, what was given,
what is allowed and the nearest right one. A key on the command line that the command does not read is named in a
warning.

| to see | type |
| --- | --- |
| this page in the terminal | `convoy --help` |
| one command and the keys that it reads | `convoy train --help` or `convoy help train` |
| one section or key | `convoy help lr`, `convoy help optimizer.lr` |

)";

constexpr const char* kStep = R"(
Of the keys that cut a step only `batch.global` and `batch.micro` change the result: `grid`, `schedule` and `memory`
never do. What `memory.limit_gib` is compared with has, on a GPU, an estimate of what CUDA and NCCL take there.
)";

constexpr const char* kTogether = R"(
## Validation and test set

| | `data.test` alone | `data.val` beside it |
| --- | --- | --- |
| measured every `train.evaluate_every_epochs` | test | val |
| `best.h5` and `train.patience_epochs` follow | test | val |
| the test set is measured | each time | once, when the run has ended (not where it was stopped), with the weights of `best.h5`; the last ones with `checkpoint.best = false` |
| the result is in | `log.csv`, the line of each epoch | `test.csv`, the line `test: ...` before the last ones |

`data.val` alone also trains. Where a split comes from: `convoy import ... --import.val_fraction=0.1`, then
`--data.val=data/photos` (of a folder, `val*.h5` is taken). A run that is resumed to measure other images says so, and
its best value starts over.

## Precision

| `train.precision` | on a CPU | on a GPU |
| --- | --- | --- |
| f32 | yes | yes |
| bf16 | yes: activations take half the memory. Products are in bf16 where oneDNN has them for the processor (from AVX-512 on); elsewhere in f32 from bf16, a few samples at a time, and a step takes about as long as in f32 | yes |
| tf32 | refused | yes |
| fp16 | refused | yes, with a dynamic loss scale |

Weights, gradients of weights, sums and statistics are float32 in all. Bits are the same on any grid of processors of
one kind.

## What an evaluation sees of a picture

What torchvision's `Resize(short side)` and `CenterCrop(size)` make of a PIL image (antialiased bilinear), but for
rounding: 0.1 of 255 apart on average, 1 at the most.

| the same picture as | gives |
| --- | --- |
| a folder, or an import with `import.storage = encoded` | the same bytes |
| `raw` with `import.size` = the short side of the evaluation: `augment.eval_resize`, by default `augment.size` x 256 / 224 with random_resized, else the network's size | the same bytes where short side and size differ by a multiple of 4, as 256 and 224 do; else the centre may begin a pixel beside it, as torchvision rounds half to even |
| `raw` of any other size, or with `import.resize = squash` | other bytes: it is resized twice, or was squeezed |
| what training draws with `augment.crop = random_resized` | nearly the same: a JPEG may be decoded at 1/2 to 1/8 of its size, which is faster. 0.4 of 255 apart on average where pictures of 2000 x 1500 are drawn from, nothing where they are of 500 x 375 (to 224) |

Pictures are seen as they are stored, as in torchvision. `import.orient` turns JPEG files as their Exif orientation
says; a data set remembers it, and so do checkpoints that were trained on it: a prediction of files turns them too
(`predict.orient = auto`).
)";

/// Text as a table's cell: nothing in it ends the cell or is taken for Markdown.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '<' || c == '`' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string code(const std::string& text) {
  return text.empty() ? "" : "`" + text + "`";
}

std::string format_commands() {
  std::string text = "\n## Commands\n\n| `convoy` | meaning |\n| --- | --- |\n";
  for (const Command& command : commands())
    text += fmt::format("| `{}` | {} |\n", command.name, cell(command.sentence));
  return text;
}

std::string format_section(const std::string& section) {
  std::string text =
      fmt::format("\n## [{}]\n\n| key | default | allowed | meaning |\n| --- | --- | --- | --- |\n", section);
  for (const Key& key : keys()) {
    if (key.section() != section) continue;
    text += fmt::format("| `{}` | {} | {}: {}{} | {} |\n", key.leaf(), code(key.default_text()), key.value.type,
                        cell(key.value.allowed), key.unit.empty() ? "" : " " + key.unit, cell(key.sentence));
  }
  return text;
}

}  // namespace

std::string markdown_help(const std::vector<NetworkHelp>& networks) {
  std::string text = kIntroduction;
  text += "| `model.name` | is |\n| --- | --- |\n";
  for (const NetworkHelp& network : networks) text += fmt::format("| {} | {} |\n", network.names, network.sentence);
  text += kStep + format_commands();
  for (const std::string& section : sections()) text += format_section(section);
  return text + kTogether;
}

}  // namespace convoy
