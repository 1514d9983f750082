#!/usr/bin/env python3
"""Times PyTorch on the step that `bench_step` times: a ResNet, synthetic data, SGD. One line of JSON a mode.

    tools/bench/torch_step.py --model resnet50 --size 224 --batch 256 --precision bf16 --modes eager,compile
"""
import argparse
import json
import statistics
import sys
import time

import torch
from torch import nn

# Depth: bottlenecks or basic blocks, and how many in each of the four layers (He et al. 2015, table 1).
NETWORKS = {
    "resnet18": (False, (2, 2, 2, 2)),
    "resnet34": (False, (3, 4, 6, 3)),
    "resnet50": (True, (3, 4, 6, 3)),
    "resnet101": (True, (3, 4, 23, 3)),
    "resnet152": (True, (3, 8, 36, 3)),
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=NETWORKS, default="resnet50")
    parser.add_argument("--size", type=int, default=224, help="image side, pixels")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--precision", choices=["f32", "tf32", "bf16", "fp16"], default="bf16")
    parser.add_argument("--modes", default="eager,compile")
    parser.add_argument("--steps", type=int, default=30, help="timed steps")
    return parser.parse_args()


def convolution(channels, filters, kernel, stride=1):
    """With the batch norm behind it."""
    return nn.Sequential(nn.Conv2d(channels, filters, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(filters))


class Block(nn.Module):
    """A bottleneck strides in its 3x3 convolution."""

    def __init__(self, channels, width, stride, bottleneck):
        super().__init__()
        filters = 4 * width if bottleneck else width
        if bottleneck:
            shapes = [(channels, width, 1, 1), (width, width, 3, stride), (width, filters, 1, 1)]
        else:
            shapes = [(channels, width, 3, stride), (width, filters, 3, 1)]
        self.convolutions = nn.ModuleList(convolution(*shape) for shape in shapes)
        self.shortcut = nn.Identity()
        if stride > 1 or channels != filters:
            self.shortcut = convolution(channels, filters, 1, stride)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = x
        for layer in self.convolutions[:-1]:
            y = self.relu(layer(y))
        return self.relu(self.convolutions[-1](y) + self.shortcut(x))


def resnet(name, classes):
    bottleneck, depths = NETWORKS[name]
    layers = [convolution(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for layer, depth in enumerate(depths):
        width = 64 << layer
        for block in range(depth):
            layers.append(Block(channels, width, 2 if layer > 0 and block == 0 else 1, bottleneck))
            channels = 4 * width if bottleneck else width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


def measure(args, mode):
    """Seconds a step (median) and the most memory that the allocator held."""
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = args.precision == "tf32"
    torch.cuda.reset_peak_memory_stats()
    model = resnet(args.model, args.classes).cuda().to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)
    loss_of = torch.nn.CrossEntropyLoss()
    mixed = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(args.precision)
    scaler = torch.amp.GradScaler("cuda", enabled=args.precision == "fp16")
    x = torch.randn(args.batch, 3, args.size, args.size, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(args.classes, (args.batch,), device="cuda")

    def forward(images, targets):
        with torch.autocast("cuda", dtype=mixed, enabled=mixed is not None):
            return loss_of(model(images), targets)

    if mode == "compile":
        forward = torch.compile(forward, mode="max-autotune-no-cudagraphs")

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = forward(x, labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    for _ in range(10):
        step()
    seconds = []
    for _ in range(args.steps):
        torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return {
        "program": f"PyTorch {torch.__version__}",
        "mode": mode,
        "precision": args.precision,
        "seconds": statistics.median(seconds),
        "images_per_second": args.batch / statistics.median(seconds),
        "memory_bytes": torch.cuda.max_memory_allocated(),
    }


def main():
    args = parse()
    for mode in args.modes.split(","):
        try:
            print(json.dumps(measure(args, mode)), flush=True)
        except Exception as error:  # compiling needs a compiler, memory may not suffice: the other mode may do
            print(f"torch_step: {args.model} {mode}, {args.precision}: {error}", file=sys.stderr)
        torch._dynamo.reset()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
