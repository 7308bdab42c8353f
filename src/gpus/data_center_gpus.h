// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "src/gpus/gpu_parts.h"

// GPUs of servers, the oldest first; gpu_table.cpp says where their figures come from.
namespace headroom::dry_run {

// A GPU's figures; kDataCenterGpus lists them.
inline constexpr Gpu kV100Of16GB = {
    .name = "v100-16gb",
    .product = "Tesla V100-SXM2-16GB",
    .summary = "V100 SXM2, 16 GB HBM2",
    .memory_bytes = 16'935'682'048,
    .context_bytes = 380 * kMiB,
    .capability = k70,
    .multiprocessors = 80,
    .l2_bytes = 6 * kMiB,
    .memory_bus_bits = 4096,
    .memory_clock_khz = 877'000,
    .memory_bytes_per_second = 898.048e9,
    .float64_flops = 7.8e12,
    .float32_flops = 15.7e12,
    .tensorfloat32_flops = 0,
    .float16_flops = 125e12,
    .bfloat16_flops = 0,
    .products = {0.75, 8'000, 0.9},
    .host_bytes_per_second = kPcie3,
    .peer_bytes_per_second = 150e9,
    .source =
        "memory: XLA v100.txtpb. Context: 15.75 - 14.89 - 0.49 GiB in an unnamed public log; "
        "it was 1343 MiB with the eager loading of early 2022 "
        "(https://huggingface.co/docs/transformers, Model training anatomy). Rates: "
        "https://images.nvidia.com/content/technologies/volta/pdf/"
        "volta-v100-datasheet-update-us-1165301-r5.pdf",
};

constexpr Gpu v100_of_32gb() {
  Gpu gpu = kV100Of16GB;
  gpu.name = "v100-32gb";
  gpu.product = "Tesla V100-SXM2-32GB";
  gpu.summary = "V100 SXM2, 32 GB HBM2";
  gpu.memory_bytes = 34'072'559'616;
  gpu.source =
      "memory: deviceQuery with CUDA 12.9, https://github.com/felicepantaleo/gpu_training, "
      "cuda.md. Context: 31.72 - 29.66 - 1.68 GiB and 16.95 - 2.10 - 14.46 GiB in unnamed "
      "public logs. The rest as v100-16gb";
  return gpu;
}

inline constexpr Gpu kT4 = {
    .name = "t4",
    .product = "Tesla T4",
    .summary = "T4, 16 GB GDDR6",
    .memory_bytes = 14'910 * kMiB,
    .context_bytes = 130 * kMiB,
    .capability = k75,
    .multiprocessors = 40,
    .l2_bytes = 4 * kMiB,
    .memory_bus_bits = 256,
    .memory_clock_khz = 5'001'000,
    .memory_bytes_per_second = 320.064e9,
    .float64_flops = 0.254e12,
    .float32_flops = 8.1e12,
    .tensorfloat32_flops = 0,
    .float16_flops = 65e12,
    .bfloat16_flops = 0,
    .products = {0.45, 6'000, 0.53},
    .host_bytes_per_second = kPcie3,
    .peer_bytes_per_second = kPcie3,
    .source =
        "memory: 14.56 GiB and context: 4.11 - 3.72 - 0.26 GiB, "
        "https://github.com/Zheng-Chong/CatVTON/issues/133; older drivers gave 14.74 GiB and "
        "more. Rates: "
        "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/tesla-t4/"
        "t4-tensor-core-datasheet-951643.pdf; "
        "float64: 1/32 of float32",
};

inline constexpr Gpu kA10 = {
    .name = "a10",
    .product = "NVIDIA A10",
    .summary = "A10 (not the A10G of AWS), 24 GB GDDR6, ECC on",
    .memory_bytes = 23'696'375'808,
    .context_bytes = 280 * kMiB,
    .capability = k86,
    .multiprocessors = 72,
    .l2_bytes = 6 * kMiB,
    .memory_bus_bits = 384,
    .memory_clock_khz = 6'251'000,
    .memory_bytes_per_second = 600.096e9,
    .float64_flops = 0.488e12,
    .float32_flops = 31.2e12,
    .tensorfloat32_flops = 62.5e12,
    .float16_flops = 125e12,
    .bfloat16_flops = 125e12,
    .products = {0.55, 3'000, 0.55},
    .host_bytes_per_second = kPcie4,
    .peer_bytes_per_second = kPcie4,
    .source =
        "memory: deviceQuery with CUDA 12.8 in an unnamed public log. Context: assumed, the "
        "rtx-3090's by multiprocessors. Rates: "
        "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a10/pdf/"
        "a10-datasheet.pdf; "
        "float64: 1/64 of float32",
};

inline constexpr Gpu kA10g = {
    .name = "a10g",
    .product = "NVIDIA A10G",
    .summary = "A10G of AWS (g5), 24 GB GDDR6, ECC on",
    .memory_bytes = 22'587 * kMiB,
    .context_bytes = 300 * kMiB,
    .capability = k86,
    .multiprocessors = 80,
    .l2_bytes = 6 * kMiB,
    .memory_bus_bits = 384,
    .memory_clock_khz = 6'251'000,
    .memory_bytes_per_second = 600.096e9,
    .float64_flops = 0.547e12,
    .float32_flops = 35e12,
    .tensorfloat32_flops = 35e12,
    .float16_flops = 70e12,
    .bfloat16_flops = 70e12,
    .products = {0.95, 3'000, 0.67},
    .host_bytes_per_second = kPcie4,
    .peer_bytes_per_second = kPcie4,
    .source =
        "memory: total_memory=22587MB with CUDA 13.0 in an unnamed public log; 22.06 GiB. Context: "
        "21.96 - 21.59 - 0.07 GiB in another, 18.86 - 18.68 - 0.00 with few kernels. Products: "
        "https://github.com/zzc0721/torch-performance-test-data/issues/126. Rates: "
        "https://d1.awsstatic.com/product-marketing/ec2/"
        "NVIDIA_AWS_A10G_DataSheet_FINAL_02_17_2022.pdf; float64: 1/64 of float32",
};

inline constexpr Gpu kA40 = {
    .name = "a40",
    .product = "NVIDIA A40",
    .summary = "A40, 48 GB GDDR6, ECC on, without an NVLink bridge",
    .memory_bytes = 47'608'692'736,
    .context_bytes = 350 * kMiB,
    .capability = k86,
    .multiprocessors = 84,
    .l2_bytes = 6 * kMiB,
    .memory_bus_bits = 384,
    .memory_clock_khz = 7'251'000,
    .memory_bytes_per_second = 696.096e9,
    .float64_flops = 0.584e12,
    .float32_flops = 37.4e12,
    .tensorfloat32_flops = 74.8e12,
    .float16_flops = 149.7e12,
    .bfloat16_flops = 149.7e12,
    .products = {0.7, 3'000, 0.63},
    .host_bytes_per_second = kPcie4,
    .peer_bytes_per_second = kPcie4,
    .source =
        "memory: deviceQuery with CUDA 12.4 in an unnamed public log. Context: the rtx-a6000's, "
        "the same chip. Products: that one's, too; 8,192 numbers at 108 to 111 TFLOP/s in "
        "https://github.com/zzc0721/torch-performance-test-data/issues/185. Rates: "
        "https://images.nvidia.com/content/Solutions/data-center/a40/nvidia-a40-datasheet.pdf; "
        "float64: 1/64 of float32",
};

inline constexpr Gpu kA100Of40GB = {
    .name = "a100-40gb",
    .product = "NVIDIA A100-SXM4-40GB",
    .summary = "A100 SXM4, 40 GB HBM2",
    .memory_bytes = 42'298'834'944,
    .context_bytes = 500 * kMiB,
    .capability = k80,
    .multiprocessors = 108,
    .l2_bytes = 40 * kMiB,
    .memory_bus_bits = 5120,
    .memory_clock_khz = 1'215'000,
    .memory_bytes_per_second = 1555.2e9,
    .float64_flops = 19.5e12,
    .float32_flops = 19.5e12,
    .tensorfloat32_flops = 156e12,
    .float16_flops = 312e12,
    .bfloat16_flops = 312e12,
    .products = {0.805, 8'700, 0.9},
    .host_bytes_per_second = kPcie4,
    .peer_bytes_per_second = 300e9,
    .source =
        "memory: deviceQuery with CUDA 12.2, "
        "https://github.com/bottlerocket-os/bottlerocket/pull/3873. Context: 14.25 - 12.87 - "
        "0.89 GiB, https://github.com/TianheWu/CoSeR/issues/10; 0.47 GiB in "
        "https://github.com/stas00/ml-engineering, training/performance. Rates: "
        "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/"
        "nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf",
};

constexpr Gpu a100_of_80gb() {
  Gpu gpu = kA100Of40GB;
  gpu.name = "a100-80gb";
  gpu.product = "NVIDIA A100-SXM4-80GB";
  gpu.summary = "A100 SXM4, 80 GB HBM2e";
  gpu.memory_bytes = 85'100'068'864;
  gpu.memory_clock_khz = 1'593'000;
  gpu.memory_bytes_per_second = 2039.04e9;
  gpu.source =
      "memory: XLA a100_sxm_80.txtpb. Context: 9.25 - 8.27 - 0.49 GiB, "
      "https://github.com/lianqi1008/Control-GIC/issues/6. The rest as a100-40gb";
  return gpu;
}

constexpr Gpu a100_pcie_of_40gb() {
  Gpu gpu = kA100Of40GB;
  gpu.name = "a100-pcie-40gb";
  gpu.product = "NVIDIA A100-PCIE-40GB";
  gpu.summary = "A100 PCIe, 40 GB HBM2, 250 W, without an NVLink bridge";
  gpu.products.share = 0.65;
  gpu.peer_bytes_per_second = kPcie4;
  gpu.source =
      "memory: deviceQuery with CUDA 12.2 in an unnamed public log. Products: 8,192 numbers of 16 "
      "bits at 198 and 215, 10,240 at 206 and 212 TFLOP/s, "
      "https://github.com/zzc0721/torch-performance-test-data/issues/108. The rest as a100-40gb";
  return gpu;
}

constexpr Gpu a100_pcie_of_80gb() {
  Gpu gpu = a100_of_80gb();
  gpu.name = "a100-pcie-80gb";
  gpu.product = "NVIDIA A100 80GB PCIe";
  gpu.summary = "A100 PCIe, 80 GB HBM2e, 300 W, without an NVLink bridge";
  gpu.memory_bytes = 84'974'239'744;
  gpu.memory_clock_khz = 1'512'000;
  gpu.memory_bytes_per_second = 1935.36e9;
  gpu.products.share = 0.7;
  gpu.peer_bytes_per_second = kPcie4;
  gpu.source =
      "memory: deviceQuery with CUDA 12.4 in an unnamed public log. Context: 78.31 - 77.81 - 0.01 "
      "GiB in another; 17.37 - 14.34 - 2.53, https://github.com/Kwai-Keye/Keye/issues/11. "
      "Products: assumed, between the 250 W of a100-pcie-40gb and the 400 of a100-80gb. Rates: the "
      "data sheet of a100-40gb";
  return gpu;
}

inline constexpr Gpu kL4 = {
    .name = "l4",
    .product = "NVIDIA L4",
    .summary = "L4, 24 GB GDDR6",
    .memory_bytes = 22'559 * kMiB,
    .context_bytes = 240 * kMiB,
    .capability = k89,
    .multiprocessors = 58,
    .l2_bytes = 48 * kMiB,
    .memory_bus_bits = 192,
    .memory_clock_khz = 6'251'000,
    .memory_bytes_per_second = 300.048e9,
    .float64_flops = 0.473e12,
    .float32_flops = 30.3e12,
    .tensorfloat32_flops = 60e12,
    .float16_flops = 121e12,
    .bfloat16_flops = 121e12,
    .products = {0.5, 3'000, 0.4},
    .host_bytes_per_second = kPcie4,
    .peer_bytes_per_second = kPcie4,
    .source =
        "memory: 22.03 GiB and context: 20.78 - 18.66 - 1.89 GiB, "
        "https://github.com/ArcInstitute/evo2/issues/190. Rates: "
        "https://resources.nvidia.com/en-us-data-center-overview/l4-gpu-datasheet; float64: "
        "1/64 of float32",
};

inline constexpr Gpu kL40s = {
    .name = "l40s",
    .product = "NVIDIA L40S",
    .summary = "L40S, 48 GB GDDR6",
    .memory_bytes = 45'486 * kMiB,
    .context_bytes = 510 * kMiB,
    .capability = k89,
    .multiprocessors = 142,
    .l2_bytes = 96 * kMiB,
    .memory_bus_bits = 384,
    .memory_clock_khz = 9'001'000,
    .memory_bytes_per_second = 864.096e9,
    .float64_flops = 1.43e12,
    .float32_flops = 91.6e12,
    .tensorfloat32_flops = 183e12,
    .float16_flops = 362.05e12,
    .bfloat16_flops = 362.05e12,
    .products = {0.58, 2'300, 0.51},
    .host_bytes_per_second = kPcie4,
    .peer_bytes_per_second = kPcie4,
    .source =
        "memory: 44.42 GiB, https://github.com/stepfun-ai/Step-Video-T2V/issues/8. Context: "
        "that of an L40, the same chip, 11.13 - 10.25 - 0.39 GiB, "
        "https://github.com/QwenLM/Qwen3-VL/issues/2097. Multiprocessors, L2, bus, clock: "
        "https://github.com/alvarobartt/cuda-device-query. Rates: "
        "https://www.nvidia.com/en-us/data-center/l40s/; float64: 1/64 of float32",
};

inline constexpr Gpu kH100 = {
    .name = "h100",
    .product = "NVIDIA H100 80GB HBM3",
    .summary = "H100 SXM5, 80 GB HBM3",
    .memory_bytes = 84'942'979'072,
    .context_bytes = 750 * kMiB,
    .capability = k90,
    .multiprocessors = 132,
    .l2_bytes = 50 * kMiB,
    .memory_bus_bits = 5120,
    .memory_clock_khz = 2'619'000,
    .memory_bytes_per_second = 3352.32e9,
    .float64_flops = 66.9e12,
    .float32_flops = 66.9e12,
    .tensorfloat32_flops = 494.7e12,
    .float16_flops = 989.4e12,
    .bfloat16_flops = 989.4e12,
    .products = {0.805, 3'500, 0.75},
    .power = {700, 126, 0.79e-12, 110e-12},
    .host_bytes_per_second = kPcie5,
    .peer_bytes_per_second = 450e9,
    .source =
        "memory: XLA h100_sxm.txtpb; 85,017,493,504 with driver 580.159. Context: measured, 742 to "
        "764 MiB by NVML in 34 trainings (docs/gpu.md). Rates: "
        "https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet, with "
        "the digits of NVIDIA's Hopper white paper",
};

constexpr Gpu h100_pcie() {
  Gpu gpu = kH100;
  gpu.name = "h100-pcie";
  gpu.product = "NVIDIA H100 PCIe";
  gpu.summary = "H100 PCIe, 80 GB HBM2e, 350 W, without an NVLink bridge";
  gpu.multiprocessors = 114;
  gpu.memory_clock_khz = 1'593'000;
  gpu.memory_bytes_per_second = 2039.04e9;
  gpu.float64_flops = 51.2e12;
  gpu.float32_flops = 51.2e12;
  gpu.tensorfloat32_flops = 378e12;
  gpu.float16_flops = 756e12;
  gpu.bfloat16_flops = 756e12;
  gpu.power = {350, 96, 0.7e-12, 110e-12};
  gpu.peer_bytes_per_second = kPcie5;
  gpu.source =
      "memory: XLA h100_pcie.txtpb. Multiprocessors and clock: deviceQuery in an unnamed public "
      "log. Context: as h100. Power: an H100's at this clock, idle also by its multiprocessors. "
      "Rates: https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet. The "
      "rest as h100";
  return gpu;
}

constexpr Gpu h100_nvl() {
  Gpu gpu = kH100;
  gpu.name = "h100-nvl";
  gpu.product = "NVIDIA H100 NVL";
  gpu.summary = "H100 NVL, 94 GB HBM3, 400 W, without an NVLink bridge";
  gpu.memory_bytes = 95'320 * kMiB;
  gpu.context_bytes = 680 * kMiB;
  gpu.memory_bus_bits = 6016;
  gpu.memory_bytes_per_second = 3939e9;
  gpu.float64_flops = 60e12;
  gpu.float32_flops = 60e12;
  gpu.tensorfloat32_flops = 417.5e12;
  gpu.float16_flops = 835e12;
  gpu.bfloat16_flops = 835e12;
  gpu.power = {400, 113, 0.71e-12, 110e-12};
  gpu.peer_bytes_per_second = kPcie5;
  gpu.source =
      "memory: 95320 MiB with CUDA 13.0 in an unnamed public log; 93.10 GiB. Context: 91.91 - "
      "86.10 - 5.15 GiB, https://github.com/ali-vilab/VACE/issues/56. Bus: by the 3.9 TB/s of the "
      "data sheet and the h100's clock. Power: an H100's at this clock. Rates: "
      "https://www.nvidia.com/en-us/data-center/h100/. The rest as h100";
  return gpu;
}

constexpr Gpu gh200() {
  Gpu gpu = kH100;
  gpu.name = "gh200";
  gpu.product = "NVIDIA GH200 480GB";
  gpu.summary = "GH200, 96 GB HBM3, beside a Grace CPU";
  gpu.memory_bytes = 102'005'473'280;
  gpu.l2_bytes = 60 * kMiB;
  gpu.memory_bus_bits = 6144;
  gpu.memory_bytes_per_second = 4022.78e9;
  gpu.host_bytes_per_second = 450e9;
  gpu.source =
      "memory, multiprocessors, L2, bus, clock: deviceQuery with CUDA 12.4 in an unnamed public "
      "log. The host's link is NVLink-C2C, 900 GB/s in both directions: "
      "https://resources.nvidia.com/en-us-grace-cpu/grace-hopper-superchip. Assumed is that the "
      "GPU may draw as much as an H100. The rest as h100";
  return gpu;
}

constexpr Gpu h200() {
  Gpu gpu = kH100;
  gpu.name = "h200";
  gpu.product = "NVIDIA H200";
  gpu.summary = "H200 SXM5, 141 GB HBM3e";
  gpu.memory_bytes = 150'109'880'320;
  gpu.context_bytes = 750 * kMiB;
  gpu.l2_bytes = 60 * kMiB;
  gpu.memory_bus_bits = 6144;
  gpu.memory_clock_khz = 3'201'000;
  gpu.memory_bytes_per_second = 4800e9;
  gpu.products = {0.8, 3'500, 0.75};
  gpu.power.joules_per_flop = 0.85e-12;
  gpu.source =
      "memory: measured; L2: L2_cache_size=60MB of torch.cuda.get_device_properties in an unnamed "
      "public log. Context: measured, 742 to 774 MiB of NVML in trainings (docs/gpu.md). "
      "The clock is as nvidia-smi says. The memory's rate: "
      "https://www.nvidia.com/en-us/data-center/h200/. The rest as h100";
  return gpu;
}

inline constexpr Gpu kB200 = {
    .name = "b200",
    .product = "NVIDIA B200",
    .summary = "B200 of HGX B200, 180 GB HBM3e",
    .memory_bytes = 191'514'411'008,
    .context_bytes = 710 * kMiB,
    .capability = k100,
    .multiprocessors = 148,
    .l2_bytes = 132'644'864,
    .memory_bus_bits = 7680,
    .memory_clock_khz = 3'996'000,
    .memory_bytes_per_second = 7672.32e9,
    .float64_flops = 37e12,
    .float32_flops = 75e12,
    .tensorfloat32_flops = 1125e12,
    .float16_flops = 2250e12,
    .bfloat16_flops = 2250e12,
    .products = {0.69, 2'500, 0.75},
    .power = {1000, 242, 0.535e-12, 64e-12},
    .host_bytes_per_second = kPcie5,
    .peer_bytes_per_second = 900e9,
    .source =
        "memory: XLA b200.txtpb. Bus and clock: https://github.com/pytorch/ao/pull/4002. "
        "Context: 168.34 - 167.64 - 0.00 GiB with few kernels, "
        "https://github.com/stas00/the-art-of-debugging, pytorch/README.md. Rates: 1/8 of "
        "https://www.nvidia.com/en-us/data-center/hgx/, which was first published with 80 and "
        "40 TFLOP/s for float32 and float64. PCIe 5: assumed, the GPU itself has PCIe 6",
};

inline constexpr std::array kDataCenterGpus = {
    kV100Of16GB,
    v100_of_32gb(),
    kT4,
    kA10,
    kA10g,
    kA40,
    kA100Of40GB,
    a100_of_80gb(),
    a100_pcie_of_40gb(),
    a100_pcie_of_80gb(),
    kL4,
    kL40s,
    h100_pcie(),
    h100_nvl(),
    kH100,
    gh200(),
    h200(),
    kB200,
};

}  // namespace headroom::dry_run
