#!/usr/bin/env python3
"""Times PyTorch on the step that `bench_step` times, on synthetic data: a ResNet by SGD, a Transformer's encoder for
two classes of texts by AdamW, or two fully connected layers for numbers by SGD. One line of JSON per mode. A mode is
one or more of these words, with a + between them:

    eager       neither of the next two
    compile     torch.compile with its default settings
    tuned       torch.compile with max-autotune, which takes many minutes for a convolutional network
    contiguous  images as (N, C, H, W); else they lie channels last
    fused       PyTorch's fused attention, which on a CPU drops no attention weights
    cutN        of a pipeline: its second stage begins with part N of the network

    tools/bench/torch_step.py --model resnet50 --size 224 --batch 256 --precision bf16 --modes eager,compile
    tools/bench/torch_step.py --device cpu --threads 2 --batch 16 --precision f32 --modes eager,contiguous

With --paced it makes steps when it is asked to, as bench_step does, so that both take turns: tools/bench/vs_pytorch.
"""
import argparse
import contextlib
import datetime
import json
import re
import resource
import statistics
import sys
import time

import torch
from torch import nn

from torch_networks import PHOTOGRAPHS, SMALL_IMAGES, TextClassifier, resnet

PRECISIONS = {"cuda": ["f32", "tf32", "bf16", "fp16"], "cpu": ["f32", "bf16"]}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=[*PHOTOGRAPHS, *SMALL_IMAGES, "transformer", "mlp"], default="resnet50")
    parser.add_argument("--size", type=int, default=224, help="image side, pixels")
    parser.add_argument("--length", type=int, default=256, help="tokens of a text")
    parser.add_argument("--vocabulary", type=int, default=20000)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--feedforward", type=int, default=1024)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--values", type=int, default=32, help="mlp: numbers of a sample")
    parser.add_argument("--hidden", type=int, default=64, help="mlp: values between its two layers")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--classes", type=int, help="default: 1000 of images, 2 of texts, 3 numbers of mlp")
    parser.add_argument("--precision", choices=PRECISIONS["cuda"], default="bf16")
    parser.add_argument("--device", choices=PRECISIONS, default="cuda")
    parser.add_argument("--threads", type=int, help="on a CPU; default: PyTorch's choice")
    parser.add_argument("--modes", default="eager,compile", help="see above")
    parser.add_argument("--steps", type=int, default=30, help="timed steps")
    parser.add_argument("--warm", type=int, default=10, help="steps before them")
    parser.add_argument("--paced", action="store_true",
                        help="of each line of input: N runs N steps and prints seconds per step, 0 prints the peak "
                             "memory, bytes")
    parser.add_argument("--parallel", choices=["none", "replicas", "pipeline"], default="none",
                        help="over the processes that RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT tell of, by gloo")
    parser.add_argument("--micro", type=int, help="samples of a pipeline's micro-batch")
    args = parser.parse_args()
    check_modes(args, parser)
    if args.classes is None:
        args.classes = {"transformer": 2, "mlp": 3}.get(args.model, 1000)
    if args.precision not in PRECISIONS[args.device]:
        parser.error(f"--device {args.device} has --precision {', '.join(PRECISIONS[args.device])}")
    return args


def words_of(mode):
    return mode.split("+")


def cut_of(mode):
    """The first part of a pipeline's second stage."""
    cuts = [re.fullmatch(r"cut(\d+)", word) for word in words_of(mode)]
    return next((int(cut.group(1)) for cut in cuts if cut), None)


def check_modes(args, parser):
    modes = args.modes.split(",")
    for word in (word for mode in modes for word in words_of(mode)):
        if word not in ("eager", "compile", "tuned", "contiguous", "fused") and not re.fullmatch(r"cut\d+", word):
            parser.error(f"--modes: '{word}' is not known: see --help")
    if args.paced and len(modes) != 1:
        parser.error("--paced takes one mode")
    if args.parallel != "none" and not args.paced:
        parser.error("--parallel is for --paced")
    if args.parallel == "pipeline" and (args.model == "transformer" or not args.micro or cut_of(modes[0]) is None):
        parser.error("--parallel pipeline needs a ResNet, --micro, and a mode with cutN")


def make(args, mode):
    """The network and a batch of one process."""
    batch = args.batch // processes() if args.parallel == "replicas" else args.batch
    if args.model == "transformer":
        return TextClassifier(args, "fused" in words_of(mode)), torch.randint(args.vocabulary, (batch, args.length))
    if args.model == "mlp":
        return (nn.Sequential(nn.Linear(args.values, args.hidden), nn.ReLU(), nn.Linear(args.hidden, args.classes)),
                torch.randn(batch, args.values))
    model, x = resnet(args.model, args.classes), torch.randn(batch, 3, args.size, args.size)
    if "contiguous" in words_of(mode):
        return model, x
    return model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)


def make_optimizer(args, model):
    if args.model == "transformer":
        return torch.optim.AdamW(model.parameters(), lr=0.01, fused=True)
    return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)


def synchronize(device):
    """Waits until the device has done what was issued; on a CPU there is nothing to wait for."""
    if device == "cuda":
        torch.cuda.synchronize()


