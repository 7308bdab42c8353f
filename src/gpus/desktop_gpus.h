// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "src/gpus/gpu_parts.h"

// GeForces and GPUs of workstations, the oldest first; gpu_table.cpp says where their figures come
// from.
namespace headroom::dry_run {

inline constexpr Gpu kRtx2080Ti = {
    .name = "rtx-2080-ti",
    .product = "NVIDIA GeForce RTX 2080 Ti",
    .summary = "GeForce RTX 2080 Ti, 11 GB GDDR6, without an NVLink bridge",
    .memory_bytes = 11'348'672'512,
    .context_bytes = 190 * kMiB,
    .capability = k75,
    .multiprocessors = 68,
    .l2_bytes = 5'767'168,
    .memory_bus_bits = 352,
    .memory_clock_khz = 7'000'000,
    .memory_bytes_per_second = 616e9,
    .float64_flops = 0.42e12,
    .float32_flops = 13.45e12,
    .tensorfloat32_flops = 0,
    .float16_flops = 53.8e12,
    .bfloat16_flops = 0,
    .products = {1.0, 6'000, 0.86},
    .host_bytes_per_second = kPcie3,
    .peer_bytes_per_second = kPcie3,
    .source =
        "memory: deviceQuery with CUDA 12.8 in an unnamed public log; 11,554,717,696 with 11.5. "
        "Context: 10.69 - 10.48 - 0.03 GiB in another. Products: 57 TFLOP/s at the most, 50 with "
        "8,192 numbers, https://github.com/zzc0721/torch-performance-test-data/issues/181. "
        "Rates: "
        "https://images.nvidia.com/aem-dam/en-zz/Solutions/design-visualization/technologies/"
        "turing-architecture/NVIDIA-Turing-Architecture-Whitepaper.pdf; float64: 1/32 of float32",
};

inline constexpr Gpu kRtx8000 = {
    .name = "rtx-8000",
    .product = "Quadro RTX 8000",
    .summary = "Quadro RTX 8000, 48 GB GDDR6, without an NVLink bridge",
    .memory_bytes = 48'380 * kMiB,
    .context_bytes = 190 * kMiB,
    .capability = k75,
    .multiprocessors = 72,
    .l2_bytes = 6 * kMiB,
    .memory_bus_bits = 384,
    .memory_clock_khz = 7'001'000,
    .memory_bytes_per_second = 672.096e9,
    .float64_flops = 0.509e12,
    .float32_flops = 16.3e12,
    .tensorfloat32_flops = 0,
    .float16_flops = 130.5e12,
    .bfloat16_flops = 0,
    .products = {0.41, 6'000, 0.66},
    .host_bytes_per_second = kPcie3,
    .peer_bytes_per_second = kPcie3,
    .source =
        "memory: 48380 MiB in an unnamed public log; 47.27 GiB and context: 18.55 - 16.01 - 2.35 "
        "GiB, https://github.com/nv-tlabs/cosmos-transfer1-diffusion-renderer/issues/11. Products: "
        "a Titan RTX's with 8,192 numbers, the same chip, "
        "https://github.com/zzc0721/torch-performance-test-data/issues/127. Rates: the white paper "
        "of rtx-2080-ti; float64: 1/32 of float32",
};

inline constexpr Gpu kRtx3080 = {
    .name = "rtx-3080",
    .product = "NVIDIA GeForce RTX 3080",
    .summary = "GeForce RTX 3080, 10 GB GDDR6X",
    .memory_bytes = 10'351'935'488,
    .context_bytes = 260 * kMiB,
    .capability = k86,
    .multiprocessors = 68,
    .l2_bytes = 5 * kMiB,
    .memory_bus_bits = 320,
    .memory_clock_khz = 9'501'000,
    .memory_bytes_per_second = 760.08e9,
    .float64_flops = 0.465e12,
    .float32_flops = 29.8e12,
    .tensorfloat32_flops = 29.8e12,
    .float16_flops = 59.5e12,
    .bfloat16_flops = 59.5e12,
    .products = {1.0, 6'000, 0.71},
    .host_bytes_per_second = kPcie4,
    .peer_bytes_per_second = kPcie4,
    .source =
        "memory: 9.64 GiB and bytes in unnamed public logs; 10,472,390,656 with CUDA 12.0. "
        "Context: 9.43 - 9.04 - 0.14 GiB, https://github.com/bcmi/libcom/issues/54. Products: as "
        "rtx-3090, and "
        "https://github.com/zzc0721/torch-performance-test-data/issues/114. Rates: the white paper "
        "of rtx-3090",
};

inline constexpr Gpu kRtx3090 = {
    .name = "rtx-3090",
    .product = "NVIDIA GeForce RTX 3090",
    .summary = "GeForce RTX 3090, 24 GB GDDR6X, without an NVLink bridge",
    .memory_bytes = 25'447'170'048,
    .context_bytes = 320 * kMiB,
    .capability = k86,
    .multiprocessors = 82,
    .l2_bytes = 6 * kMiB,
    .memory_bus_bits = 384,
    .memory_clock_khz = 9'751'000,
    .memory_bytes_per_second = 936.096e9,
    .float64_flops = 0.556e12,
    .float32_flops = 35.6e12,
    .tensorfloat32_flops = 35.6e12,
    .float16_flops = 71e12,
    .bfloat16_flops = 71e12,
    .products = {1.0, 6'000, 0.69},
    .host_bytes_per_second = kPcie4,
    .peer_bytes_per_second = kPcie4,
    .source =
        "memory: deviceQuery with CUDA 11.8 in an unnamed public log; 23.70 GiB, "
        "https://github.com/GaoLii/DSP/issues/10. Context: 19.49 - 19.10 - 0.08 GiB, "
        "https://github.com/3DTopia/OpenLRM/issues/42. Rates: "
        "https://www.nvidia.com/content/PDF/"
        "nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.1.pdf",
};

inline constexpr Gpu kRtxA6000 = {
    .name = "rtx-a6000",
    .product = "NVIDIA RTX A6000",
    .summary = "RTX A6000, 48 GB GDDR6, ECC off, without an NVLink bridge",
    .memory_bytes = 51'041'271'808,
    .context_bytes = 350 * kMiB,
    .capability = k86,
    .multiprocessors = 84,
    .l2_bytes = 6 * kMiB,
    .memory_bus_bits = 384,
    .memory_clock_khz = 8'001'000,
    .memory_bytes_per_second = 768.096e9,
    .float64_flops = 0.605e12,
    .float32_flops = 38.7e12,
    .tensorfloat32_flops = 77.4e12,
    .float16_flops = 154.8e12,
    .bfloat16_flops = 154.8e12,
    .products = {0.7, 3'000, 0.62},
    .host_bytes_per_second = kPcie4,
    .peer_bytes_per_second = kPcie4,
    .source =
        "memory: XLA a6000.txtpb; 47.54 GiB and context: 43.35 - 14.48 - 28.52 GiB in an unnamed "
        "public log; 47.40 GiB with later drivers. Products: between the 95 TFLOP/s of "
        "https://github.com/mli/transformers-benchmarks (8,192 numbers) and the 120 to 123 of "
        "https://github.com/zzc0721/torch-performance-test-data/issues/46 (the best size). Rates: "
        "https://www.nvidia.com/content/PDF/"
        "nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf; float64: 1/64 of float32",
};

inline constexpr Gpu kRtx4090 = {
    .name = "rtx-4090",
    .product = "NVIDIA GeForce RTX 4090",
    .summary = "GeForce RTX 4090, 24 GB GDDR6X",
    .memory_bytes = 24'207 * kMiB,
    .context_bytes = 470 * kMiB,
    .capability = k89,
    .multiprocessors = 128,
    .l2_bytes = 72 * kMiB,
    .memory_bus_bits = 384,
    .memory_clock_khz = 10'501'000,
    .memory_bytes_per_second = 1008.096e9,
    .float64_flops = 1.29e12,
    .float32_flops = 82.6e12,
    .tensorfloat32_flops = 82.6e12,
    .float16_flops = 165.2e12,
    .bfloat16_flops = 165.2e12,
    .products = {1.0, 3'000, 0.66},
    .host_bytes_per_second = kPcie4,
    .peer_bytes_per_second = kPcie4,
    .source =
        "memory: 24207 MiB, https://github.com/levipereira/yolov9-qat; 23.64 GiB and context: "
        "14.56 - 13.86 - 0.21 GiB, https://github.com/3DTopia/Phidias-Diffusion/issues/8; "
        "22.69 - 21.72 - 0.51 GiB, https://github.com/pinokiofactory/flux-webui/issues/11. "
        "Rates: "
        "https://images.nvidia.com/aem-dam/Solutions/geforce/ada/"
        "nvidia-ada-gpu-architecture.pdf",
};

inline constexpr Gpu kRtx6000Ada = {
    .name = "rtx-6000-ada",
    .product = "NVIDIA RTX 6000 Ada Generation",
    .summary = "RTX 6000 Ada Generation, 48 GB GDDR6, ECC off",
    .memory_bytes = 48'497 * kMiB,
    .context_bytes = 450 * kMiB,
    .capability = k89,
    .multiprocessors = 142,
    .l2_bytes = 96 * kMiB,
    .memory_bus_bits = 384,
    .memory_clock_khz = 10'001'000,
    .memory_bytes_per_second = 960.096e9,
    .float64_flops = 1.42e12,
    .float32_flops = 91.1e12,
    .tensorfloat32_flops = 182.1e12,
    .float16_flops = 364.2e12,
    .bfloat16_flops = 364.2e12,
    .products = {0.58, 2'300, 0.51},
    .host_bytes_per_second = kPcie4,
    .peer_bytes_per_second = kPcie4,
    .source =
        "memory: 48497 MiB with CUDA 12.8 in an unnamed public log; 47.38 GiB. Context: 44.40 - "
        "43.94 - 0.04 GiB, https://github.com/DINGYANB/MTVCrafter/issues/21. Clock: by 20 Gbit/s "
        "a pin. Products: assumed, an L40S's, the same chip with 350 W. Rates: "
        "https://images.nvidia.com/aem-dam/en-zz/Solutions/technologies/"
        "NVIDIA-ADA-GPU-PROVIZ-Architecture-Whitepaper_1.1.pdf; float64: 1/64 of float32",
};

inline constexpr Gpu kRtx5090 = {
    .name = "rtx-5090",
    .product = "NVIDIA GeForce RTX 5090",
    .summary = "GeForce RTX 5090, 32 GB GDDR7",
    .memory_bytes = 33'680'457'728,
    .context_bytes = 500 * kMiB,
    .capability = k120,
    .multiprocessors = 170,
    .l2_bytes = 96 * kMiB,
    .memory_bus_bits = 512,
    .memory_clock_khz = 14'001'000,
    .memory_bytes_per_second = 1792.128e9,
    .float64_flops = 1.64e12,
    .float32_flops = 104.8e12,
    .tensorfloat32_flops = 104.8e12,
    .float16_flops = 209.5e12,
    .bfloat16_flops = 209.5e12,
    .products = {1.12, 3'000, 0.65},
    .host_bytes_per_second = kPcie5,
    .peer_bytes_per_second = kPcie5,
    .source =
        "memory, bus, clock, L2: deviceQuery, https://github.com/NVIDIA/nccl/issues/1637. Context: "
        "31.34 - 30.74 - 0.02 GiB, https://github.com/Wan-Video/Wan2.1/issues/465; 26.89 - 25.95 - "
        "0.34 GiB, https://github.com/TrajectoryCrafter/TrajectoryCrafter/issues/20. Rates: "
        "https://images.nvidia.com/aem-dam/Solutions/geforce/blackwell/"
        "nvidia-rtx-blackwell-gpu-architecture.pdf",
};

inline constexpr Gpu kRtxPro6000 = {
    .name = "rtx-pro-6000",
    .product = "NVIDIA RTX PRO 6000 Blackwell Server Edition",
    .summary = "RTX PRO 6000 Blackwell, 96 GB GDDR7, ECC on",
    .memory_bytes = 97'250 * kMiB,
    .context_bytes = 700 * kMiB,
    .capability = k120,
    .multiprocessors = 188,
    .l2_bytes = 128 * kMiB,
    .memory_bus_bits = 512,
    .memory_clock_khz = 14'001'000,
    .memory_bytes_per_second = 1792.128e9,
    .float64_flops = 1.97e12,
    .float32_flops = 126e12,
    .tensorfloat32_flops = 251.9e12,
    .float16_flops = 503.8e12,
    .bfloat16_flops = 503.8e12,
    .products = {0.67, 3'000, 0.61},
    .host_bytes_per_second = kPcie5,
    .peer_bytes_per_second = kPcie5,
    .source =
        "memory, multiprocessors, L2: total_memory=97250MB with CUDA 12.8 in an unnamed public "
        "log; 94.97 GiB, https://github.com/pytorch/pytorch/issues/182286. Context: 11.93 - 11.24 "
        "- 0.01 GiB in another. The clock is the rtx-5090's. Products: 8,192 numbers of 16 bits at "
        "330 to 350 TFLOP/s, "
        "https://github.com/zzc0721/torch-performance-test-data/issues/160. Rates: "
        "https://www.nvidia.com/en-us/data-center/rtx-pro-6000-blackwell-server-edition/; "
        "float64: 1/64 of float32",
};

inline constexpr std::array kDesktopGpus = {
    kRtx2080Ti, kRtx8000,    kRtx3080, kRtx3090,    kRtxA6000,
    kRtx4090,   kRtx6000Ada, kRtx5090, kRtxPro6000,
};

}  // namespace headroom::dry_run
