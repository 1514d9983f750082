#!/usr/bin/env python3
"""Fails where a kernel of batch norm in one of the files stores neighbouring values one by one: check_stores.py TOOLS_FOLDER FILE...

What the kernels read and write decides how long they take, and a narrow store takes as long as a wide one. nvcc splits a wide
store into narrow ones where it cannot tell that the first leaves alone the memory that holds the address of the second. The
machine code shows it: cuobjdump prints it with the help of nvdisasm.
"""
import os
import re
import shutil
import subprocess
import sys

# Kernels that also pool store the position of each maximum, in a byte.
BATCH_NORM = re.compile(r"convoy::ops::cuda::.*?\b((?!\w*pool)\w*(?:normalise|gradients|statistics)\w*)"
                        r"<(float|__half|__nv_bfloat16), (\d+)")
TYPE_BYTES = {"float": 4, "__half": 2, "__nv_bfloat16": 2}
STORE_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(.*?);")
MASK_BYTES = 1  # of a bit for each of up to 8 values


def machine_code(tools, files):
    """The instructions of each kernel, and its name."""
    path = os.pathsep.join([tools, os.environ["PATH"]])
    if any(shutil.which(tool, path=path) is None for tool in ("cuobjdump", "nvdisasm")):
        sys.exit("no cuobjdump and nvdisasm: they are parts of CUDA's toolkit, and tools/install_deps fetches them")
    names, codes = [], []
    for file in files:
        text = subprocess.run(["cuobjdump", "--dump-sass", file], env={**os.environ, "PATH": path}, check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        for line in text.splitlines():
            if "Function : " in line:
                names.append(line.split(" : ")[1].strip())
                codes.append([])
            elif codes and (found := INSTRUCTION.search(line)):
                codes[-1].append((int(found[1], 16), found[2]))
    plain = subprocess.run(["c++filt"], input="\n".join(names), check=True, stdout=subprocess.PIPE, text=True).stdout
    return list(zip(plain.splitlines(), codes))


def loops(code):
    """First and last address of each: a branch back."""
    branches = ((address, re.search(r"\bBRA\b.*?0x([0-9a-f]+)", text)) for address, text in code)
    return [(int(found[1], 16), address) for address, found in branches if found and int(found[1], 16) <= address]


def stores(code):
    """Those within loops: their numbers of bytes, and their texts."""
    ranges = loops(code)
    found = []
    for address, text in code:
        store = re.search(r"\bSTG\.E((?:\.\w+)*)", text)
        if store and any(first <= address <= last for first, last in ranges):
            size = next((STORE_BYTES[part] for part in store[1].split(".") if part in STORE_BYTES), 4)
            found.append((size, text))
    return found


def main():
    num_kernels = num_with_stores = 0
    faults = []
    for name, code in machine_code(sys.argv[1], sys.argv[2:]):
        kernel = BATCH_NORM.search(name)
        if kernel is None:
            continue
        num_kernels += 1
        found = stores(code)
        num_with_stores += bool(found)
        wanted = min(16, int(kernel[3]) * TYPE_BYTES[kernel[2]])
        if narrow := [text for size, text in found if MASK_BYTES < size < wanted]:
            faults.append(f"{kernel[0]} ...>: {len(narrow)} stores of fewer than {wanted} bytes in a loop: {narrow[0]}")
    if faults:
        sys.exit("\n".join(faults))
    if num_with_stores == 0:
        sys.exit(f"of {num_kernels} kernels of batch norm none stores anything in a loop: their names or the format have changed")
    print(f"{num_kernels} kernels of batch norm, {num_with_stores} with stores in loops, all as wide as they can be")


main()
