"""The networks of torch_step.py, written in PyTorch: ResNets, and a Transformer's encoder for classes of texts. A
network of images is a Sequential of parts between which a pipeline may cut it."""
import math

import torch
from torch import nn

# Bottlenecks or basic blocks, and how many in each layer: for photographs (He et al. 2015, table 1) ...
PHOTOGRAPHS = {
    "resnet18": (False, (2, 2, 2, 2)),
    "resnet34": (False, (3, 4, 6, 3)),
    "resnet50": (True, (3, 4, 6, 3)),
    "resnet101": (True, (3, 4, 23, 3)),
    "resnet152": (True, (3, 8, 36, 3)),
}
# ... and for small images (section 4.2).
SMALL_IMAGES = {"resnet20": (False, (3, 3, 3)), "resnet56": (False, (9, 9, 9))}


def convolution(channels, filters, kernel, stride=1):
    """With the batch norm after it."""
    return nn.Sequential(nn.Conv2d(channels, filters, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(filters))


class PaddedShortcut(nn.Module):
    """Every second pixel, and zeros for the channels that are new: no parameters."""

    def __init__(self, new_channels, stride):
        super().__init__()
        self.new_channels, self.stride = new_channels, stride

    def forward(self, x):
        x = x[:, :, :: self.stride, :: self.stride]
        before = self.new_channels // 2
        return nn.functional.pad(x, (0, 0, 0, 0, before, self.new_channels - before))


class Block(nn.Module):
    """A bottleneck strides in its 3x3 convolution."""

    def __init__(self, channels, width, stride, bottleneck, pads):
        super().__init__()
        filters = 4 * width if bottleneck else width
        if bottleneck:
            shapes = [(channels, width, 1, 1), (width, width, 3, stride), (width, filters, 1, 1)]
        else:
            shapes = [(channels, width, 3, stride), (width, filters, 3, 1)]
        self.convolutions = nn.ModuleList(convolution(*shape) for shape in shapes)
        self.shortcut = nn.Identity()
        if stride > 1 or channels != filters:
            self.shortcut = (PaddedShortcut(filters - channels, stride) if pads
                             else convolution(channels, filters, 1, stride))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = x
        for layer in self.convolutions[:-1]:
            y = self.relu(layer(y))
        return self.relu(self.convolutions[-1](y) + self.shortcut(x))


def resnet(name, classes):
    is_small = name in SMALL_IMAGES
    bottleneck, depths = SMALL_IMAGES[name] if is_small else PHOTOGRAPHS[name]
    if is_small:
        parts = [nn.Sequential(convolution(3, 16, 3), nn.ReLU(inplace=True))]
        channels = first_width = 16
    else:
        parts = [nn.Sequential(convolution(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))]
        channels = first_width = 64
    for layer, depth in enumerate(depths):
        width = first_width << layer
        for block in range(depth):
            stride = 2 if layer > 0 and block == 0 else 1
            parts.append(Block(channels, width, stride, bottleneck, pads=is_small))
            channels = 4 * width if bottleneck else width
    parts.append(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)))
    return nn.Sequential(*parts)


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
