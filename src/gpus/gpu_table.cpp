// SPDX-License-Identifier: Apache-2.0
// Shared by all rows; each row's `source` names the rest.
// - memory_bytes: what a real driver printed. "GiB" there stands for PyTorch's out-of-memory
//   message ("GPU 0 has a total capacity of ..."), exact to 5 MiB. XLA stands for the files in
//   https://github.com/openxla/xla/tree/main/xla/backends/gpu/target_config/specs.
// - context_bytes: from the same messages, "this process has ... in use" less what is allocated
//   and what is reserved by PyTorch; rounded to 10 MiB.
// - Multiprocessors, L2, memory bus and clock: CUDA's sample deviceQuery, as it was printed in the
//   named log or, where none is named, in other public logs; for V100, A100, H100 and B200, XLA.
// - Products: fits of https://github.com/ai-dynamo/aiconfigurator's measured bfloat16 products
//   (A100, H100, H200, L40S, B200; docs/time_rates.md); of GeForce, whose clock goes beyond the
//   data sheet's, https://github.com/mli/transformers-benchmarks, a 3090 Ti and a 4090, and three
//   of four RTX 5090 of https://github.com/zzc0721/torch-performance-test-data (issues 96, 124,
//   200, pull request 15; 8,192 numbers of 16 bits: 234 to 236 TFLOP/s, the fourth 175); of the
//   others assumed, by how NVIDIA limits their power. Without tensor cores: of the Hopper and
//   Blackwell data centre GPUs our H100's; of the A10 assumed; of the others the largest of five
//   sizes up to 10,240 in the same data (database.md), of several A100 the least, of the L4 that
//   of 4,096 (issue 120).
// - Power: the limits are the data sheet's; the rest is from the same tables, of which one of an
//   H200 and one of a B200 have watts (docs/time_rates.md). An H100's is an H200's, but for a
//   product's.
// - Rates: NVIDIA's data sheet, halved where it counts sparsity; the memory's is bus x 2 x clock.
#include "src/gpus/gpu.h"

#include <array>

namespace headroom::dry_run {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;

// 16 lanes with a line code of 128 bits in 130.
constexpr double kPcie3 = 16 * 8e9 / 8 * 128 / 130;
constexpr double kPcie4 = 2 * kPcie3;
constexpr double kPcie5 = 2 * kPcie4;

// {major, minor, threads, blocks, registers, shared memory, of it at most for one block}
constexpr Capability k70 = {7, 0, 2048, 32, 65536, 96 * kKiB, 96 * kKiB};
constexpr Capability k75 = {7, 5, 1024, 16, 65536, 64 * kKiB, 64 * kKiB};
constexpr Capability k80 = {8, 0, 2048, 32, 65536, 164 * kKiB, 163 * kKiB};
constexpr Capability k86 = {8, 6, 1536, 16, 65536, 100 * kKiB, 99 * kKiB};
constexpr Capability k89 = {8, 9, 1536, 24, 65536, 100 * kKiB, 99 * kKiB};
constexpr Capability k90 = {9, 0, 2048, 32, 65536, 228 * kKiB, 227 * kKiB};
constexpr Capability k100 = {10, 0, 2048, 32, 65536, 228 * kKiB, 227 * kKiB};
constexpr Capability k120 = {12, 0, 1536, 24, 65536, 100 * kKiB, 99 * kKiB};

// A GPU's figures; kGpus lists them in the order of the program.
constexpr Gpu kV100Of16GB = {
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

constexpr Gpu kT4 = {
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

constexpr Gpu kA10 = {
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

constexpr Gpu kA100Of40GB = {
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

constexpr Gpu kRtx3090 = {
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

constexpr Gpu kRtx4090 = {
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

constexpr Gpu kRtx5090 = {
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

constexpr Gpu kL4 = {
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

constexpr Gpu kL40s = {
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

constexpr Gpu kH100 = {
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

constexpr Gpu kB200 = {
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

constexpr std::array kGpus = {
    kV100Of16GB, v100_of_32gb(), kT4, kA10,  kA100Of40GB, a100_of_80gb(), kRtx3090,
    kRtx4090,    kRtx5090,       kL4, kL40s, kH100,       h200(),         kB200,
};

}  // namespace

std::span<const Gpu> gpu_table() { return kGpus; }

}  // namespace headroom::dry_run
