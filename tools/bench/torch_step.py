#!/usr/bin/env python3
"""Times PyTorch on the step that `bench_step` times, on synthetic data. One line of JSON a mode.

A ResNet, by SGD:

    tools/bench/torch_step.py --model resnet50 --size 224 --batch 256 --precision bf16 --modes eager,compile
    tools/bench/torch_step.py --device cpu --threads 2 --batch 16 --precision f32 --modes eager

The second beside:

    build/release/bench_step --model resnet50 --size 224 --classes 1000 --micro 16 --global 16 --threads 2

A Transformer's encoder for two classes of texts, by AdamW, in turn with Convoy's step by step. `compile` is
torch.compile; `fused` takes PyTorch's fused attention, which on a CPU has no dropout of weights:

    tools/bench/torch_step.py --model transformer --device cpu --threads 2 --batch 32 --precision f32 \\
        --modes eager,compile,fused,fused+compile --against "build/release/bench_step --yardstick"
"""
import argparse
import json
import math
import resource
import shlex
import statistics
import subprocess
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
    parser.add_argument("--model", choices=[*NETWORKS, "transformer"], default="resnet50")
    parser.add_argument("--size", type=int, default=224, help="image side, pixels")
    parser.add_argument("--length", type=int, default=256, help="tokens of a text")
    parser.add_argument("--vocabulary", type=int, default=20000)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--feedforward", type=int, default=1024)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--classes", type=int, help="default: 1000 of images, 2 of texts")
    parser.add_argument("--precision", choices=PRECISIONS["cuda"], default="bf16")
    parser.add_argument("--device", choices=PRECISIONS, default="cuda")
    parser.add_argument("--threads", type=int, help="on a CPU; default: PyTorch's choice")
    parser.add_argument("--modes", default="eager,compile")
    parser.add_argument("--steps", type=int, default=30, help="timed steps")
    parser.add_argument("--warm", type=int, default=10, help="steps before them")
    parser.add_argument("--against", metavar="BENCH_STEP", help="a command whose steps are timed in turn: transformers")
    args = parser.parse_args()
    if args.classes is None:
        args.classes = 2 if args.model == "transformer" else 1000
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


class EncoderLayer(nn.Module):
    """torch.nn.TransformerEncoderLayer with attention in one call, whose weights are not dropped."""

    def __init__(self, width, heads, feedforward, dropout):
        super().__init__()
        self.heads = heads
        self.in_proj, self.out_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.linear1, self.linear2 = nn.Linear(width, feedforward), nn.Linear(feedforward, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def attend(self, x):
        n, t, c = x.shape
        qkv = self.in_proj(x).view(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(*qkv)
        return self.out_proj(y.transpose(1, 2).reshape(n, t, c))

    def forward(self, x):
        x = self.norm1(x + self.dropout(self.attend(x)))
        return self.norm2(x + self.dropout(self.linear2(self.dropout(torch.relu(self.linear1(x))))))


class TextClassifier(nn.Module):
    """Words, sinusoidal positions, an encoder, the mean over the words."""

    def __init__(self, args, fused):
        super().__init__()
        shape = (args.width, args.heads, args.feedforward, args.dropout)
        self.embedding = nn.Embedding(args.vocabulary, args.width)
        self.dropout = nn.Dropout(args.dropout)
        layer = EncoderLayer if fused else lambda *shape: nn.TransformerEncoderLayer(*shape, batch_first=True)
        self.layers = nn.Sequential(*(layer(*shape) for _ in range(args.layers)))
        self.classifier = nn.Linear(args.width, args.classes)
        rate = torch.exp(torch.arange(0, args.width, 2) * (-math.log(10000) / args.width))
        angle = torch.arange(args.length)[:, None] * rate
        self.register_buffer("positions", torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1))

    def forward(self, tokens):
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim) + self.positions
        return self.classifier(self.layers(self.dropout(x)).mean(1))


def make(args, mode):
    """The network, its optimizer and a batch."""
    if args.model == "transformer":
        model = TextClassifier(args, "fused" in mode).to(args.device).train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, fused=True)
        x = torch.randint(args.vocabulary, (args.batch, args.length), device=args.device)
    else:
        model = resnet(args.model, args.classes).to(args.device).to(memory_format=torch.channels_last).train()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)
        x = torch.randn(args.batch, 3, args.size, args.size, device=args.device)
        x = x.to(memory_format=torch.channels_last)
    return model, optimizer, x


def synchronize(device):
    """Waits until the device has done what was issued; a CPU has by then."""
    if device == "cuda":
        torch.cuda.synchronize()


def peak_memory(device):
    """Bytes: what the GPU's allocator held at most, or the process on a CPU."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated()
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def make_step(args, mode):
    """A training step, to be called again and again."""
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = args.precision == "tf32"
    if args.device == "cpu" and args.threads:
        torch.set_num_threads(args.threads)
    model, optimizer, x = make(args, mode)
    loss_of = torch.nn.CrossEntropyLoss()
    mixed = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(args.precision)
    scaler = torch.amp.GradScaler(args.device, enabled=args.precision == "fp16")
    labels = torch.randint(args.classes, (args.batch,), device=args.device)

    def forward(samples, targets):
        with torch.autocast(args.device, dtype=mixed, enabled=mixed is not None):
            return loss_of(model(samples), targets)

    if "compile" in mode:
        forward = torch.compile(forward, mode="max-autotune-no-cudagraphs" if args.device == "cuda" else "default")

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = forward(x, labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    return step


class Convoy:
    """bench_step, waiting to be asked for steps of the same network."""

    def __init__(self, args):
        shape = {name: getattr(args, name) for name in ("model", "classes", "length", "vocabulary", "layers", "heads",
                                                        "width", "feedforward", "dropout", "precision", "device")}
        shape |= {"micro": args.batch, "global": args.batch, "threads": args.threads}
        options = [word for name, value in shape.items() for word in (f"--{name}", str(value))]
        self.process = subprocess.Popen([*shlex.split(args.against), *options, "--paced"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        while (line := self.process.stdout.readline()) != "ready\n":
            if not line:
                raise RuntimeError(f"{args.against} has ended with status {self.process.wait()}")

    def step(self):
        """Its seconds, and those of oneDNN's products alone."""
        self.process.stdin.write("step\n")
        self.process.stdin.flush()
        return map(float, self.process.stdout.readline().split())

    def finish(self):
        self.process.stdin.close()
        self.process.wait()


def measure(args, mode):
    """Seconds per step (median) and the peak of memory."""
    if args.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    step = make_step(args, mode)
    for _ in range(args.warm):
        step()
    convoy = Convoy(args) if args.against else None
    seconds, rounds = [], []
    for _ in range(args.steps):
        synchronize(args.device)
        start = time.perf_counter()
        step()
        synchronize(args.device)
        seconds.append(time.perf_counter() - start)
        if convoy:
            own, products = convoy.step()
            rounds.append({"convoy_seconds": own, "times_as_fast": seconds[-1] / own, "of_products": products / own})
    if convoy:
        convoy.finish()
    return {
        "program": f"PyTorch {torch.__version__}",
        "mode": mode,
        "precision": args.precision,
        "seconds": statistics.median(seconds),
        "images_per_second": args.batch / statistics.median(seconds),
        "memory_bytes": peak_memory(args.device),
    } | {name: statistics.median(r[name] for r in rounds) for name in (rounds[0] if rounds else [])}


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
