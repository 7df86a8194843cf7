#!/usr/bin/env python3
"""Times kernels of others that PyTorch and the CUDA Toolkit bring, on this machine's GPU, for cases of `sawtooth bench`.
Prints rows of speed-peers.csv: medians of 20 repeats by events, the L2 cache flushed before each. Needs PyTorch with
CUDA; the sum of one row also needs nvcc.

    peers.py MACHINE        # MACHINE is the name in the first column, like h100
"""
import csv
import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

REPEATS = 20

CUB_SUM = """
#include <cub/device/device_scan.cuh>
extern "C" size_t inclusive_sum(void* scratch, size_t bytes, const float* x, float* y, int count) {
    cub::DeviceScan::InclusiveSum(scratch, bytes, x, y, count);
    return bytes;
}
"""


def median_us(work):
    """The median time of one call of `work` on the device, in microseconds."""
    flushed = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times = []
    for repeat in range(REPEATS + 3):
        flushed.fill_(repeat)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        if repeat >= 3:
            times.append(start.elapsed_time(end) * 1000)
    return statistics.median(times)


def merged(near, far):
    """Attention over two disjoint sets of keys from the outputs and log-sum-exps of each."""
    (y1, lse1), (y2, lse2) = near, far
    lse = torch.logaddexp(lse1, lse2)
    return y1 * (lse1 - lse).exp().unsqueeze(-1).to(y1.dtype) + y2 * (lse2 - lse).exp().unsqueeze(-1).to(y2.dtype)


def attention(channels, window=2048, length=8192, heads=32):
    """Functions for the forward pass, by who computes it, and their inputs. cuDNN computes one encoding only."""
    inputs = [torch.randn(1, heads, length, channels, device="cuda", dtype=torch.bfloat16, requires_grad=True)
              for _ in range(5)]
    near = create_block_mask(lambda b, h, i, j: (i >= j) & (i - j < window), None, None, length, length)
    far = create_block_mask(lambda b, h, i, j: i - j >= window, None, None, length, length)

    @torch.compile
    def twice(q1, k1, q2, k2, v):
        return merged(flex_attention(q1, k1, v, block_mask=near, return_lse=True),
                      flex_attention(q2, k2, v, block_mask=far, return_lse=True))

    def one_encoding(q1, k1, q2, k2, v):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return scaled_dot_product_attention(q1, k1, v, is_causal=True)

    return {"FlexAttention twice, merged": twice, "cuDNN, one encoding": one_encoding}, inputs


def attention_rows():
    for channels in (64, 128):
        case = f"bf16 [1, 32, 8192, {channels}]"
        functions, inputs = attention(channels)
        for who, function in functions.items():
            with torch.no_grad():
                yield "attention", f"forward {case}", who, median_us(lambda: function(*inputs))
            dy = torch.randn_like(inputs[0])

            def both():
                torch.autograd.grad(function(*inputs), inputs, dy, allow_unused=True)

            yield "attention", f"forward and backward {case}", who, median_us(both)


def scan_rows():
    x = torch.randn(4, 8192, 512, device="cuda")
    yield "scan", "sum [4, 8192, 512]", "torch.cumsum", median_us(lambda: x.cumsum(1))
    row = torch.randn(1 << 28, device="cuda")
    case = "sum [1, 268435456, 1]"
    yield "scan", case, "torch.cumsum", median_us(lambda: row.cumsum(0))
    with tempfile.TemporaryDirectory() as folder:
        source, library = pathlib.Path(folder) / "sum.cu", pathlib.Path(folder) / "sum.so"
        source.write_text(CUB_SUM, encoding="utf-8")
        subprocess.run(["nvcc", "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-o", library, source], check=True)
        inclusive_sum = ctypes.CDLL(str(library)).inclusive_sum
        inclusive_sum.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
        inclusive_sum.restype = ctypes.c_size_t
        y = torch.empty_like(row)
        with torch.cuda.stream(torch.cuda.default_stream()):
            arguments = row.data_ptr(), y.data_ptr(), row.numel()
            bytes_needed = inclusive_sum(None, 0, *arguments)
            scratch = torch.empty(bytes_needed, dtype=torch.uint8, device="cuda")
            yield "scan", case, "CUB InclusiveSum", median_us(
                lambda: inclusive_sum(scratch.data_ptr(), bytes_needed, *arguments))
        assert torch.allclose(y[:1 << 20], row[:1 << 20].double().cumsum(0).float(), atol=1e-2)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("peers.py: give the name of the machine, like h100")
    rows = csv.writer(sys.stdout, lineterminator="\n")
    for source in (scan_rows, attention_rows):
        for family, case, who, us in source():
            rows.writerow([sys.argv[1], family, case, who, f"{us:.4g}", ""])
            sys.stdout.flush()
