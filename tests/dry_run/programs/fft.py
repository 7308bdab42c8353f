# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms and their gradients; prints the peak of one of 64 rows of 1,024 numbers."""
import torch

x = torch.randn(64, 1024, device="cuda")
torch.fft.fft(x.to(torch.complex64))  # makes the plan's work area
before = torch.cuda.memory_allocated()
torch.cuda.reset_peak_memory_stats()
torch.fft.fft(x.to(torch.complex64))
print("transform", torch.cuda.max_memory_allocated() - before)

image = torch.randn(8, 3, 224, 224, device="cuda", requires_grad=True)
torch.fft.rfft2(image).abs().sum().backward()
torch.fft.irfft(torch.fft.rfft(x.double()))
torch.fft.fft(x.half())
torch.stft(x, 400, window=torch.hann_window(400, device="cuda"), return_complex=True)
print("gradients", image.grad.numel())
