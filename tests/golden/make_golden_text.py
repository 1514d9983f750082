#!/usr/bin/env python3
"""Write reference results of training steps of a Transformer on texts, computed by PyTorch in float64.

Usage: make_golden_text.py OUT.json KEY=VALUE ...
  layers, heads, width, feedforward, activation (relu, gelu, gelu_tanh), positions (sinusoids, learned), norm (after,
  before), words, length, batch, micro, classes

torch.nn.TransformerEncoder does the work, on texts of different lengths, without dropout. Tensors are filled as in
make_golden.py; README.md beside this file says what each field means.
"""
import json
import math
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from make_golden import fill, fill_parameters, uniform

DEFAULTS = {"layers": 2, "heads": 2, "width": 32, "feedforward": 64, "activation": "relu", "positions": "sinusoids",
            "norm": "after", "words": 50, "length": 24, "batch": 8, "micro": 4, "classes": 3}
ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh")}


def sinusoids(length, width):
    """Vaswani et al. 2017, section 3.5."""
    place, even = (torch.arange(0, end, step, dtype=torch.float64) for end, step in ((length, 1), (width, 2)))
    angle = place[:, None] / 10000 ** (even / width)
    table = torch.zeros(length, width, dtype=torch.float64)
    table[:, 0::2], table[:, 1::2] = torch.sin(angle), torch.cos(angle)
    return table


class TextClassifier(nn.TransformerEncoder):
    def __init__(self, s):
        layer = nn.TransformerEncoderLayer(s["width"], s["heads"], s["feedforward"], 0.0, ACTIVATIONS[s["activation"]],
                                           batch_first=True, norm_first=s["norm"] == "before")
        norm = nn.LayerNorm(s["width"]) if s["norm"] == "before" else None
        super().__init__(layer, s["layers"], norm, enable_nested_tensor=False)
        self.embedding = nn.Embedding(s["words"], s["width"])
        self.position_embedding = nn.Embedding(s["length"], s["width"]) if s["positions"] == "learned" else None
        self.classifier = nn.Linear(s["width"], s["classes"])

    def forward(self, tokens, lengths):
        places = torch.arange(tokens.shape[1])
        if self.position_embedding is None:
            width = self.embedding.embedding_dim
            x = self.embedding(tokens) * math.sqrt(width) + sinusoids(len(places), width)
        else:
            x = self.embedding(tokens) + self.position_embedding(places)
        absent = places[None, :] >= lengths[:, None]
        x = super().forward(x, src_key_padding_mask=absent)
        x = x.masked_fill(absent[:, :, None], 0).sum(1) / lengths[:, None]
        return self.classifier(x)


def main():
    s = dict(DEFAULTS)
    for setting in sys.argv[2:]:
        key, value = setting.split("=")
        s[key] = type(DEFAULTS[key])(value)
    batch, micro = s["batch"], s["micro"]
    net = TextClassifier(s).double()
    fill_parameters(net)
    lengths = 1 + torch.from_numpy((uniform("length", batch) * s["length"]).astype(np.int64))
    lengths[0] = s["length"]
    tokens = torch.from_numpy((uniform("tokens", batch * s["length"]) * s["words"]).astype(np.int64))
    tokens = tokens.reshape(batch, s["length"])
    labels = torch.from_numpy((uniform("label", batch) * s["classes"]).astype(np.int64))
    lr, momentum, decay = 0.005, 0.9, 5e-4
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=momentum, weight_decay=decay)
    result = {"model": "transformer", "transformer": s, "batch": batch, "microbatch": micro, "classes": s["classes"],
              "sgd": {"lr": lr, "momentum": momentum, "weight_decay": decay}, "labels": labels.tolist(),
              "lengths": lengths.tolist(), "tokens": tokens.tolist(), "losses": []}
    for step in range(4):
        opt.zero_grad()
        logits, loss = [], 0.0
        for k in range(0, batch, micro):
            z = net(tokens[k:k + micro], lengths[k:k + micro])
            part = F.cross_entropy(z, labels[k:k + micro]) * (micro / batch)
            part.backward()
            logits.append(z.detach())
            loss += part.item()
        if step == 0:
            result["logits"] = torch.cat(logits).tolist()
            result["gradients"] = {n: {"shape": list(p.shape), "norm": p.grad.norm().item(),
                                       "first": p.grad.flatten()[:6].tolist()} for n, p in net.named_parameters()}
        result["losses"].append(loss)
        opt.step()
    result["running"] = {}
    net.eval()
    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad():
        result["eval_logits_after_4_steps"] = net(tokens, lengths).tolist()
    result["parameter_norms_after_4_steps"] = {n: p.norm().item() for n, p in net.named_parameters()}
    with open(sys.argv[1], "w") as f:
        json.dump(result, f, indent=1)


if __name__ == "__main__":
    main()
