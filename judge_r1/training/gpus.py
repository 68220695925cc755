"""The speeds and memory of GPUs and of machines that hold them."""

from typing import NamedTuple

COMPUTE, BANDWIDTH, NETWORK = 0.4, 0.6, 0.75
"""Fractions of the peak that training and inference of dense models usually reach."""
MACHINE_GPUS = 8
"""GPUs per machine in the paper (appendix B)."""


class Gpu(NamedTuple):
    """One GPU of a machine with eight. Speeds are peaks: dense bfloat16 TFLOPS, and GB/s of its memory, of NVLink and
    its network card in one direction, and of PCIe from host memory. Memory: GiB that a process can use."""

    name: str
    tflops: float
    memory: float
    bandwidth: float
    nvlink: float
    network: float
    pcie: float


GPUS = {
    "A100": Gpu("A100", 312, 79.2, 2039, 300, 25, 32),
    "H100": Gpu("H100", 989, 79.2, 3350, 450, 50, 64),
    "H200": Gpu("H200", 989, 140.4, 4800, 450, 50, 64),
    "B200": Gpu("B200", 2250, 178.4, 8000, 900, 50, 64),
}
"""NVIDIA's data sheets of the SXM modules with 80, 80, 141 and 180 GB; the memory of the H100 is measured. The network
is our assumption: one card of 200 Gbit/s for each A100, of 400 Gbit/s for the others."""


def detected() -> Gpu | None:
    """The table's GPU that this machine has; None without one."""
    import torch

    name = torch.cuda.get_device_properties(0).name if torch.cuda.is_available() else ""
    return next((gpu for key, gpu in GPUS.items() if key in name), None)


class Machine(NamedTuple):
    """`nodes` machines with `gpus` GPUs each."""

    gpu: Gpu
    gpus: int
    nodes: int

    @property
    def total(self) -> int:
        return self.gpus * self.nodes

    @property
    def flops(self) -> float:
        return COMPUTE * self.gpu.tflops * 1e12

    def collective(self, size: float) -> float:
        """Seconds to gather or reduce `size` bytes over all GPUs: (N - 1) / N of them cross the slower of NVLink and,
        between machines, all network cards of a machine together (NCCL uses them in parallel rings)."""
        speed = self.gpu.nvlink if self.nodes == 1 else min(self.gpu.nvlink, self.gpus * self.gpu.network)
        return (self.total - 1) / self.total * size / (NETWORK * speed * 1e9)
