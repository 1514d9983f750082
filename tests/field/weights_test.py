"""Weights from elsewhere, as init.weights: PyTorch's files, folders, names with a prefix; and by which mean and standard
deviation pictures are normalised, from fine-tuning to prediction."""
import json
import pickle
import struct
import zipfile
import zlib

import field


def png(value):
    """12 x 12 pixels of one colour."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", 12, 12, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes([value, (3 * value) % 256, 255 - value]) * 12) * 12
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Weights(field.Case):
    IMAGENET = ("--augment.mean=imagenet", "--augment.stddev=imagenet")
    STATISTICS_OF_IMAGENET = ("mean          0.4850, 0.4560, 0.4060", "deviation     0.2290, 0.2240, 0.2250")

    def setUp(self):
        super().setUp()
        for c in range(2):
            for i in range(4):
                self.write(f"source/c{c}/{i}.png", png(20 + 100 * c + 9 * i))
        self.expect(self.convoy("import", "--import.source=source", "--import.output=data"), 0)

    def train(self, directory, *more, command="train"):
        return self.convoy(
            command, "--data.train=data", "--data.test=data/train", "--model.name=resnet20", "--batch.global=4",
            "--batch.micro=4", "--train.max_steps=1", "--run.threads=1", "--run.device=cpu",
            f"--run.directory={directory}", *more)

    def export(self):
        """A run in `run`, and its weights in weights.safetensors."""
        self.expect(self.train("run"), 0)
        self.expect(self.convoy("export", "--run.directory=run", "--export.output=weights.safetensors"), 0)

    def test_a_header_whose_length_begins_as_a_pickle_does(self):
        self.export()
        content = (self.folder / "weights.safetensors").read_bytes()
        length = struct.unpack("<Q", content[:8])[0]
        begins_so = next(n for n in range(length + 8, length + 100000, 8) if n % 65536 in (0x280, 0x380, 0x480))
        header = content[8:8 + length].ljust(begins_so)
        self.write("padded.safetensors", struct.pack("<Q", begins_so) + header + content[8 + length:])
        self.expect(self.train("other", "--init.weights=padded.safetensors"), 0)

    def test_weights_of_another_program_are_not_overwritten(self):
        self.export()
        export = ("export", "--run.directory=run")
        for writer in (b'"written_by":"others"', b'"written_by":[1234567]'):
            content = (self.folder / "weights.safetensors").read_bytes().replace(b'"written_by":"convoy"', writer)
            self.write("foreign.safetensors", content)
            self.expect(self.convoy(*export, "--export.output=foreign.safetensors"), 2, "exists", "convoy export")
            self.assertEqual((self.folder / "foreign.safetensors").read_bytes(), content)
        self.expect(self.convoy(*export, "--export.output=weights.safetensors"), 0)

    def rename(self, source, target, name_of):
        """A safetensors file with other names: its length (8 bytes), a header in JSON, the values."""
        content = (self.folder / source).read_bytes()
        (size,) = struct.unpack("<Q", content[:8])
        header = {name_of(name): entry for name, entry in json.loads(content[8 : 8 + size]).items()}
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        self.write(target, struct.pack("<Q", len(text)) + text + content[8 + size :])

    def predict(self, *more):
        self.expect(self.convoy("predict", "--predict.data=source", "--predict.output=p.csv", "--batch.micro=4",
                                "--run.threads=1", "--run.device=cpu", *more), 0)
        return (self.folder / "p.csv").read_text()

    # --- Files ----------------------------------------------------------------------------------------------------

    def test_files_of_pytorch_name_the_tool_that_converts_them(self):
        with zipfile.ZipFile(self.folder / "new.pth", "w") as archive:  # torch.save since 1.6
            archive.writestr("archive/data.pkl", b"\x80\x02}q\0.")
            archive.writestr("archive/version", b"3\n")
        self.write("old.pt", pickle.dumps(0x1950A86A20F9469CFC6C, protocol=2) + bytes(50))  # torch.save before
        for name, command in (("new.pth", "train"), ("new.pth", "check"), ("old.pt", "train")):
            self.expect(self.train("run", f"--init.weights={name}", command=command), 2, f"init.weights = {name}",
                        "it is a file of PyTorch's", "tools/torch_weights")
        self.expect(self.train("run", "--checkpoint.resume=new.pth"), 2, "tools/torch_weights")
        self.expect(self.convoy("info", "old.pt"), 1, "tools/torch_weights")

    def test_other_files_are_named(self):
        self.write("a.npz", b"PK\3\4\x14\0\0\0\0\0\0\0!\0" + bytes(14) + b"fc.weight.npy" + bytes(30))
        self.write("a.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
        self.expect(self.train("run", "--init.weights=./a.npz"), 2, "a NumPy archive")
        self.expect(self.train("run", "--init.weights=./a.safetensors"), 2, "a pointer of Git LFS", "git lfs pull")

    def test_a_folder_as_weights_names_the_checkpoints_in_it(self):
        (self.folder / "empty.d").mkdir()
        self.expect(self.train("run"), 0)
        for key, folder in (("init.weights", "run/"), ("init.weights", "run/checkpoints"), ("checkpoint.resume", "run/")):
            self.expect(self.train("next", f"--{key}={folder}"), 2, f"{key} = {folder}: it is a folder",
                        "run/checkpoints/best.h5")
        self.expect(self.train("next", "--init.weights=empty.d"), 2, "it is a folder. Give a file: a checkpoint")

    # --- Names ----------------------------------------------------------------------------------------------------

    def test_a_prefix_of_all_names_is_named_and_stripped(self):
        self.export()
        plain = self.predict("--init.weights=weights.safetensors", "--data.train=data", "--model.name=resnet20")
        for prefix in ("module.", "model.backbone."):
            self.rename("weights.safetensors", "prefixed.safetensors",
                        lambda name: name if name == "__metadata__" else prefix + name)
            weights = "--init.weights=prefixed.safetensors"
            for command, strict in (("train", "true"), ("train", "false"), ("check", "true")):
                answer = self.train("next", weights, f"--init.strict={strict}", command=command)
                self.expect(answer, 2, f"begin with '{prefix}'", f"set init.strip_prefix = {prefix}.")
                self.assertNotIn("Check model.name", answer.output)
                if prefix != "module.":
                    break  # what differs is the name alone
            strip = f"--init.strip_prefix={prefix}"
            self.expect(self.train(f"next-{prefix}d", weights, strip), 0)
            self.assertEqual(self.predict(weights, strip, "--data.train=data", "--model.name=resnet20"), plain)

    def test_a_run_that_began_with_a_prefix_is_evaluated_and_exported_with_its_own_names(self):
        self.export()
        self.rename("weights.safetensors", "prefixed.safetensors",
                    lambda name: name if name == "__metadata__" else "module." + name)
        self.expect(self.train("next", "--init.weights=prefixed.safetensors", "--init.strip_prefix=module."), 0)
        self.expect(self.convoy("evaluate", "next/params.cfg"), 0, "next/checkpoints/")
        self.expect(self.convoy("export", "next/params.cfg", "--export.output=out.safetensors"), 0)

    def test_a_prefix_that_no_name_has_is_refused(self):
        self.export()
        self.expect(self.train("next", "--init.weights=weights.safetensors", "--init.strip_prefix=module."), 2,
                    "init.strip_prefix = module.: no tensor name in 'weights.safetensors' begins with this prefix; the first name is")
        self.rename("weights.safetensors", "both.safetensors",
                    lambda name: "fc.fc.bias" if name == "bn1.bias" else name)
        self.expect(self.train("next", "--init.weights=both.safetensors", "--init.strip_prefix=fc."), 2)

    def test_weights_of_another_network_still_ask_for_the_model(self):
        self.export()
        self.expect(self.train("next", "--init.weights=weights.safetensors", "--model.name=resnet18"), 2,
                    "Check model.name, and whether the data has the classes and channels")

    # --- Mean and standard deviation --------------------------------------------------------------------------------

    def test_info_shows_by_what_a_checkpoint_was_normalised(self):
        self.expect(self.train("own"), 0)
        data = self.convoy("info", "data").output.splitlines()
        own = self.convoy("info", "own/checkpoints/best.h5").output.splitlines()
        for word in ("mean", "deviation"):
            lines = [next(line for line in lines if line.strip().startswith(word)) for lines in (data, own)]
            self.assertEqual(lines[0], lines[1])
        self.expect(self.train("imagenet", *self.IMAGENET), 0)
        self.expect(self.convoy("info", "imagenet/checkpoints/best.h5"), 0, *self.STATISTICS_OF_IMAGENET)
        self.expect(self.train("none", "--augment.normalize=false"), 0)
        self.expect(self.convoy("info", "none/checkpoints/best.h5"), 0, "values between 0 and 1 are not normalised")

    def test_fine_tuning_says_its_mean_and_deviation_and_those_of_the_file(self):
        self.export()
        self.expect(self.train("a", "--init.weights=weights.safetensors"), 0, "normalisation: mean 0.",
                    "does not say how its images were normalised", "augment.mean = imagenet")
        answer = self.train("b", "--init.weights=weights.safetensors", *self.IMAGENET)
        self.expect(answer, 0, "normalisation: mean 0.485, 0.456, 0.406, standard deviation 0.229, 0.224, 0.225")
        self.assertNotIn("does not say", answer.output)

        own = self.train("c", "--init.weights=run/checkpoints/best.h5")
        self.expect(own, 0, "normalisation: mean 0.")
        self.assertNotIn("was trained with", own.output)
        for command in ("check", "train"):
            self.expect(self.train("d", "--init.weights=run/checkpoints/best.h5", *self.IMAGENET, command=command), 0,
                        "init.weights = run/checkpoints/best.h5 was trained with mean 0.",
                        "but this run uses mean 0.485, 0.456, 0.406", "To keep the normalisation of the file, set augment.mean = 0.")

    def test_numbers_stay_the_rule_in_checkpoint_evaluation_and_prediction(self):
        numbers = ("--augment.mean=0.5, 0.25, 0.75", "--augment.stddev=0.125")  # one number: of every channel
        self.expect(self.train("run", *numbers, "--train.max_steps=3", "--optimizer.lr=0.01"), 0)
        self.expect(self.convoy("info", "run/checkpoints/best.h5"), 0, "mean          0.5000, 0.2500, 0.7500",
                    "deviation     0.1250, 0.1250, 0.1250")
        # 1. The checkpoint knows; keys that say otherwise have no effect, which is said
        plain = self.predict("--run.directory=run", "--init.weights=run/checkpoints/best.h5")
        answer = self.convoy("predict", "--predict.data=source", "--predict.output=p.csv", "--batch.micro=4",
                             "--run.threads=1", "--run.device=cpu", "--init.weights=run/checkpoints/best.h5",
                             *self.IMAGENET)
        self.expect(answer, 0, "augment.mean and augment.stddev have no effect")
        self.assertEqual((self.folder / "p.csv").read_text(), plain)
        # 2. With bare weights the keys have an effect
        self.expect(self.convoy("export", "--init.weights=run/checkpoints/best.h5", "--export.output=w.safetensors"), 0)
        bare = ("--init.weights=w.safetensors", "--data.train=data", "--model.name=resnet20")
        self.assertEqual(self.predict(*bare, *numbers), plain)
        self.assertNotEqual(self.predict(*bare), plain)
        # 3. The same measurement in training and in evaluation
        measured = self.convoy("evaluate", "--data.test=data/train", "--init.weights=run/checkpoints/best.h5",
                               "--batch.micro=4", "--run.threads=1", "--run.device=cpu")
        self.expect(measured, 0)
        keyed = self.convoy("evaluate", "--data.test=data/train", "--data.train=data", "--init.weights=w.safetensors",
                            "--model.name=resnet20", "--batch.micro=4", "--run.threads=1", "--run.device=cpu", *numbers)
        loss = [next(word for word in zip(a.output.split(), a.output.split()[1:]) if word[0] == "loss")
                for a in (measured, keyed)]
        self.assertEqual(loss[0], loss[1])

    def test_keys_that_contradict_each_other_are_refused(self):
        self.expect(self.train("run", "--augment.mean=imagenet"), 2, "augment.mean = imagenet, but augment.stddev = data")
        self.expect(self.train("run", "--augment.normalize=false", "--augment.mean=0.5"), 2, "augment.normalize = false")
        self.expect(self.train("run", "--augment.mean=0.5, 0.5", "--augment.stddev=0.5"), 2,
                    "augment.mean = 0.5, 0.5 has 2 numbers, but the images of data.train have 3 channels")
        self.expect(self.train("run", "--augment.mean=123.7"), 2, "augment.mean = 123.7 is out of range")


if __name__ == "__main__":
    field.main()
