#!/usr/bin/env python3
"""PyTorch as the judge of Convoy's weights: weights of torchvision in, the same logits; the same steps of training; the
export back into torchvision, strictly, and the same logits again. Ends with 77 (skipped) where PyTorch is missing.

Usage: judge.py MODEL CONVOY TORCH_PEER TORCH_WEIGHTS [--freeze LAYER] [--optimizer sgd|adam|adamw] [--group LAYER=FACTOR ...]
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from judging import compare, require, run

torch, torchvision = require("torch", "torchvision")

SIZE, BATCH, CLASSES, STEPS = 64, 16, 10, 5
# Steps so small that five of them stay near the line along which float32's roundings grow no faster than linearly.
OPTIMIZERS = {
    "sgd": {"lr": 1e-3, "momentum": 0.9, "weight_decay": 1e-2},
    "adam": {"lr": 1e-4, "betas": (0.8, 0.99), "eps": 1e-8, "weight_decay": 1e-2},
    "adamw": {"lr": 1e-4, "betas": (0.8, 0.99), "eps": 1e-8, "weight_decay": 10.0},  # a factor of 1 - 1e-3 a step
}
# Relative, of whole vectors. Two float32 programs whose sums have other orders differ by some 1e-6 per layer. Adam divides
# each gradient by its own size: where that is near 0, rounding decides the sign of a step of full length. A value whose
# gradient is below 1e-6 of its tensor's is one in 1e6, and its step is wrong by 2: 2 / sqrt(1e6) of the update's norm,
# which no bound for each value would allow. Measured with Adam and AdamW: weights 5e-5, updates 2.4e-3.
MOST_LOGITS, MOST_WEIGHTS, MOST_UPDATES = 1e-4, 1e-3, 2e-2


def main():
    arguments = parse_arguments()
    model, convoy, peer, torch_weights = arguments.model, arguments.convoy, arguments.peer, arguments.torch_weights
    torch.manual_seed(1)
    net = make_network(model)
    images, labels = torch.randn(BATCH, 3, SIZE, SIZE), torch.randint(CLASSES, (BATCH,))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        torch.save(net.state_dict(), folder / "weights.pth")
        run(sys.executable, torch_weights, folder / "weights.pth", folder / "weights.safetensors", "--model", model)
        write_job(folder, arguments, images, labels)
        before = logits_of(net, images)
        run(peer, folder)
        compare("logits", read_logits(folder / "logits.f32"), before, MOST_LOGITS)

        start = {name: tensor.clone() for name, tensor in net.state_dict().items()}
        train(net, images, labels, arguments)
        run(convoy, "export", f"--init.weights={folder}/trained.h5", f"--export.output={folder}/trained.safetensors")
        run(sys.executable, torch_weights, folder / "trained.safetensors", folder / "trained.pth")
        trained = torch.load(folder / "trained.pth")
        compare_weights(trained, net.state_dict(), start)

        again = new_network(model)
        again.load_state_dict(trained, strict=True)
        compare("logits of the export", logits_of(again, images), read_logits(folder / "logits_after.f32"), MOST_LOGITS)


def parse_arguments():
    parser = argparse.ArgumentParser()
    for name in ("model", "convoy", "peer", "torch_weights"):
        parser.add_argument(name)
    parser.add_argument("--freeze", help="layer2: that layer is frozen in both")
    parser.add_argument("--group", action="append", default=[], help="fc=10: that layer learns at ten times the rate")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="sgd")
    return parser.parse_args()


def groups_of(arguments):
    return {layer: float(factor) for layer, factor in (group.split("=") for group in arguments.group)}


def new_network(model):
    settings = {"image_size": SIZE} if model.startswith("vit") else {}
    net = getattr(torchvision.models, model)(num_classes=CLASSES, **settings)
    for module in net.modules():
        if isinstance(module, (torch.nn.Dropout, torchvision.ops.StochasticDepth)):
            module.p = 0.0
    return net


def make_network(model):
    """Random weights, running statistics of some batches, and norms that scale and shift: what ends a block little, as
    residual networks are often begun, or rounding would grow from block to block."""
    net = new_network(model)
    last = last_norms(net)
    with torch.no_grad():
        for module in net.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.weight.uniform_(*((0.0, 0.1) if module in last else (0.5, 1.0)))
                module.bias.uniform_(-0.2, 0.2)
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.uniform_(0.5, 1.0)
                module.bias.uniform_(-0.2, 0.2)
            if isinstance(module, torch.nn.Conv2d) and module.bias is not None:
                module.bias.uniform_(-0.2, 0.2)
            if isinstance(module, torch.nn.Linear) and not module.weight.any():
                module.weight.normal_(0, 0.05)  # all logits would be 0
        for name, parameter in net.named_parameters():
            if name.endswith("layer_scale"):
                parameter.uniform_(0.0, 0.1)
        net.train()
        for _ in range(2):
            net(torch.randn(BATCH, 3, SIZE, SIZE))
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.num_batches_tracked.zero_()  # Convoy counts its own steps
    return net


def last_norms(net):
    """The batch norms that end a residual block."""
    blocks = (
        torchvision.models.resnet.BasicBlock,
        torchvision.models.resnet.Bottleneck,
        torchvision.models.efficientnet.MBConv,
        torchvision.models.mobilenetv3.InvertedResidual,
    )
    last = set()
    for block in net.modules():
        if isinstance(block, blocks):
            norms = {name: m for name, m in block.named_modules() if isinstance(m, torch.nn.BatchNorm2d)}
            last.add([m for name, m in norms.items() if not name.startswith("downsample")][-1])
    return last


def write_job(folder, arguments, images, labels):
    job = {"model": arguments.model, "size": SIZE, "batch": BATCH, "classes": CLASSES, "steps": STEPS}
    job |= {"freeze": [arguments.freeze + ".*"] if arguments.freeze else []}
    job |= {"groups": {layer + ".*": factor for layer, factor in groups_of(arguments).items()}}
    job |= {"optimizer": arguments.optimizer} | OPTIMIZERS[arguments.optimizer]
    (folder / "job.json").write_text(json.dumps(job))
    (folder / "images.f32").write_bytes(images.permute(0, 2, 3, 1).contiguous().numpy().tobytes())
    (folder / "labels.i32").write_bytes(labels.int().numpy().tobytes())


def logits_of(net, images):
    net.eval()
    with torch.no_grad():
        return net(images)


def train(net, images, labels, arguments):
    net.train()
    if arguments.freeze:
        frozen = getattr(net, arguments.freeze)
        frozen.eval()
        frozen.requires_grad_(False)
    settings = OPTIMIZERS[arguments.optimizer]
    groups = {}  # by factor
    for name, parameter in net.named_parameters():
        if parameter.requires_grad:
            groups.setdefault(groups_of(arguments).get(name.split(".")[0], 1.0), []).append(parameter)
    groups = [{"params": parameters, "lr": settings["lr"] * factor} for factor, parameters in groups.items()]
    kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    optimizer = kinds[arguments.optimizer](groups, **settings)
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(images), labels).backward()
        optimizer.step()


def read_logits(path):
    return torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.float32).reshape(BATCH, CLASSES)


def compare_weights(got, want, start):
    if got.keys() != want.keys():
        sys.exit(f"names differ: {sorted(got.keys() ^ want.keys())}")
    worst, worst_update = (0.0, "none"), (0.0, "none")
    for name, tensor in want.items():
        if got[name].shape != tensor.shape or got[name].dtype != tensor.dtype:
            sys.exit(f"{name}: {got[name].dtype} {got[name].shape}, not {tensor.dtype} {tensor.shape}")
        if name.endswith("num_batches_tracked"):
            if got[name].item() != tensor.item():  # a frozen layer counts nothing
                sys.exit(f"{name} is {got[name].item()}, not {tensor.item()}")
            continue
        deviation = ((got[name].double() - tensor.double()).norm() / tensor.double().norm()).item()
        worst = max(worst, (deviation, name))
        moved = ((start[name].double() - tensor.double()).norm() / tensor.double().norm()).item()
        if moved == 0 and deviation > 0:
            sys.exit(f"{name} was frozen, but differs by {deviation}")
        worst_update = max(worst_update, (deviation / moved if moved > 0 else 0.0, name))
        if not deviation <= MOST_WEIGHTS:
            sys.exit(f"{name} differs by {deviation}, allowed {MOST_WEIGHTS}")
    print(f"weights after {STEPS} steps: {worst[0]:.1e} ({worst[1]}), allowed {MOST_WEIGHTS:.0e}")
    print(f"their updates: {worst_update[0]:.1e} ({worst_update[1]}), allowed {MOST_UPDATES:.0e}")
    if not worst_update[0] <= MOST_UPDATES:
        sys.exit(f"the update of {worst_update[1]} differs by {worst_update[0]}")


main()
