#!/usr/bin/env python3
"""Times PyTorch on the step that `bench_step` times: a ResNet, synthetic data, SGD. One line of JSON a mode.

    tools/bench/torch_step.py --model resnet50 --size 224 --batch 256 --precision bf16 --modes eager,compile
    tools/bench/torch_step.py --device cpu --threads 2 --batch 16 --precision f32 --modes eager

The second beside:

    build/release/bench_step --model resnet50 --size 224 --classes 1000 --micro 16 --global 16 --threads 2
"""
import argparse
import json
import resource
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


PRECISIONS = {"cuda": ["f32", "tf32", "bf16", "fp16"], "cpu": ["f32", "bf16"]}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=NETWORKS, default="resnet50")
    parser.add_argument("--size", type=int, default=224, help="image side, pixels")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--precision", choices=PRECISIONS["cuda"], default="bf16")
    parser.add_argument("--device", choices=PRECISIONS, default="cuda")
    parser.add_argument("--threads", type=int, help="on a CPU; default: PyTorch's choice")
    parser.add_argument("--modes", default="eager,compile")
    parser.add_argument("--steps", type=int, default=30, help="timed steps")
    args = parser.parse_args()
    if args.precision not in PRECISIONS[args.device]:
        parser.error(f"--device {args.device} has --precision {', '.join(PRECISIONS[args.device])}")
    return args


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


def synchronize(device):
    """Waits until the device has done what was issued; a CPU has by then."""
    if device == "cuda":
        torch.cuda.synchronize()


def peak_memory(device):
    """Bytes: what the GPU's allocator held at most, or the process on a CPU."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated()
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(args, mode):
    """Seconds per step (median) and the peak of memory."""
    torch.manual_seed(1)
    device = args.device
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = args.precision == "tf32"
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    elif args.threads:
        torch.set_num_threads(args.threads)
    model = resnet(args.model, args.classes).to(device).to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)
    loss_of = torch.nn.CrossEntropyLoss()
    mixed = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(args.precision)
    scaler = torch.amp.GradScaler(device, enabled=args.precision == "fp16")
    x = torch.randn(args.batch, 3, args.size, args.size, device=device).to(memory_format=torch.channels_last)
    labels = torch.randint(args.classes, (args.batch,), device=device)

    def forward(images, targets):
        with torch.autocast(device, dtype=mixed, enabled=mixed is not None):
            return loss_of(model(images), targets)

    if mode == "compile":
        forward = torch.compile(forward, mode="max-autotune-no-cudagraphs" if device == "cuda" else "default")

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
        synchronize(device)
        start = time.perf_counter()
        step()
        synchronize(device)
        seconds.append(time.perf_counter() - start)
    return {
        "program": f"PyTorch {torch.__version__}",
        "mode": mode,
        "precision": args.precision,
        "seconds": statistics.median(seconds),
        "images_per_second": args.batch / statistics.median(seconds),
        "memory_bytes": peak_memory(device),
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
