# SPDX-License-Identifier: Apache-2.0
"""The trainer of denoising-diffusion-pytorch, which accelerate drives, on a folder of images."""
import sys

from denoising_diffusion_pytorch import GaussianDiffusion, Trainer, Unet

if __name__ == "__main__":
    model = Unet(dim=64, dim_mults=(1, 2, 4, 8), flash_attn=True)
    diffusion = GaussianDiffusion(model, image_size=128, timesteps=1000, sampling_timesteps=4)
    Trainer(diffusion, sys.argv[1], train_batch_size=16, gradient_accumulate_every=2, amp=True,
            train_num_steps=3, save_and_sample_every=1000, num_samples=4,
            calculate_fid=False).train()
