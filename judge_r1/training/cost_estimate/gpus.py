"""Published numbers of the GPUs for which seconds are estimated."""

from typing import NamedTuple


class Gpu(NamedTuple):
    """One GPU of a machine with eight. Speeds are peaks: dense bfloat16 TFLOPS, and GB/s of its memory, of NVLink and
    its network card in one direction, and of PCIe from host memory."""

    name: str
    tflops: float
    memory: float
    """GiB that a process can use."""
    bandwidth: float
    nvlink: float
    network: float
    pcie: float


GPUS = {
    gpu.name: gpu
    for gpu in (
        Gpu("A100", 312, 79.2, 2039, 300, 25, 32),
        Gpu("H100", 989, 79.2, 3350, 450, 50, 64),
        Gpu("H200", 989, 140.4, 4800, 450, 50, 64),
        Gpu("B200", 2250, 178.4, 8000, 900, 50, 64),
    )
}
"""NVIDIA's data sheets of the SXM modules with 80, 80, 141 and 180 GB; the memory of the H100 is measured. The network
is our assumption: one card of 200 Gbit/s for each A100, of 400 Gbit/s for the others."""


def detected() -> Gpu | None:
    """The table's GPU that this machine has; None without one."""
    import torch

    if not torch.cuda.is_available():
        return None
    name = torch.cuda.get_device_properties(0).name
    return next((gpu for key, gpu in GPUS.items() if key in name), None)