def peak_memory(device):
    """Bytes: the peak of the GPU's allocator, or of the process on a CPU."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated()
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def autocast(args):
    mixed = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(args.precision)
    return torch.autocast(args.device, dtype=mixed) if mixed else contextlib.nullcontext()


def make_step(args, mode):
    """A training step, to be called again and again."""
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = args.precision == "tf32"
    if args.device == "cpu" and args.threads:
        torch.set_num_threads(args.threads)
    model, x = make(args, mode)
    model, x = model.to(args.device).train(), x.to(args.device)
    labels = (torch.randn(len(x), args.classes, device=args.device) if args.model == "mlp" else
              torch.randint(args.classes, (len(x),), device=args.device))
    if args.parallel == "pipeline":
        return pipeline_step(args, mode, model, x, labels)
    if args.parallel == "replicas":
        model = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    optimizer = make_optimizer(args, model)
    loss_of = nn.MSELoss() if args.model == "mlp" else nn.CrossEntropyLoss()
    scaler = torch.amp.GradScaler(args.device, enabled=args.precision == "fp16")

    def forward(samples, targets):
        with autocast(args):
            return loss_of(model(samples), targets)

    if "tuned" in words_of(mode):
        forward = torch.compile(forward, mode="max-autotune-no-cudagraphs")
    elif "compile" in words_of(mode):
        forward = torch.compile(forward)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = forward(x, labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    return step


# --- Several processes ----------------------------------------------------------------------------------------------


def processes():
    return torch.distributed.get_world_size() if torch.distributed.is_initialized() else 1


def rank():
    return torch.distributed.get_rank() if torch.distributed.is_initialized() else 0


class Arrival(torch.autograd.Function):
    """(N, H, W, C) as the stage before sends it, seen as (N, C, H, W); its gradient goes back as it came: gloo sends
    nothing that has gaps."""

    @staticmethod
    def forward(_, x):
        return x.permute(0, 3, 1, 2)

    @staticmethod
    def backward(_, gradient):
        return gradient.permute(0, 2, 3, 1).contiguous()


class Stage(nn.Module):
    """Some parts of a network. Backward runs as forward did, so mixed precision ends with forward."""

    def __init__(self, parts, args):
        super().__init__()
        self.parts, self.args = parts, args

    def forward(self, x):
        with autocast(self.args):
            y = self.parts(x if rank() == 0 else Arrival.apply(x))
        return y.permute(0, 2, 3, 1).contiguous() if rank() == 0 else y


def pipeline_step(args, mode, model, x, labels):
    """Two stages by 1F1B, one in each process."""
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    def loss_of(y, target):
        return nn.functional.cross_entropy(y.float(), target)

    cut = cut_of(mode)
    stage = Stage(model[:cut] if rank() == 0 else model[cut:], args)
    optimizer = make_optimizer(args, stage)
    schedule = Schedule1F1B(PipelineStage(stage, rank(), processes(), torch.device(args.device)),
                            args.batch // args.micro, loss_fn=loss_of)

    def step():
        optimizer.zero_grad(set_to_none=True)
        if rank() == 0:
            schedule.step(x)
        else:
            schedule.step(target=labels, losses=[])
        optimizer.step()

    return step


def next_request():
    """A number of steps, from 0, in all processes; -1 at the end of the input."""
    line = sys.stdin.readline() if rank() == 0 else ""
    number = torch.tensor([int(line) if line else -1])
    if processes() > 1:
        torch.distributed.broadcast(number, 0)
    return int(number)


def of_all(bytes_here):
    total = torch.tensor([bytes_here])
    if processes() > 1:
        torch.distributed.all_reduce(total)
    return int(total)


def pace(args, mode):
    """Makes steps when the input asks for them."""
    if args.parallel != "none":
        torch.distributed.init_process_group("gloo", timeout=datetime.timedelta(minutes=5))

    def answer(text):
        if rank() == 0:
            print(text, flush=True)

    step = make_step(args, mode)
    for _ in range(args.warm):
        step()
    answer("ready")
    while (number := next_request()) >= 0:
        if number > 0:
            answer(f"{statistics.fmean(step_seconds(args, step, number)):.9f}")
        else:
            answer(of_all(peak_memory(args.device)))


def wait_for_all(args):
    synchronize(args.device)
    if processes() > 1:
        torch.distributed.barrier()


def step_seconds(args, step, number):
    seconds = []
    for _ in range(number):
        wait_for_all(args)
        start = time.perf_counter()
        step()
        wait_for_all(args)
        seconds.append(time.perf_counter() - start)
    return seconds


def measure(args, mode):
    """Seconds per step (median) and the peak of memory."""
    if args.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    step = make_step(args, mode)
    for _ in range(args.warm):
        step()
    seconds = statistics.median(step_seconds(args, step, args.steps))
    return {
        "program": f"PyTorch {torch.__version__}",
        "mode": mode,
        "precision": args.precision,
        "seconds": seconds,
        "images_per_second": args.batch / seconds,
        "memory_bytes": peak_memory(args.device),
    }


def main():
    args = parse()
    if args.paced:
        return pace(args, args.modes)
    for mode in args.modes.split(","):
        try:
            print(json.dumps(measure(args, mode)), flush=True)
        except Exception as error:  # compiling needs a compiler, memory may not suffice: the other mode may do
            print(f"torch_step: {args.model} {mode}, {args.precision}: {error}", file=sys.stderr)
        torch._dynamo.reset()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
