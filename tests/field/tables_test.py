"""Tables of texts as people have them: broken quotes, other separators and encodings, columns that are others than they seem."""
import csv
import gzip

import field

GOOD = "text,label\n" + "".join(f"a {word} film number {i},{label}\n" for i in range(6)
                                for word, label in (("good", "pos"), ("bad", "neg")))


class Tables(field.Case):
    def imported(self, source, *more, **how):
        return self.convoy("import", f"--import.source={source}", "--import.output=out", *more, **how)

    def refused(self, answer, *parts):
        """A refusal: status 2, and one message that quotes little of what the file holds."""
        self.expect(answer, 2, *parts)
        self.assertLess(len(answer.output), 1500, answer.output[:2000])
        control = [c for c in answer.output if ord(c) < 32 and c != "\n"]
        self.assertEqual(control, [], answer.output)

    def train(self, table="tables/train.csv", *more):
        """A network of texts, trained for one step on the table; its run directory is `run`."""
        self.expect(self.imported(table, *more), 0)
        self.expect(self.convoy(
            "train", "--model.name=transformer", "--model.layers=1", "--model.heads=1", "--model.width=16",
            "--model.feedforward=8", "--model.length=8", "--data.train=out/train", "--data.val=out/train",
            "--batch.global=4", "--batch.micro=4", "--train.max_steps=1", "--run.directory=run", "--run.threads=1",
            "--run.device=cpu"), 0)

    def predicted(self, *keys):
        return self.convoy("predict", "run/params.cfg", *keys)

    def rows(self, name="run/predictions.csv"):
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    # --- Quotes ---------------------------------------------------------------------------------------------------------

    BROKEN = ('text,label\n"A fine film,pos\nbad film,neg\ndull film,neg\nawful film,neg\n"Superb" acting,pos\n'
              "poor film,neg\n")

    def test_quotes_that_are_not_closed_cost_their_own_rows_alone(self):
        # RFC 4180 refuses line 2, whose quote ends on line 6 before a text, and line 6. Four rows are good.
        self.write("both/train.csv", GOOD)
        self.write("both/test.csv", self.BROKEN)
        self.expect(self.imported("both"), 0, "test: 4 texts", "skipped 2 bad texts, named above",
                    "'test.csv:2': text follows the closing quote of a field (lines 2 to 6)",
                    "'test.csv:6': text follows the closing quote of a field (line 6)")

    def test_bad_rows_are_named_where_the_others_are_not_enough(self):
        # The same table as a training set: its four good rows are of one class.
        self.refused(self.imported(self.write("train.csv", self.BROKEN)), "all texts are of one class, 'neg'",
                     "2 of 6 rows are bad", "'train.csv:2'", "(lines 2 to 6)", "'train.csv:6'", "(line 6)")

    def test_quote_that_is_open_at_the_end_costs_its_own_row_alone(self):
        table = self.write("train.csv", GOOD + '"never closed,pos\nlast but good,neg\nlast and good,pos\n')
        self.expect(self.imported(table), 0, "train: 14 texts", "skipped 1 bad text, named above",
                    "'train.csv:14': a quoted field is not closed before the end of the file (lines 14 to 16)")

    def test_line_breaks_in_quotes_that_are_closed_are_text(self):
        table = self.write("train.csv", GOOD + '"two\nlines, and ""quotes""",pos\r\n"three\n\nlines",neg\n')
        answer = self.imported(table)
        self.expect(answer, 0, "train: 14 texts")
        self.assertNotIn("bad", answer.output)

    # --- Bytes ----------------------------------------------------------------------------------------------------------

    def test_zero_bytes_are_named_by_their_lines(self):
        table = GOOD + "awful film,neg\0\nfine\0 film,pos\n"
        for ranks in (0, 2):
            self.expect(self.imported(self.write("train.csv", table), "--import.replace=true", ranks=ranks), 0,
                        "train: 12 texts", "'train.csv:14': its class has a control character: byte 0x00 at 3",
                        "'train.csv:15': it is binary: byte 0x00 at 4")

    def test_utf_16_is_named(self):
        for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
            self.refused(self.imported(self.write("train.csv", GOOD.encode(encoding))), "is UTF-16. Convert it to UTF-8",
                         "iconv -f UTF-16")

    def test_other_files_are_named(self):
        self.refused(self.imported(self.write("train.csv", gzip.compress(GOOD.encode()))), "is a gzip file")
        self.refused(self.imported(self.write("train.csv", b"PK\x03\x04" + bytes(range(256)))), "is a zip archive")
        sheet = b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml" + bytes(99)
        self.refused(self.imported(self.write("train.csv", sheet)), "is an Excel table")
        self.refused(self.imported(self.write("train.csv", "größe,label\na,b\n".encode("latin-1"))), "is not UTF-8",
                     "iconv -f WINDOWS-1252")

    def test_tables_in_another_encoding_are_refused(self):
        letters = GOOD + "un film raté,neg\nfine film,pos\nun très bon film,pos\n"
        self.refused(self.imported(self.write("train.csv", letters.encode("cp1252"))),
                     "train.csv' is not UTF-8: 2 rows have other bytes, the first on line 14", "iconv -f WINDOWS-1252",
                     "> NEW_FILE")
        # One damaged row, or rows among others that are UTF-8, are left out as they are.
        one = GOOD.encode() + "un film raté,neg\n".encode("cp1252")
        self.expect(self.imported(self.write("train.csv", one)), 0, "train: 12 texts", "skipped 'train.csv:14': it is not")
        both = letters.encode("cp1252") + "un film réussi,pos\n".encode()
        self.expect(self.imported(self.write("train.csv", both), "--import.replace=true"), 0, "train: 14 texts",
                    "skipped 'train.csv:14'", "skipped 'train.csv:16'")
        # A letter that is cut where a field is too long is no other encoding.
        long = GOOD + f"{'x' * (2 ** 20 - 1)}éé,neg\n" * 2
        self.expect(self.imported(self.write("train.csv", long), "--import.replace=true"), 0, "train: 12 texts",
                    "it is too long")

    def test_bad_rows_are_named_in_the_order_of_the_table(self):
        lines = [f"a film {i},{'pos' if i % 2 else 'neg'}\n" for i in range(1100)]
        bad = (4, 20, 109, 1010, 1074)
        for line in bad:
            lines[line - 2] = ",pos\n"
        table = self.write("train.csv", "text,label\n" + "".join(lines))
        for more in ((), ("--import.val_fraction=0.5",)):
            answer = self.imported(table, "--import.replace=true", *more, ranks=2)
            self.expect(answer, 0)
            named = [line.split("'")[1] for line in answer.output.splitlines() if "skipped 'train.csv:" in line]
            self.assertEqual(named, [f"train.csv:{line}" for line in bad])
            for split in (self.folder / "out").glob("val*"):
                split.unlink()

    def test_carriage_returns_alone_are_named(self):
        table = GOOD.replace("\n", "\r") * 20000  # 7 MB in one line
        self.refused(self.imported(self.write("train.csv", table)), "ends its lines in carriage returns alone",
                     r"text,label\ra good film", "tr '\\r' '\\n'")
        quoted = '"text","label"\r"good","pos"\r"bad","neg"\r'
        self.refused(self.imported(self.write("train.csv", quoted)), "ends its lines in carriage returns alone")
        mixed = GOOD + "one good,pos\rtwo bad,neg\n"
        self.expect(self.imported(self.write("train.csv", mixed)), 0, "train: 12 texts",
                    "'train.csv:14': it has a carriage return outside quotes (line 14)")

    # --- Separators and headers -----------------------------------------------------------------------------------------

    def test_other_separators_are_named(self):
        for separator, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")):
            self.refused(self.imported(self.write("train.csv", GOOD.replace(",", separator))),
                         f"separates its fields by {name}: its first row is 'text", "(pandas: read_csv(")
        self.refused(self.imported(self.write("train.tsv", GOOD)), "separates its fields by commas", "Name it .csv")

    def test_missing_header_is_named(self):
        table = "".join(GOOD.splitlines(keepends=True)[1:])
        self.refused(self.imported(self.write("train.csv", table)), "Its first row names: a good film number 0, pos",
                     "if the first row is not a row of names, insert such a row above it")

    def test_names_of_a_header_are_quoted_in_part(self):
        self.refused(self.imported(self.write("train.csv", "a\x1b[31m" * 9999 + ",b\n1,2\n")),
                     r"Its first row names: a\x1b[31ma\x1b", "...")

    def test_row_names_of_r_are_named(self):
        # write.table(d, "train.csv", sep = ","): the header has no name for the column of row names.
        table = '"text","label"\n"1","good film","pos"\n"2","bad film","neg"\n'
        self.refused(self.imported(self.write("train.csv", table)), "names 2 columns", "it has 3 fields, but the first row has 2",
                     "R's write.table", "row.names = FALSE")
        some = GOOD + "1,good,pos\nbad\n"
        self.expect(self.imported(self.write("train.csv", some)), 0, "train: 12 texts",
                    "'train.csv:14': it has 3 fields, but the first row has 2", "'train.csv:15': it has 1 field, but the first row has 2")

    def test_line_breaks_in_quotes_of_a_tsv_are_named(self):
        # pandas: to_csv("train.tsv", sep="\t", index=False), for a text of two lines
        table = GOOD.replace(",", "\t") + '"first half\nsecond half"\tpos\n'
        self.refused(self.imported(self.write("train.tsv", table)), "lines 14 to 15 are one row with a line break in quotes",
                     "Write it as .csv")
        letters = GOOD.replace(",", "\t") + '"so they say\tpos\n"no" end"\tneg\n'
        self.expect(self.imported(self.write("train.tsv", letters)), 0, "train: 14 texts")

    # --- Splits ---------------------------------------------------------------------------------------------------------

    def test_tables_of_glue_become_train_and_val(self):
        table = GOOD.replace("text,", "sentence,").replace(",", "\t")
        self.write("SST-2/train.tsv", table)
        self.write("SST-2/dev.tsv", table.replace("number", "no."))
        self.write("SST-2/test.tsv", "index\tsentence\n0\ta film\n1\tanother film\n")
        answer = self.imported("SST-2", "--import.text_column=sentence")
        self.expect(answer, 0, "train: 12 texts", "val: 12 texts", "test.tsv' has no column 'label' and is left out",
                    "convoy predict")
        self.assertNotIn("test: ", answer.output)

    def test_tables_of_no_split_are_named(self):
        self.write("t/train.csv", GOOD)
        self.write("t/more.csv", GOOD)
        self.expect(self.imported("t"), 0, "these tables belong to no split and are not read: more.csv")
        self.write("u/reviews.csv", GOOD)
        self.refused(self.imported("u", "--import.replace=true"), "no table in it is named as a split", "reviews.csv")

    def test_classes_of_a_test_that_train_does_not_have_say_what_to_do(self):
        self.write("t/train.csv", GOOD)
        self.write("t/test.csv", "text,label\na film,-1\n")  # how some libraries write that there is no class
        self.refused(self.imported("t"), "has a class '-1' that train does not have", "convoy predict reads tables")

    # --- Columns that are others than they seem -------------------------------------------------------------------------

    def test_swapped_columns_are_refused(self):
        table = "text,label\n" + "".join(f"{'pos' if i % 2 else 'neg'},a film number {i}\n" for i in range(500))
        answer = self.imported(self.write("train.csv", table))
        self.refused(answer, "column 'label' has 500 different classes in 500 texts", "import.label_column",
                     "import.max_class_fraction = 0.1 allows 50")
        self.expect(self.imported("train.csv", "--import.max_class_fraction=1"), 0, "train: 500 texts",
                    "500 of 500 classes of split train have a single sample")

    def test_numbers_lists_and_spellings_as_classes_are_named(self):
        for labels, warning in ((("0.73", "0.5"), "are numbers: '0.5', '0.73'"),
                                (("1", "1|3", "3"), "seem to be several classes each: '1|3'"),
                                (("pos", "neg", "Pos ", "POS"), "'POS', 'Pos ', 'pos' differ only in capitals or spaces, and "
                                 "are imported as 3 separate names")):
            table = "text,label\n" + "".join(f"a film {i},{labels[i % len(labels)]}\n" for i in range(30))
            self.expect(self.imported(self.write("train.csv", table), "--import.replace=true"), 0,
                        f"classes in the column 'label' ", warning)
        table = "text,label\n" + "".join(f"{i / 4},{i % 2}\n" for i in range(30))
        self.expect(self.imported(self.write("train.csv", table), "--import.replace=true"), 0,
                    "all texts in the column 'text' are numbers, for example '0.0'")
        # Classes that are whole numbers, or names with commas, are what they seem.
        for labels in (("1", "2", "10"), ("Paris, France", "Lyon, France")):
            table = "text,label\n" + "".join(f'a film {i},"{labels[i % len(labels)]}"\n' for i in range(30))
            answer = self.imported(self.write("train.csv", table), "--import.replace=true")
            self.expect(answer, 0)
            self.assertNotIn("warning", answer.output)

    def test_many_whole_numbers_as_classes_are_named(self):
        for count in (20, 21):
            table = "text,label\n" + "".join(f"a film {i},{i % count}\n" for i in range(300))
            answer = self.imported(self.write("train.csv", table), "--import.replace=true")
            self.expect(answer, 0)
            self.assertEqual("classes in the column 'label' are numbers: '0', '1', '2', .... Each is a class of its own, and "
                             "their order is not learnt" in answer.output, count == 21, answer.output)

    def test_classes_of_a_single_sample_are_named(self):
        table = self.write("train.csv", GOOD + "odd film,Odd\n")
        answer = self.imported(table)
        self.expect(answer, 0, "1 of 3 classes of split train has a single sample: 'Odd'")
        self.assertEqual(answer.output.count("single sample"), 1)
        for name, count in (("ant", 2), ("bee", 1), ("cat", 1)):
            for i in range(count):
                self.write(f"folder/{name}/{i}.txt", f"a text {i}")
        self.expect(self.imported("folder", "--import.replace=true"), 0,
                    "2 of 3 classes of split train have a single sample: 'bee', 'cat'")

    def test_class_folders_that_differ_in_capitals_alone_are_named(self):
        for name in ("bus stops", "Bus stops", "cat"):
            for i in range(2):
                self.write(f"folder/{name}/{i}.txt", f"a text {i}")
        answer = self.imported("folder")
        self.expect(answer, 0, "import.source = folder: the classes 'Bus stops', 'bus stops' differ only in capitals or spaces, "
                    "and are imported as 2 separate names")
        self.assertEqual(answer.output.count("warning"), 1, answer.output)

    # --- A share of few samples -----------------------------------------------------------------------------------------

    def test_fraction_of_small_classes_is_said(self):
        table = "text,label\n" + "".join(f"a film {i},{label}\n" for i, label in enumerate("aabbccd"))
        self.expect(self.imported(self.write("train.csv", table), "--import.val_fraction=0.1"), 0, "val: 3 texts",
                    "import.val_fraction = 0.1: 3 of 7 samples of train go to split val (42.9 %); 1 sample each from 3 "
                    "classes whose share would round to 0; none from 1 class with only 1 sample")
        answer = self.imported(self.write("train.csv", GOOD), "--import.val_fraction=0.5", "--import.replace=true")
        self.expect(answer, 0, "val: 6 texts")
        self.assertNotIn("import.val_fraction", answer.output)

    def test_fraction_of_small_classes_of_pictures_is_said(self):
        from PIL import Image
        for name in ("ant", "bee"):
            for i in range(2):
                path = self.folder / "photos" / name / f"{i}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.new("L", (8, 8), 40 * i).save(path)
        self.expect(self.imported("photos", "--import.val_fraction=0.9"), 0, "val: 2 images",
                    "2 of 4 samples of train go to split val (50.0 %); all samples but 1 each from 2 classes whose "
                    "share would round to all")

    # --- Predictions ----------------------------------------------------------------------------------------------------

    def test_predictions_remember_the_columns_and_carry_the_others(self):
        table = "stars,review,sentiment\n" + "".join(
            f"{i % 5},{line}\n" for i, line in enumerate(GOOD.splitlines()[1:]))
        self.write("tables/train.csv", table)
        self.train("tables/train.csv", "--import.text_column=review", "--import.label_column=sentiment")
        new = self.write("new.csv", 'id,review,class\n7,a good film,"x, y"\n8,,z\n9,a bad film,"say ""so"""\n')
        self.expect(self.predicted(f"--predict.data={new}"), 0, "new.csv: 2 samples", "skipped 1 bad text, named above",
                    "'new.csv:3': it is empty")
        self.assertEqual([(row["name"], row["id"], row["table_class"]) for row in self.rows()],
                         [("new.csv:2", "7", "x, y"), ("new.csv:4", "9", 'say "so"')])
        # A column that is given comes first; labels are found in the remembered one.
        other = self.write("other.csv", "text,sentiment\na good film,pos\n")
        self.refused(self.predicted(f"--predict.data={other}"), "has no column 'review'", "import.text_column")
        self.expect(self.predicted(f"--predict.data={other}", "--import.text_column=text"), 0, "1 sample  top-1 ")

    def test_files_that_are_no_predictions_are_not_overwritten(self):
        self.write("tables/train.csv", GOOD)
        self.train()
        self.write("new.csv", GOOD)
        self.write("other.csv", "a,b\n1,2\n")
        self.write("more.h5", b"\x89HDF\r\n\x1a\n" + bytes(99))
        shard = next((self.folder / "out").glob("train*.h5"))
        contents = {path: path.read_bytes() for path in (self.folder / "new.csv", self.folder / "other.csv", shard)}
        for data in ("new.csv", self.folder / "new.csv"):
            self.refused(self.predicted(f"--predict.data={data}", "--predict.output=new.csv"),
                         "predict.output: 'new.csv' is read by this command", "Give another name")
        self.refused(self.predicted("--predict.data=new.csv", "--predict.output=other.csv"),
                     "predict.output: 'other.csv' exists and does not hold predictions of convoy")
        self.refused(self.predicted("--predict.data=new.csv", "--predict.output=more.csv"),
                     "predict.output: 'more.h5' exists and does not hold predictions of convoy")
        self.refused(self.predicted("--predict.data=new.csv", f"--predict.output={shard.with_suffix('.csv')}"),
                     f"predict.output: '{shard}' exists")
        self.refused(self.predicted("--predict.data=out/train", f"--predict.output={shard.with_suffix('.csv')}"),
                     f"predict.output: '{shard}' exists")
        self.assertEqual(contents, {path: path.read_bytes() for path in contents})
        # Earlier predictions are replaced, and so is an empty file; those that are read are not.
        self.write("p.csv", "")
        for _ in range(2):
            self.expect(self.predicted("--predict.data=new.csv", "--predict.output=p.csv"), 0, "-> p.csv, p.h5")
        self.refused(self.predicted("--predict.data=p.csv", "--import.text_column=name", "--predict.output=p.csv"),
                     "'p.csv' is read by this command")

    def test_files_that_are_no_weights_are_not_overwritten(self):
        self.write("tables/train.csv", GOOD)
        self.train()
        export = ("export", "--run.directory=run", "--export.output=w.safetensors")
        self.write("w.safetensors", "my notes")
        self.refused(self.convoy(*export), "export.output: 'w.safetensors' exists and does not hold weights")
        (self.folder / "w.safetensors").unlink()
        for _ in range(2):
            self.expect(self.convoy(*export), 0, "-> w.safetensors")
        self.refused(self.convoy("export", "--init.weights=w.safetensors", "--export.output=w.safetensors"),
                     "export.output: 'w.safetensors' is read by this command")

    def test_texts_that_are_longer_than_the_network_reads_are_said(self):
        self.write("tables/train.csv", GOOD + "a film that is much longer than all of the others,pos\n")
        self.write("tables/test.csv", GOOD + "a film that has exactly eight words here,pos\n")
        self.expect(self.imported("tables"), 0)
        cut = "data.train: 1 of 13 texts is longer than model.length = 8 tokens: the rest of such a text is not read"
        keys = ["--model.layers=1", "--model.heads=1", "--model.width=16", "--model.feedforward=8", "--model.length=8",
                "--data.train=out", "--data.test=out", "--batch.global=4", "--batch.micro=4", "--train.max_steps=1",
                "--run.threads=1", "--run.device=cpu"]
        for command in ("check", "train"):
            answer = self.convoy(command, "--model.name=transformer", "--run.directory=run", *keys)
            self.expect(answer, 0, cut)
            self.assertEqual(answer.output.count("the rest of such a text is not read"), 1, answer.output)
        self.expect(self.convoy("evaluate", "run/params.cfg", "--data.test=out/train"), 0,
                    cut.replace("data.train", "data.test"))
        self.assertNotIn("not read", self.convoy("evaluate", "run/params.cfg").output)
        for ranks in (0, 2):
            answer = self.convoy("predict", "run/params.cfg", "--predict.text=" + "film " * 9, ranks=ranks)
            self.expect(answer, 0, "predict.text: the text is longer than model.length = 8 tokens: the rest of such a text is not read")
            self.assertEqual(answer.output.count("not read"), 1)
        self.expect(self.predicted("--predict.data=tables/train.csv"), 0, cut.replace("data.train", "predict.data"))

        # BERT's two special tokens count.
        answer = self.convoy("check", "--model.name=bert_classifier", "--run.directory=bert", *keys)
        self.expect(answer, 0, "data.test: 1 of 13 texts is longer than model.length = 8 tokens, 2 of which are special tokens")

    def test_texts_without_a_known_word_are_said(self):
        self.write("tables/train.csv", GOOD)
        self.train()
        warning = "no word that the network knows"
        self.expect(self.predicted("--predict.text=zzz qqq"), 0, f"predict.text = zzz qqq: the text has {warning}")
        self.assertNotIn(warning, self.predicted("--predict.text=zzz film").output)
        self.write("new.csv", "text\na film\nzzz\nqqq zzz\n")
        for ranks in (0, 2):
            self.expect(self.convoy("predict", "run/params.cfg", "--predict.data=new.csv", ranks=ranks), 0,
                        f"predict.data = new.csv: 2 of 3 texts have {warning}: 'new.csv:3' and others")

    def test_texts_without_a_known_letter_are_said(self):
        self.write("tables/train.csv", GOOD * 9)
        self.train("tables/train.csv", "--import.tokenizer=subwords", "--import.vocabulary=40")
        self.write("new.csv", "text\na film\n你好 世界\nqqq zgood\n")
        self.expect(self.predicted("--predict.data=new.csv"), 0,
                    "1 of 3 texts has no word that the network knows: 'new.csv:3'. The predicted classes of such texts have no meaning")

    def test_pictures_and_texts_are_told_apart(self):
        self.write("tables/train.csv", GOOD)
        self.train()
        self.write("x.png", b"\x89PNG\r\n\x1a\n" + bytes(99))
        self.refused(self.predicted("--predict.data=x.png"), "predict.data = x.png is an image, but the network reads texts")
        self.write("t/1.txt", "")
        self.refused(self.predicted("--predict.data=t"), "predict.data = t: its only text is bad: '1.txt': it is empty")
        self.write("t/2.txt", "")
        self.refused(self.predicted("--predict.data=t"), "predict.data = t: none of 2 texts is good; the first one: '1.txt': it is empty")

    def test_nothing_is_not_predicted_as_something_else(self):
        self.write("tables/train.csv", GOOD)
        self.train()
        self.write("run/predictions.csv", "of yesterday")
        for key in ("predict.text", "predict.data"):
            self.refused(self.predicted(f"--{key}=", "--data.test=out/train"), f"{key} is empty: there is nothing to predict")
        self.assertEqual((self.folder / "run/predictions.csv").read_text(), "of yesterday")
        lines = self.write("two.txt", "a good film\n\na bad film\n")
        self.expect(self.predicted(f"--predict.data={lines}"), 0, "two.txt' has 2 lines, which are predicted together as one text",
                    "whose column 'text' has one line in each row")
        line = self.write("one.txt", "a good film\n")
        self.assertNotIn("warning", self.predicted(f"--predict.data={line}").output)


field.main()
