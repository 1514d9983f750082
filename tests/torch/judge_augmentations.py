#!/usr/bin/env python3
"""torchvision as the judge of augmentations: given the random numbers that Convoy drew, it erases and pastes the same
rectangles, and its edits of PIL images give the same bytes. Ends with 77 (skipped) where PyTorch is missing.

Usage: judge_augmentations.py AUGMENTATION_PEER
"""

import json
import subprocess
import sys
import zlib
from unittest import mock

from judging import require

torch, torchvision = require("torch", "torchvision")
from PIL import Image  # noqa: E402  not before torchvision, which needs it, is known to be there
from torchvision.transforms import ColorJitter, InterpolationMode, RandAugment, TrivialAugmentWide, autoaugment, v2  # noqa: E402


def below(bits, bound):
    """The integer in [0, bound) that these 64 random bits are."""
    return bits * bound >> 64


def erased_by_torchvision(case):
    """RandomErasing's rectangle: the first number says whether at all, then come area, aspect, row, column of each try."""
    uniform, bits = case["draws"]["uniform"], case["draws"]["bits"]
    tries, places = iter([1 + 4 * t + k for t in range(10) for k in range(2)]), []

    class Uniform:
        def uniform_(self, low, high):
            at = next(tries)
            if at % 4 == 1:
                places[:] = [at + 2, at + 3]
            return torch.tensor([float(low) + (float(high) - float(low)) * uniform[at]], dtype=torch.float64)

    def randint(low, high, size):
        return torch.tensor([low + below(bits[places.pop(0)], high - low)])

    h, w = case["size"]
    image = torch.empty(3, h, w)
    with mock.patch.object(torch, "empty", lambda *_: Uniform()), mock.patch.object(torch, "randint", randint):
        top, left, height, width, value = torchvision.transforms.RandomErasing.get_params(
            image, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=[0.0]
        )
    return [0, 0, 0, 0] if value is image else [top, left, top + height, left + width]


def pasted_by_torchvision(case):
    """CutMix's box; Beta gives the share of the image itself."""
    bits = iter(case["draws"]["bits"])
    cutmix = v2.CutMix(num_classes=2)
    cutmix._dist = mock.Mock(sample=lambda _: 1.0 - case["share"])
    h, w = case["size"]
    image = torch.zeros(1, 3, h, w)
    with mock.patch.object(torch, "randint", lambda high, size: torch.tensor([below(next(bits), high)])):
        left, top, right, bottom = cutmix.make_params([image])["box"]
    return [top, left, bottom, right]


def checksum(image):
    pixels = image.tobytes()
    return f"{zlib.crc32(pixels):08x}{zlib.adler32(pixels):08x}"


def policy_of(name, level=9):
    return TrivialAugmentWide() if name == "trivialaugment" else RandAugment(num_ops=3, magnitude=level)


def magnitudes_of(policy, image):
    """By the number of an edit: its name, its magnitudes, and whether it has a sign."""
    if isinstance(policy, TrivialAugmentWide):
        space = policy._augmentation_space(31)
    else:
        space = policy._augmentation_space(31, (image.height, image.width))
    return [(name, magnitudes, signed) for name, (magnitudes, signed) in space.items()]


def edited_by_torchvision(image, case):
    name, magnitudes, signed = magnitudes_of(policy_of(case["policy"]), image)[case["kind"]]
    magnitude = float(magnitudes[case["level"]]) if magnitudes.ndim > 0 else 0.0
    if signed and case["negative"]:
        magnitude = -magnitude
    return checksum(autoaugment._apply_op(image, name, magnitude, InterpolationMode.NEAREST, None))


def drawn_by_torchvision(image, case):
    """A policy asks for an edit (one of 14), its level (of 31) and its sign (of 2): the numbers that Convoy took."""
    bits, edit = case["draws"]["bits"], [-1]

    def randint(bound, size, dtype=None):
        if bound == 14:
            edit[0] += 1
        return torch.tensor([below(bits[3 * edit[0] + {14: 0, 31: 1, 2: 2}[bound]], bound)])

    with mock.patch.object(torch, "randint", randint):
        return checksum(policy_of(case["policy"], case["level"])(image))


def jittered_by_torchvision(image, case):
    jitter = ColorJitter()
    jitter.get_params = lambda *_: (torch.tensor(case["order"]), *case["factor"], None)
    return checksum(jitter(image))


def count_differing(what, results, judged):
    differing = [result for result, expected in zip(results, judged) if result["result"] != expected]
    print(f"{what}: {len(results)} cases, {len(differing)} differ")
    if differing:
        sys.exit(f"{what}: {differing[:5]}")


def judge_edits(editing):
    h, w, c = editing["size"]
    image = Image.frombytes("RGB" if c == 3 else "L", (w, h), bytes(editing["pixels"]))
    for what, judge in (
        ("edits", edited_by_torchvision),
        ("policies", drawn_by_torchvision),
        ("jitter", jittered_by_torchvision),
    ):
        results = editing[what]
        count_differing(f"{what} of {h} x {w} x {c} pixels", results, [judge(image, case) for case in results])
        if min(h, w) > 2 and 10 * len({case["result"] for case in results}) < len(results):
            sys.exit(f"{what}: hardly any two results differ: nothing was compared")


def main():
    cases = json.loads(subprocess.run([sys.argv[1]], check=True, stdout=subprocess.PIPE).stdout)
    for name, judge in (("erasing", erased_by_torchvision), ("cutmix", pasted_by_torchvision)):
        differing = [(case["size"], case["box"], judge(case)) for case in cases[name] if case["box"] != judge(case)]
        boxes = sum(case["box"][2] > case["box"][0] for case in cases[name])
        print(f"{name}: {len(cases[name])} cases, {boxes} with a rectangle, {len(differing)} differ")
        if differing:
            sys.exit(f"{name}: size, ours and torchvision's rectangle (top, left, bottom, right): {differing[:5]}")
        if 2 * boxes < len(cases[name]):
            sys.exit(f"{name}: hardly any rectangle was drawn: nothing was compared")
    for editing in cases["editing"]:
        judge_edits(editing)


main()
