"""Pictures as people have them: of four components, of other formats, in folders named like splits, and oddities that
are read as they should be. Pillow says what the pixels are."""
import io
import random
import struct
import zlib

import field


def smooth(width, height, seed=0):
    """A colour picture without two equal quarters, made without any library: bytes in the order R, G, B."""
    return bytes(
        channel
        for y in range(height)
        for x in range(width)
        for channel in ((40 + 5 * x + seed * 31) % 256, (200 - 3 * y + 2 * x) % 256, (7 * x + 11 * y + seed) % 256)
    )


def png(width, height, pixels, color_type=2, depth=8, before_data=()):
    """A PNG file of these bytes; `before_data`: chunks such as PLTE and tRNS."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    row = len(pixels) // height
    rows = b"".join(b"\0" + pixels[y * row : (y + 1) * row] for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, 0)
    chunks = b"".join(chunk(kind, body) for kind, body in before_data)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunks + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def pillow():
    try:
        from PIL import Image
    except ImportError:
        return None
    return Image


# --- JPEGs of four components -------------------------------------------------------------------------------------


def adobe_segment(file):
    """Where the segment FF EE begins and ends."""
    begin = file.index(b"\xff\xee")
    return begin, begin + 2 + int.from_bytes(file[begin + 2 : begin + 4], "big")


def cmyk(image, **options):
    """As Pillow writes it: with Adobe's segment, whose last byte, 0, says CMYK."""
    out = io.BytesIO()
    image.convert("CMYK").save(out, "JPEG", **options)
    return out.getvalue()


def ycck(file):
    """The same coefficients, read as YCCK: Adobe's 2."""
    _, end = adobe_segment(file)
    return file[: end - 1] + b"\2" + file[end:]


def without_segment(file):
    begin, end = adobe_segment(file)
    return file[:begin] + file[end:]


KINDS = {"cmyk": lambda file: file, "ycck": ycck, "bare": without_segment}


