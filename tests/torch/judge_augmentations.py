#!/usr/bin/env python3
"""torchvision as the judge of augmentations: given the random numbers that Convoy drew, it erases and pastes the same
rectangles. Ends with 77 (skipped) where PyTorch is missing.

Usage: judge_augmentations.py AUGMENTATION_PEER
"""

import json
import subprocess
import sys
from unittest import mock

from judging import require

torch, torchvision = require("torch", "torchvision")
from torchvision.transforms import v2  # noqa: E402  not before it is known to be there


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


main()
