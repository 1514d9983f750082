#!/usr/bin/env python3
"""Write reference results of training steps of a Transformer on texts, computed by PyTorch in float64.

Usage: make_golden_text.py OUT.json KEY=VALUE ...
  model (transformer, bert, bert_classifier), layers, heads, width, feedforward, activation (relu, gelu, gelu_tanh),
  positions (sinusoids, learned), norm (after, before), words, length, batch, micro, classes

torch.nn.TransformerEncoder does the work, on texts of different lengths, without dropout. Tensors are filled as in
make_golden.py; README.md beside this file says what each field means.

What a model reads stands in the file's "features", by name. A transformer and a bert_classifier give logits. A bert gives
for each sample two losses, of masked words (the mean over the sample's) and of the next sentence; in their place stand
its scores: for each micro-batch, objective and sample the loss, how many labels were right, and how many there were.
"""
import math
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from make_golden import fill, fill_parameters, uniform, write_golden

DEFAULTS = {"model": "transformer", "layers": 2, "heads": 2, "width": 32, "feedforward": 64, "activation": "relu", "positions": "sinusoids",
            "norm": "after", "words": 50, "length": 24, "batch": 8, "micro": 4, "classes": 3}
ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh")}


def sinusoids(length, width):
    """Vaswani et al. 2017, section 3.5."""
    place, even = (torch.arange(0, end, step, dtype=torch.float64) for end, step in ((length, 1), (width, 2)))
    angle = place[:, None] / 10000 ** (even / width)
    table = torch.zeros(length, width, dtype=torch.float64)
    table[:, 0::2], table[:, 1::2] = torch.sin(angle), torch.cos(angle)
    return table


class Encoder(nn.TransformerEncoder):
    """Words and places (and segments) become vectors, which go through the layers."""

    def __init__(self, s, with_segments=False):
        layer = nn.TransformerEncoderLayer(s["width"], s["heads"], s["feedforward"], 0.0, ACTIVATIONS[s["activation"]],
                                           batch_first=True, norm_first=s["norm"] == "before")
        norm = nn.LayerNorm(s["width"]) if s["norm"] == "before" else None
        super().__init__(layer, s["layers"], norm, enable_nested_tensor=False)
        self.embedding = nn.Embedding(s["words"], s["width"])
        self.position_embedding = nn.Embedding(s["length"], s["width"]) if s["positions"] == "learned" else None
        if with_segments:
            self.segment_embedding = nn.Embedding(2, s["width"])
            self.embedding_norm = nn.LayerNorm(s["width"])

    def encode(self, tokens, lengths, segments=None):
        places = torch.arange(tokens.shape[1])
        if self.position_embedding is None:
            width = self.embedding.embedding_dim
            x = self.embedding(tokens) * math.sqrt(width) + sinusoids(len(places), width)
        else:
            x = self.embedding(tokens) + self.position_embedding(places)
        if segments is not None:
            x = self.embedding_norm(x + self.segment_embedding(segments))
        absent = places[None, :] >= lengths[:, None]
        return super().forward(x, src_key_padding_mask=absent), absent


class TextClassifier(Encoder):
    """The mean over the words, and a linear layer."""

    def __init__(self, s):
        super().__init__(s)
        self.classifier = nn.Linear(s["width"], s["classes"])

    def forward(self, of):
        x, absent = self.encode(of["tokens"], of["length"])
        x = x.masked_fill(absent[:, :, None], 0).sum(1) / of["length"][:, None]
        return self.classifier(x)

    def outputs_and_loss(self, of):
        logits = self(of)
        return logits, F.cross_entropy(logits, of["label"])


class BertClassifier(TextClassifier):
    """What becomes of the first word, through tanh (Devlin et al. 2018)."""

    def __init__(self, s):
        Encoder.__init__(self, s, with_segments=True)
        self.pooler = nn.Linear(s["width"], s["width"])
        self.classifier = nn.Linear(s["width"], s["classes"])

    def forward(self, of):
        x, _ = self.encode(of["marked_tokens"], of["marked_length"], of["marked_segments"])
        return self.classifier(torch.tanh(self.pooler(x[:, 0])))