class FourComponents(field.Case):
    def setUp(self):
        super().setUp()
        self.Image = pillow()
        if self.Image is None:
            self.skipTest("Pillow is missing: apt-get install python3-matplotlib")

    def noise(self, width, height, seed):
        generator = random.Random(seed)
        small = self.Image.frombytes("RGB", (width // 4, height // 4), generator.randbytes(width * height // 16 * 3))
        return small.resize((width, height), self.Image.BICUBIC)

    def pixels(self, file, mode="RGB"):
        return self.Image.open(io.BytesIO(file)).convert(mode).tobytes()

    def check_import(self, kind):
        """Imported pixels are stored one picture after the other: Pillow's must be found in the shard."""
        right = b""
        for name in ("a", "b"):
            for i in range(2):
                picture = self.noise(32, 32, ord(name) + i) if i else self.Image.new("RGB", (32, 32), (200, 120, 40))
                file = KINDS[kind](cmyk(picture, quality=90))
                right += self.pixels(file)
                self.write(f"source/{name}/{i}.jpg", file)
        self.expect(self.convoy("import", "--import.source=source", "--import.output=data"), 0,
                    "train: 4 images 32x32x3")
        self.assertTrue(right in (self.folder / "data/train.h5").read_bytes(), "not Pillow's pixels")
        self.assertGreater(len(set(right)), 100)

        grey = b"".join(self.pixels((self.folder / f"source/{name}/{i}.jpg").read_bytes(), "L")
                        for name in "ab" for i in range(2))
        self.expect(self.convoy("import", "--import.source=source", "--import.output=grey", "--import.channels=1"), 0)
        self.assertTrue(grey in (self.folder / "grey/train.h5").read_bytes(), "not Pillow's grey pixels")

    def test_cmyk_of_adobe_has_pillows_pixels(self):
        self.check_import("cmyk")

    def test_ycck_of_adobe_has_pillows_pixels(self):
        self.check_import("ycck")

    def test_cmyk_without_adobes_segment_has_pillows_pixels(self):
        self.check_import("bare")

    def test_a_network_sees_pillows_pixels_when_it_decodes_a_part(self):
        """Of 80 x 40 pixels a network of 24 x 24 sees the middle: only that is decoded. The same pixels as PNG give the
        same probabilities, to the last digit."""
        for name in ("a", "b"):
            for i in range(2):
                self.write(f"source/{name}/{i}.png", png(24, 24, smooth(24, 24, ord(name) + i)))
        self.expect(self.convoy("import", "--import.source=source", "--import.output=data"), 0)
        self.expect(self.convoy(
            "train", "--data.train=data", "--data.test=data/train", "--model.name=resnet20", "--batch.global=4",
            "--batch.micro=4", "--train.max_steps=1", "--augment.size=24", "--run.directory=run", "--run.threads=1",
            "--run.device=cpu", "--optimizer.lr=0.001"), 0)
        for kind, make in KINDS.items():
            for subsampling in (0, 2):
                file = make(cmyk(self.noise(80, 40, 5), quality=85, subsampling=subsampling))
                self.write(f"jpeg/{kind}{subsampling}.jpg", file)
                self.write(f"png/{kind}{subsampling}.png", png(80, 40, self.pixels(file)))
        rows = []
        for folder in ("jpeg", "png"):
            self.expect(self.convoy("predict", "run/params.cfg", f"--predict.data={folder}",
                                    f"--predict.output={folder}.csv"), 0)
            lines = (self.folder / f"{folder}.csv").read_text().splitlines()[1:]
            rows.append([line.replace(".jpg", "").replace(".png", "") for line in lines])
        self.assertEqual(len(rows[0]), 6)
        self.assertEqual(rows[0], rows[1])
        probabilities = {line.split(",", 1)[1] for line in rows[0]}
        self.assertGreater(len(probabilities), 3)  # the pictures do differ in what the network sees


# --- What is left out of a picture -------------------------------------------------------------------------------


class LeftOut(field.Case):
    def deep(self, seed):
        return png(8, 8, bytes(b for value in smooth(8, 8, seed) for b in (0, value)), depth=16)

    def test_bits_and_transparency_that_are_left_out_are_said(self):
        for split, count in (("train", 3), ("test", 2)):
            for name in ("a", "b"):
                for i in range(count):
                    self.write(f"source/{split}/{name}/{i}.png", png(8, 8, smooth(8, 8, i)))
        self.write("source/train/b/deep.png", self.deep(0))
        self.write("source/test/a/deep.png", self.deep(1))
        self.write("source/train/a/alpha.png", png(8, 8, bytes(4) * 64, color_type=6))
        self.write("source/train/a/cut.png", self.deep(1)[:60])
        deep = ("2 of 13 images have 16 bits per channel, of which the upper 8 are kept: 'b/deep.png' and others. "
                "Stretch such images to the full range first")
        alpha = "1 of 13 images has an alpha channel or transparent colours, which are left out: 'a/alpha.png'. Draw"
        for ranks in (0, 2):
            answer = self.convoy("import", "--import.source=source", "--import.output=data", "--import.replace=true",
                                 "--import.shards=2", ranks=ranks)
            self.expect(answer, 0, deep.replace("b/", "train/b/"), alpha.replace("a/alpha", "train/a/alpha"))
            self.assertEqual(answer.output.count("upper 8"), 1)

        self.expect(self.convoy(
            "train", "--data.train=data", "--data.test=data", "--model.name=resnet20", "--batch.global=4",
            "--batch.micro=4", "--train.max_steps=1", "--run.directory=run", "--run.threads=1", "--run.device=cpu"), 0)
        indexed = png(8, 8, bytes(64), 3, before_data=((b"PLTE", bytes(6)), (b"tRNS", b"\0")))
        self.write("new/1.png", indexed)
        for i in range(2, 6):
            self.write(f"new/{i}.png", self.deep(i))
        for more in ((), ("--evaluate.mirror=true",)):
            for ranks in (0, 2):
                answer = self.convoy("predict", "run/params.cfg", "--predict.data=new", *more, ranks=ranks)
                self.expect(answer, 0, "predict.data = new: 4 of 5 images have 16 bits", "'2.png' and others",
                            "1 of 5 images has an alpha channel or transparent colours, which are left out: '1.png'. Draw")

        # The same network, given texts
        self.write("new.csv", "text\na film\n")
        self.expect(self.convoy("predict", "run/params.cfg", "--predict.data=new.csv"), 2,
                    "predict.data = new.csv is a table of texts, but the network reads images")
        self.write("new.txt", "a film\n")
        self.expect(self.convoy("predict", "run/params.cfg", "--predict.data=new.txt"), 2,
                    "predict.data = new.txt is a text, but the network reads images")
        self.write("bad.png", "no image")
        self.expect(self.convoy("predict", "run/params.cfg", "--predict.data=bad.png"), 2,
                    "predict.data = bad.png: its only image is bad: 'bad.png': it is neither a JPEG nor a PNG")


# --- Other formats ------------------------------------------------------------------------------------------------

OTHERS = {
    "webp": (b"RIFF\x24\0\0\0WEBPVP8 " + bytes(40), "a WebP image"),
    "gif": (b"GIF89a\1\0\1\0\0\0\0;" + bytes(20), "a GIF image"),
    "bmp": (b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0" + bytes(50), "a BMP image"),
    "tiff": (b"II*\0\x08\0\0\0" + bytes(50), "a TIFF image"),
    "tiff_big": (b"MM\0*\0\0\0\x08" + bytes(50), "a TIFF image"),
    "heic": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(30), "a HEIC image"),
    "avif": (b"\0\0\0\x1cftypavif\0\0\0\0mif1avif" + bytes(30), "an AVIF image"),
    "jxl": (b"\xff\x0a" + bytes(30), "a JPEG XL image"),
    "svg": (b"<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'/>", "an SVG drawing"),
    "gzip": (b"\x1f\x8b\x08\0" + bytes(30), "a gzip file"),
    "zip": (b"PK\3\4\x14\0\0\0" + bytes(30), "a zip archive"),
    "dicom": (bytes(128) + b"DICM" + bytes(30), "a DICOM file"),
    "npy": (b"\x93NUMPY\1\0" + bytes(30), "a NumPy array (.npy)"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "a pointer of Git LFS"),
    "page": (b"<!DOCTYPE html>\n<html><title>Sign in</title></html>", "a web page (HTML)"),
    "zeros": (bytes(4096), "begins with zero bytes"),
}


class OtherFormats(field.Case):
    def test_what_is_neither_jpeg_nor_png_is_named_by_its_first_bytes(self):
        for name in ("a", "b"):
            self.write(f"source/{name}/good.jpg", png(8, 8, smooth(8, 8)))  # a PNG of that name is read
        for name, (content, _) in OTHERS.items():
            self.write(f"source/a/{name}.jpg", content)
        answer = self.convoy("import", "--import.source=source", "--import.output=data")
        self.expect(answer, 0, "train: 2 images 8x8x3", f"skipped {len(OTHERS)} bad images, named in data/skipped.txt",
                    f"{len(OTHERS) - 10} more were skipped; data/skipped.txt names all")
        self.assertEqual(answer.output.count("skipped 'a/"), 10)
        skipped = dict(line.split(": ", 1) for line in (self.folder / "data/skipped.txt").read_text().splitlines())
        self.assertEqual(len(skipped), len(OTHERS))
        for name, (_, kind) in OTHERS.items():
            self.assertIn(f"it is {kind}" if name != "zeros" else kind, skipped[f"a/{name}.jpg"])
        for name in ("webp", "gif", "bmp", "tiff", "heic"):
            self.assertIn("Convert it to PNG", skipped[f"a/{name}.jpg"])
            self.assertIn("converts the first page", skipped[f"a/{name}.jpg"])
            self.assertIn("keep the original in another folder", skipped[f"a/{name}.jpg"])
        for name in ("tiff", "tiff_big", "dicom"):
            self.assertIn("1 or 3 channels", skipped[f"a/{name}.jpg"])
        self.assertIn("Import it as arrays", skipped["a/npy.jpg"])
        self.assertIn("import.target", skipped["a/npy.jpg"])

    def test_a_source_that_is_a_file_is_named(self):
        self.write("x.npz", b"PK\3\4\x14\0\0\0\0\0\0\0!\0" + bytes(14) + b"images.npy" + bytes(30))
        self.write("x.tar.gz", b"\x1f\x8b\x08\0" + bytes(30))
        self.write("x.jpg", png(8, 8, smooth(8, 8)))
        for name, format, kind in (("x.npz", "folder", "a NumPy archive (.npz)"), ("x.tar.gz", "cifar", "a gzip file"),
                                   ("x.jpg", "auto", "a file")):
            answer = self.convoy("import", f"--import.source={name}", "--import.output=data", f"--import.format={format}")
            self.expect(answer, 2, f"import.source = {name}: it is {kind}, but a folder was expected")
            self.assertNotIn("no such folder", answer.output)
        self.expect(self.convoy("import", "--import.source=x.npz", "--import.output=data"), 2, "import.target is needed")
        self.expect(self.convoy("import", "--import.source=absent", "--import.output=data"), 2,
                    "import.source = absent: there is no such file or folder")

    def test_a_source_without_a_good_image_does_not_ask_for_other_shards(self):
        for name in ("a", "b"):
            for i in range(4):
                self.write(f"source/{name}/{i}.h5", b"\x89HDF\r\n\x1a\n" + bytes(99))
        keys = ("import", "--import.source=source", "--import.output=data", "--import.size=8", "--import.channels=3")
        answer = self.convoy(*keys)
        self.expect(answer, 2, "all 8 are bad", "Replace the bad images")
        self.assertNotIn("import.shards", answer.output)
        self.expect(self.convoy(*keys, "--import.shards=2"), 2, "all 4 are bad", "or set a smaller import.shards")

    def test_a_folder_with_an_archive_alone_says_so(self):
        self.write("source/pictures.zip", b"PK\3\4\x14\0\0\0" + bytes(30))
        self.expect(self.convoy("import", "--import.source=source", "--import.output=data"), 2,
                    "it holds no folders; it holds 1 file: 'pictures.zip', which is a zip archive")


# --- Folders ------------------------------------------------------------------------------------------------------


class Folders(field.Case):
    def put(self, *folders, count=1):
        for number, folder in enumerate(folders):
            for i in range(count):
                self.write(f"source/{folder}/{i}.png", png(8, 8, smooth(8, 8, number + i)))

    def import_(self, *more):
        return self.convoy("import", "--import.source=source", "--import.output=data", *more)

    def test_classes_whose_names_begin_like_one_split_are_classes(self):
        self.put("test_positive", "test_negative", count=2)
        self.expect(self.import_(), 0, "train: 4 images 8x8x3, 2 classes", "are taken as classes",
                    "test_negative, test_positive")

    def test_two_classes_of_train_are_classes_also_with_folders_in_them(self):
        self.put("train_a", "train_b")
        self.expect(self.import_(), 0, "train: 2 images 8x8x3, 2 classes")
        self.put("train_a/left", "train_a/right", "train_b/left")
        self.expect(self.import_("--import.replace=true"), 2, "'train_a' and 'train_b' both belong to split train",
                    "import.splits = false")
        self.expect(self.import_("--import.replace=true", "--import.splits=false"), 0,
                    "train: 5 images 8x8x3, 2 classes")

    def test_a_refusal_of_names_of_splits_names_the_key_that_allows_them(self):
        self.put("train", "test")
        self.expect(self.import_(), 2, "these are names of splits", "import.splits = false")
        self.expect(self.import_("--import.splits=false"), 0, "train: 2 images 8x8x3, 2 classes")
        self.put("valley/day", "valley/night", "hill")
        self.expect(self.import_("--import.replace=true"), 2, "there is a split valley", "import.splits = false")

    def test_folders_of_splits_under_other_names_are_announced(self):
        self.put("seg_train/cat", "seg_train/dog", "seg_test/cat", "seg_test/dog")
        self.expect(self.import_(), 0, "are imported as classes, but all of them hold folders of the same names (cat, dog)")

    def test_a_test_split_without_classes_is_left_out_and_predicted(self):
        self.put("train/cat", "train/dog", "test/unknown", count=2)
        self.expect(self.import_(), 0, "train: 4 images", "'source/test' is not imported", "'unknown', is not a class of train",
                    "predict.data = source/test")
        self.assertFalse((self.folder / "data/test.h5").exists())

    def test_a_test_split_of_bare_files_is_left_out_and_predicted(self):
        self.put("train/cat", "train/dog", "test", count=2)
        self.expect(self.import_(), 0, "train: 4 images", "not imported: test", "predict.data = source/test")

    def test_a_class_that_train_lacks_among_others_is_refused(self):
        self.put("train/cat", "train/dog", "test/cat", "test/dgo")
        self.expect(self.import_(), 2, "test/dgo' is a class that train does not have. Train has 2: cat, dog")

    def test_classes_without_a_sample_in_a_split_are_named(self):
        self.put("train/cat", "train/dog", "train/owl", "test/dog", count=2)
        self.expect(self.import_(), 0, "test: 2 of 3 classes have no sample: cat, owl")


# --- Oddities that are read as they should be -----------------------------------------------------------------------


class StaysRight(field.Case):
    def test_files_of_desktops_and_empty_files_are_skipped_and_named(self):
        for name in ("a", "b"):
            self.write(f"source/{name}/1.png", png(8, 8, smooth(8, 8)))
        self.write("source/.DS_Store", b"\0\0\0\1Bud1")
        self.write("source/a/.DS_Store", b"\0\0\0\1Bud1")
        self.write("source/a/._1.png", b"\0\5\x16\7" + bytes(40))
        self.write("source/a/Thumbs.db", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40))
        self.write("source/b/2.png", b"")
        answer = self.convoy("import", "--import.source=source", "--import.output=data")
        self.expect(answer, 0, "train: 2 images 8x8x3, 2 classes", "'a/Thumbs.db': it is a Windows file of previews",
                    "'b/2.png': it is empty", "skipped 2 bad images")
        self.assertNotIn("DS_Store", answer.output)
        self.assertNotIn("._1", answer.output)

    def test_an_empty_class_folder_and_a_single_class_are_refused(self):
        self.write("source/a/1.png", png(8, 8, smooth(8, 8)))
        self.expect(self.convoy("import", "--import.source=source", "--import.output=data"), 2,
                    "all its images would be of one class, 'a'")
        (self.folder / "source/b").mkdir()
        self.expect(self.convoy("import", "--import.source=source", "--import.output=data"), 2,
                    "class folder 'source/b' is empty")

    def test_ten_thousand_classes_are_imported(self):
        picture = self.write("one/1.png", png(2, 2, bytes(range(12))))
        (self.folder / "source").mkdir()
        for number in range(10_000):  # links to one folder, as 10,000 folders take long to remove
            (self.folder / f"source/{number:05}").symlink_to(picture.parent)
        self.expect(self.convoy("import", "--import.source=source", "--import.output=data"), 0,
                    "train: 10000 images 2x2x3, 10000 classes")

    def test_pngs_of_16_bits_and_with_transparent_palettes_have_their_pixels(self):
        """16 bits: the nearest of 8 (v / 257). A palette: its colours, whatever their transparency."""
        wide = [(x * 9001 + y * 777 + 255) % 65536 for y in range(8) for x in range(8)]
        self.write("source/a/1.png", png(8, 8, b"".join(struct.pack(">H", v) for v in wide), color_type=0, depth=16))
        palette = bytes((i * 7 + c * 50) % 256 for i in range(16) for c in range(3))
        indices = bytes((3 * x + 5 * y) % 16 for y in range(8) for x in range(8))
        self.write("source/b/1.png", png(8, 8, indices, color_type=3,
                                         before_data=((b"PLTE", palette), (b"tRNS", bytes(range(0, 256, 16))))))
        right = b"".join(bytes([(v * 255 + 32895) >> 16]) * 3 for v in wide)
        right += b"".join(palette[3 * i : 3 * i + 3] for i in indices)
        self.expect(self.convoy("import", "--import.source=source", "--import.output=data"), 0,
                    "train: 2 images 8x8x3, 2 classes")
        self.assertTrue(right in (self.folder / "data/train.h5").read_bytes(), "not the right pixels")


if __name__ == "__main__":
    field.main()
