# SPDX-License-Identifier: Apache-2.0
"""PyTorch compiles a kernel by its NVRTC, then cuDNN one by another copy of it, in one thread."""
import os

os.environ["USE_PYTORCH_KERNEL_CACHE"] = "0"

import torch  # noqa: E402

torch.special.spherical_bessel_j0(torch.ones(3, device="cuda"))
shape = {"device": "cuda", "dtype": torch.bfloat16}
net = torch.nn.Conv2d(96, 96, 7, padding=3, groups=96, **shape)
images = torch.randn(64, 96, 56, 56, **shape)
net.to(memory_format=torch.channels_last)(images.to(memory_format=torch.channels_last))
