#!/usr/bin/env python3
"""Times PyTorch on the step that `bench_step` times: a network of torchvision, synthetic data, SGD. One line of JSON a mode.

    tools/bench/torch_step.py --model resnet50 --size 224 --batch 256 --precision bf16 --modes eager,compile
"""
import argparse
import json
import statistics
import time

import torch
import torchvision


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--size", type=int, default=224, help="image side, pixels")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--precision", choices=["f32", "tf32", "bf16", "fp16"], default="bf16")
    parser.add_argument("--modes", default="eager,compile")
    parser.add_argument("--steps", type=int, default=30, help="timed steps")
    return parser.parse_args()


def measure(args, mode):
    """Seconds a step (median) and the most memory that the allocator held."""
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = args.precision == "tf32"
    torch.cuda.reset_peak_memory_stats()
    model = getattr(torchvision.models, args.model)(num_classes=args.classes)
    model = model.cuda().to(memory_format=torch.channels_last).train()
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
        print(json.dumps(measure(args, mode)), flush=True)
        torch._dynamo.reset()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
