#!/usr/bin/env python3
"""Makes the pictures beside this file, and what Pillow makes of them. Needs Debian's python3-pil.

NAME.jpg, NAME.png           a picture: waves, noise and hard edges, as photographs and scans have them
NAME-short_side-size.png     torchvision.transforms.Resize(short_side), then CenterCrop(size), on a PIL image: the functions
                             below do what torchvision does, so that Pillow alone is enough
NAME-turned.png              PIL.ImageOps.exif_transpose of it
"""
import math
import random
from pathlib import Path

from PIL import Image, ImageDraw, ImageOps

FOLDER = Path(__file__).parent


def picture(width, height, seed):
    image = Image.new("RGB", (width, height))
    noise = random.Random(seed)
    pixels = image.load()
    for y in range(height):
        for x in range(width):
            wave = 60 * math.sin(0.05 * (x + 9 * seed)) + 60 * math.cos(0.07 * y)
            pixels[x, y] = tuple(int(110 + wave * (c - 1.4) / 1.4 + noise.randrange(40)) for c in range(3))
    draw = ImageDraw.Draw(image)
    for i in range(6):
        x, y = noise.randrange(width), noise.randrange(height)
        draw.text((x, y), "Convoy", fill=tuple(noise.randrange(256) for _ in range(3)))
        draw.rectangle((y, x, y + 9, x + 5), fill=tuple(noise.randrange(256) for _ in range(3)))
    return image


def resize(image, short_side):
    """torchvision.transforms.Resize(short_side): antialiased bilinear."""
    width, height = image.size
    if width <= height:
        size = short_side, int(short_side * height / width)
    else:
        size = int(short_side * width / height), short_side
    return image.resize(size, Image.BILINEAR)


def center_crop(image, size):
    """torchvision.transforms.CenterCrop(size)."""
    width, height = image.size
    left, top = int(round((width - size) / 2.0)), int(round((height - size) / 2.0))
    return image.crop((left, top, left + size, top + size))


def orientation(value):
    exif = Image.Exif()
    exif[0x0112] = value
    return exif


def save(image, name, **how):
    path = FOLDER / name
    image.save(path, **how)
    return Image.open(path).convert("RGB")


def main():
    cases = [
        # name, width, height, [(short side, size) ...]
        ("wide.jpg", 317, 213, [(64, 56), (37, 32), (32, 32)]),
        ("tall.jpg", 150, 231, [(48, 48), (50, 43)]),
        ("tiny.jpg", 23, 31, [(48, 41)]),
        ("flat.png", 331, 40, [(32, 32), (57, 57)]),
        ("even.png", 96, 64, [(64, 64), (64, 57), (32, 28)]),
    ]
    for seed, (name, width, height, views) in enumerate(cases):
        jpeg = {"quality": 90, "subsampling": "4:2:0"} if name.endswith(".jpg") else {"optimize": True}
        image = save(picture(width, height, seed), name, **jpeg)
        for short_side, size in views:
            save(center_crop(resize(image, short_side), size), f"{name[:-4]}-{short_side}-{size}.png", optimize=True)
    for value in range(1, 9):
        name = f"orientation-{value}.jpg"
        save(picture(37, 26, 10), name, quality=90, subsampling="4:2:0", exif=orientation(value))
        turned = ImageOps.exif_transpose(Image.open(FOLDER / name))
        turned.save(FOLDER / f"orientation-{value}-turned.png", optimize=True)


main()
