"""What convoy plan answers, with a data set and without one."""
import re

from PIL import Image

import field

BATCH = ["--batch.global=16", "--batch.micro=4"]
MODELLED = ["--plan.ranks=4", "--plan.measure=false"]


class Planning(field.Case):
    def import_images(self, num_samples=70, num_classes=5, size=(16, 16)):
        for i in range(num_samples):
            folder = self.folder / "photos" / "train" / f"kind{i % num_classes}"
            folder.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", size, (i % 256, 3 * i % 256, 7 * i % 256)).save(folder / f"{i}.png")
        self.expect(self.convoy("import", "--import.source=photos", "--import.output=data"), 0)

    def test_images_that_are_not_here_give_the_plan_of_those_that_are(self):
        self.import_images()
        common = ["plan", "--model.name=resnet20", *BATCH, *MODELLED]
        here = self.convoy(*common, "--data.train=data/train")
        described = self.convoy(*common, "--plan.samples=70", "--plan.classes=5", "--plan.image_size=16")
        self.expect(here, 0, "70 training samples 16x16x3, 5 classes", "epoch: 4 steps; 6 samples are left out")
        self.expect(described, 0)
        self.assertEqual(described.output, here.output)

    def test_images_of_any_size_are_planned_as_they_are_resized(self):
        self.import_images()
        self.expect(self.convoy("import", "--import.source=photos", "--import.output=files",
                                "--import.storage=encoded"), 0)
        common = ["plan", "--model.name=resnet18", *BATCH, *MODELLED, "--augment.size=32", "--augment.crop=random_resized"]
        here = self.convoy(*common, "--data.train=files/train")
        described = self.convoy(*common, "--plan.samples=70", "--plan.classes=5")
        self.expect(here, 0, "70 training samples 32x32x3, 5 classes")
        self.assertEqual(described.output, here.output)

    def test_texts_that_are_not_here_give_the_plan_of_those_that_are(self):
        rows = "".join(f"word{i} and some more words,{'pos' if i % 2 else 'neg'}\n" for i in range(40))
        self.write("train.csv", "text,label\n" + rows)
        self.expect(self.convoy("import", "--import.source=train.csv", "--import.output=data"), 0)
        vocabulary = re.search(r"vocabulary of ([0-9]+)|([0-9]+) tokens? of words|([0-9]+) words",
                               self.convoy("info", "data").output)
        self.assertTrue(vocabulary, self.convoy("info", "data").output)
        number = next(group for group in vocabulary.groups() if group)
        common = ["plan", "--model.name=transformer", "--model.length=16", "--model.width=32", "--model.heads=2",
                  "--model.layers=4", *BATCH, *MODELLED]
        here = self.convoy(*common, "--data.train=data/train")
        described = self.convoy(*common, "--plan.samples=40", "--plan.classes=2", f"--plan.vocabulary={number}")
        self.expect(here, 0, "40 training samples")
        self.assertEqual(described.output, here.output)

    def test_what_is_described_wins_over_data_that_cannot_be_opened_and_says_so(self):
        described = self.convoy("plan", *BATCH, "--data.train=/no/such/data", "--plan.samples=60000",
                                "--plan.classes=10", "--plan.image_size=28,28,1")
        self.expect(described, 0, "data.train = /no/such/data is not opened", "60000 training samples 28x28x1, 10 classes")

    def test_without_data_usual_ones_are_assumed_and_the_keys_that_describe_others_are_named(self):
        self.expect(self.convoy("plan", *BATCH), 0, "Assumed: images of 32x32x3, 10 classes.",
                    "To change this: --plan.image_size, --plan.classes", "samples 32x32x3, 10 classes")
        self.expect(self.convoy("plan", *BATCH, "--plan.samples=100", "--plan.classes=7"), 0,
                    "Assumed: images of 32x32x3. To change this: --plan.image_size\n",
                    "100 training samples 32x32x3, 7 classes")
        self.expect(self.convoy("plan", *BATCH, "--data.train=/no/such/data"), 2, "data.train", "--plan.samples=60000")
        self.expect(self.convoy("plan", *BATCH, "--data.train=a", "--plan.classes=10"), 2, "plan.classes = 10",
                    "Give plan.samples.")
        self.expect(self.convoy("plan", *BATCH, "--plan.samples=10", "--plan.classes=2", "--plan.image_size=8,8,7"), 2,
                    "plan.image_size = 8, 8, 7 is not the size of an image")

    def test_large_clusters_have_numbers_without_exponents(self):
        plan = self.convoy("plan", "--model.name=resnet50", "--plan.samples=1281167", "--plan.classes=1000",
                           "--plan.image_size=224", "--plan.ranks=256", "--plan.samples_per_rank=64", "--batch.micro=32",
                           "--plan.measure=false", "--plan.tflop_s=360", "--plan.memory_gb_s=4000",
                           "--plan.ranks_per_node=8", "--plan.latency_us=4,10", "--plan.bandwidth_gb_s=350,45")
        self.expect(plan, 0, "0 to 255", "not possible: ")
        self.assertNotRegex(plan.output, r"[0-9]e[+-]?[0-9]")
        rate = re.search(r"the fastest: ([0-9]+) images/s", plan.output)
        self.assertGreater(int(rate[1]), 100000, plan.output)

    def test_the_fastest_layout_is_named_also_where_there_is_nothing_to_compare_it_with(self):
        plan = self.convoy("plan", "--model.name=resnet20", "--batch.global=64", "--batch.micro=16", "--plan.samples=640",
                           "--plan.classes=10", "--plan.image_size=16", "--plan.ranks=4,8", "--plan.measure=false")
        alone = " % of 4 times the speed of one rank alone\n"
        self.expect(plan, 0, alone, "not compared with one rank alone: its share of batch.global is not a whole number of micro-batches")
        self.assertEqual(len(re.findall("the fastest: [0-9]+ images/s, ", plan.output)), 2, plan.output)

    def test_one_of_anything_is_singular(self):
        plan = self.convoy("plan", "--model.name=resnet20", "--batch.global=4", "--batch.micro=4", "--plan.samples=5",
                           "--plan.classes=1", "--plan.image_size=16")
        self.expect(plan, 0, "5 training samples 16x16x3, 1 class\n", "step: 4 samples = 1 micro-batch of 4\n",
                    "epoch: 1 step; 1 sample is left out of each epoch: a different one each time\n",
                    "grid: 1 stage x 1 replica = 1 rank; 1 micro-batch per step on each replica",
                    "F forward, B backward, . idle; a row is a stage, a column the time of one forward")
        self.assertNotRegex(plan.output, r"\b1 (steps|classes|samples|ranks|micro-batches|stages|replicas)\b")


field.main()
