#!/usr/bin/env python3
"""Write reference results of training steps on samples of arrays, computed by PyTorch in float64: errors of numbers, of
fields of numbers, and the loss of several labels.

Usage: make_golden_arrays.py NAME ...
  NAME  a name of CASES below: NAME.json in this folder is written

Tensors are filled, and steps are run, as in make_golden.py. Arrays have their channels last, as Convoy stores them.
Targets are in their own units; outputs are compared with (target - mean) / stddev.
"""
import os
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from make_golden import CifarResNet, Mlp, fill, fill_parameters, train, uniform, write_golden

NUMBERS = {"mean": [18.5, -3.25, 100.0], "stddev": [12.0, 0.5, 30.0]}
VECTORS = {"model": "mlp", "settings": {"layers": "2", "width": "32", "activation": "gelu"}, "inputs": {"values": [24]}, "batch": 8, "micro": 4}
FIELD = {"model": "field", "file": "field.lua", "inputs": {"image": [8, 6, 3]}, "target": [8, 6, 2], "batch": 6, "micro": 3,
         "mean": [18.5, -3.25], "stddev": [12.0, 0.5]}
PATCHES = {"model": "resnet20", "inputs": {"image": [16, 16, 7]}, "batch": 6, "micro": 3}
CASES = {
    "vectors_mse-b8-m4": {**VECTORS, **NUMBERS, "loss": "mse"},
    "vectors_huber-b8-m4": {**VECTORS, **NUMBERS, "loss": "huber", "huber_delta": 0.75},
    "labels-b8-m4": {**VECTORS, "loss": "binary_cross_entropy", "weights": [4.0, 1.0, 0.5, 2.25, 1.5]},
    "two_inputs-b8-m4": {**NUMBERS, "model": "two_inputs", "file": "two_inputs.lua", "inputs": {"spectrum": [16, 2], "position": [3]},
                         "batch": 8, "micro": 4, "loss": "mae"},
    "field_mse-b6-m3": {**FIELD, "loss": "mse"},
    "field_huber-b6-m3": {**FIELD, "loss": "huber", "huber_delta": 0.75},
    "patches_mse-b6-m3": {**PATCHES, **NUMBERS, "loss": "mse", "lr": 0.001},
    "patches_huber-b6-m3": {**PATCHES, **NUMBERS, "loss": "huber", "huber_delta": 0.75, "lr": 0.004},
}


class Layer(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.linear = nn.Linear(inputs, width)

    def forward(self, x):
        return F.relu(self.linear(x))


class TwoInputs(nn.Module):
    """two_inputs.lua."""

    def __init__(self, outputs):
        super().__init__()
        self.spectrum, self.position, self.fc = Layer(32, 16), Layer(16 + 3, 24), nn.Linear(24, outputs)

    def forward(self, spectrum, position):
        return self.fc(self.position(torch.cat((self.spectrum(spectrum.flatten(1)), position), 1)))


class FieldCell(nn.Module):
    def __init__(self, inputs, dilation=1, norm=False):
        super().__init__()
        self.conv = nn.Conv2d(inputs, 12, 3, 1, dilation, dilation, bias=not norm)
        if norm:
            self.bn = nn.BatchNorm2d(12)


class Field(nn.Module):
    """field.lua, on (N,H,W,C); the results of a sample are one row."""

    def __init__(self, channels, outputs):
        super().__init__()
        self.first, self.second = FieldCell(channels, norm=True), FieldCell(12, dilation=2)
        self.conv, self.fc = nn.Conv2d(12, 8, 3, 1, 1, bias=False), nn.Linear(8, outputs)

    def forward(self, x):
        x = F.relu(self.first.bn(self.first.conv(x.permute(0, 3, 1, 2))))
        x = F.relu(self.second.conv(x) + x)
        return self.fc(self.conv(x).permute(0, 2, 3, 1)).flatten(1)


class Vectors(Mlp):
    """input/networks/mlp.lua on vectors."""

    def forward(self, x):
        return super().forward(x[:, :, None, None])


class Patches(CifarResNet):
    """input/networks/resnet_small.lua on images of several channels, (N,H,W,C)."""

    def __init__(self, channels, outputs):
        super().__init__(20, outputs)
        self.conv1 = nn.Conv2d(channels, 16, 3, 1, 1, bias=False)

    def forward(self, x):
        return super().forward(x.permute(0, 3, 1, 2))


def build(case, outputs):
    if case["model"] == "two_inputs":
        return TwoInputs(outputs)
    if case["model"] == "field":
        return Field(case["inputs"]["image"][-1], outputs)
    if case["model"] == "resnet20":
        return Patches(case["inputs"]["image"][-1], outputs)
    return Vectors(case["inputs"]["values"][0], outputs, **case["settings"])


def pixels_of(case):
    return int(np.prod(case["target"][:-1])) if "target" in case else 1


def targets_of(case, outputs):
    shape = (case["batch"], outputs * pixels_of(case))
    if case["loss"] == "binary_cross_entropy":
        return torch.from_numpy((uniform("target", shape[0] * outputs) < 0.4).astype(np.float64).reshape(shape))
    mean, stddev = (np.tile(case[key], pixels_of(case)) for key in ("mean", "stddev"))
    in_units = mean + stddev * fill("target", shape, -1.5, 1.5).numpy()
    return torch.from_numpy(in_units.astype(np.float32).astype(np.float64))


def loss_of(case):
    if case["loss"] == "binary_cross_entropy":
        weights = torch.tensor(case["weights"], dtype=torch.float64)
        return lambda y, t: F.binary_cross_entropy_with_logits(y, t, pos_weight=weights)
    mean, stddev = (torch.tensor(case[key], dtype=torch.float64).repeat(pixels_of(case)) for key in ("mean", "stddev"))
    error = {"mse": F.mse_loss, "mae": F.l1_loss, "huber": lambda y, t: F.huber_loss(y, t, delta=case["huber_delta"])}[case["loss"]]
    return lambda y, t: error(y, (t - mean) / stddev)


def main():
    for name in sys.argv[1:]:
        case = CASES[name]
        outputs = len(case["weights"] if case["loss"] == "binary_cross_entropy" else case["mean"])
        net = build(case, outputs).double()
        fill_parameters(net)
        inputs = [fill(key, [case["batch"]] + dims, -1.5, 1.5) for key, dims in case["inputs"].items()]
        targets = targets_of(case, outputs)
        result = {"model": case["model"]}
        result.update({key: case[key] for key in ("file", "settings", "inputs", "target") if key in case})
        result.update({"batch": case["batch"], "microbatch": case["micro"], "outputs": outputs})
        result.update({key: case[key] for key in ("loss", "huber_delta", "weights", "mean", "stddev") if key in case})
        result.update({"sgd": {"lr": case.get("lr", 0.02), "momentum": 0.9, "weight_decay": 5e-4}, "targets": targets.tolist(), "losses": []})
        train(net, inputs, targets, loss_of(case), result)
        write_golden(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".json"), result)


if __name__ == "__main__":
    main()