class Bert(Encoder):
    """Masked words and next sentences."""

    def __init__(self, s):
        super().__init__(s, with_segments=True)
        self.activation = ACTIVATIONS[s["activation"]]
        self.word_transform = nn.Linear(s["width"], s["width"])
        self.word_norm = nn.LayerNorm(s["width"])
        self.word_decoder = nn.Linear(s["width"], s["words"])
        self.pooler = nn.Linear(s["width"], s["width"])
        self.next_sentence = nn.Linear(s["width"], 2)

    def forward(self, of):
        """(objectives, samples, 3)"""
        x, _ = self.encode(of["pair_tokens"], of["pair_length"], of["pair_segments"])
        places, words = of["masked_positions"], of["masked_words"]
        h = x.gather(1, places.clamp(min=0)[:, :, None].expand(-1, -1, x.shape[2]))
        h = self.word_norm(self.activation(self.word_transform(h)))
        next_logits = self.next_sentence(torch.tanh(self.pooler(x[:, 0])))
        return torch.stack([score(self.word_decoder(h), words), score(next_logits[:, None], of["next_sentence"][:, None])])

    def outputs_and_loss(self, of):
        scores = self(of)
        return scores.reshape(-1, 3), scores[:, :, 0].mean(1).sum()


def score(logits, labels):
    """Of each sample: the mean loss over its labels that are not -1, how many had the largest logit, how many there are."""
    asked = labels >= 0
    losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-1, reduction="none")
    num = asked.sum(1)
    right = ((logits.argmax(2) == labels) & asked).sum(1)
    return torch.stack([losses.reshape(labels.shape).sum(1) / num, right.double(), num.double()], 1)


MODELS = {"transformer": TextClassifier, "bert": Bert, "bert_classifier": BertClassifier}


def whole_numbers(name, shape, end):
    """In 0..end-1."""
    values = (uniform(name, math.prod(shape)) * end).astype(np.int64)
    return torch.from_numpy(values).reshape(shape)


def max_masked_words(length):
    return max(1, (15 * length + 50) // 100)


def make_features(s):
    """What the model reads: (batch, ...), past a text's end any token."""
    batch, length = s["batch"], s["length"]
    lengths = 1 + whole_numbers("length", (batch,), length)
    lengths[0] = length
    tokens = whole_numbers("tokens", (batch, length), s["words"])
    if s["model"] == "transformer":
        return {"tokens": tokens, "length": lengths, "label": whole_numbers("label", (batch,), s["classes"])}
    segments = (torch.arange(length)[None, :] >= (lengths // 2)[:, None]).long()
    if s["model"] == "bert_classifier":
        return {"marked_tokens": tokens, "marked_segments": segments, "marked_length": lengths,
                "label": whole_numbers("label", (batch,), s["classes"])}
    lengths = lengths.clamp(min=7)
    num_taken = max_masked_words(length)
    # Each text has one masked word at least, and another one where there is a chance of a half.
    places = whole_numbers("masked_positions", (batch, num_taken), length) % lengths[:, None]
    words = whole_numbers("masked_words", (batch, num_taken), s["words"])
    absent = whole_numbers("absent", (batch, num_taken), 2).bool()
    absent[:, 0] = False
    return {"pair_tokens": tokens, "pair_segments": segments, "pair_length": lengths,
            "masked_positions": places.masked_fill(absent, -1), "masked_words": words.masked_fill(absent, -1),
            "next_sentence": whole_numbers("next_sentence", (batch,), 2)}


def main():
    s = dict(DEFAULTS)
    for setting in sys.argv[2:]:
        key, value = setting.split("=")
        s[key] = type(DEFAULTS[key])(value)
    batch, micro = s["batch"], s["micro"]
    net = MODELS[s["model"]](s).double()
    fill_parameters(net)
    features = make_features(s)
    lr, momentum, decay = 0.005, 0.9, 5e-4
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=momentum, weight_decay=decay)
    result = {"model": s["model"], "transformer": s, "batch": batch, "microbatch": micro, "classes": s["classes"],
              "sgd": {"lr": lr, "momentum": momentum, "weight_decay": decay},
              "features": {name: values.tolist() for name, values in features.items()}, "losses": []}
    parts = [{name: values[k:k + micro] for name, values in features.items()} for k in range(0, batch, micro)]
    for step in range(4):
        opt.zero_grad()
        outputs, loss = [], 0.0
        for part in parts:
            out, part_loss = net.outputs_and_loss(part)
            part_loss = part_loss * (micro / batch)
            part_loss.backward()
            outputs.append(out.detach())
            loss += part_loss.item()
        if step == 0:
            result["logits"] = torch.cat(outputs).tolist()
            result["gradients"] = {n: {"shape": list(p.shape), "norm": p.grad.norm().item(),
                                       "first": p.grad.flatten()[:6].tolist()} for n, p in net.named_parameters()}
        result["losses"].append(loss)
        opt.step()
    result["running"] = {}
    net.eval()
    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad():
        result["eval_logits_after_4_steps"] = torch.cat([net.outputs_and_loss(part)[0] for part in parts]).tolist()
    result["parameter_norms_after_4_steps"] = {n: p.norm().item() for n, p in net.named_parameters()}
    write_golden(sys.argv[1], result)


if __name__ == "__main__":
    main()
