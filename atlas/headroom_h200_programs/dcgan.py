# SPDX-License-Identifier: Apache-2.0
"""Trains a generator against a discriminator, each by an Adam of its own."""
import steps
import torch
from torch import nn


def up(of, to):
    return [nn.ConvTranspose2d(of, to, 4, 2, 1, bias=False), nn.BatchNorm2d(to), nn.ReLU(True)]


def down(of, to):
    return [nn.Conv2d(of, to, 4, 2, 1, bias=False), nn.BatchNorm2d(to), nn.LeakyReLU(0.2, True)]


torch.manual_seed(0)
with torch.device("cuda"):
    generator = nn.Sequential(
        nn.ConvTranspose2d(128, 1024, 4, 1, 0, bias=False), nn.BatchNorm2d(1024), nn.ReLU(True),
        *up(1024, 512), *up(512, 256), *up(256, 128), nn.ConvTranspose2d(128, 3, 4, 2, 1),
        nn.Tanh())
    critic = nn.Sequential(*down(3, 128), *down(128, 256), *down(256, 512), *down(512, 1024),
                           nn.Conv2d(1024, 1, 4, 1, 0), nn.Flatten())
    images = torch.randn(256, 3, 64, 64)
of_generator = torch.optim.Adam(generator.parameters(), 2e-4, betas=(0.5, 0.999))
of_critic = torch.optim.Adam(critic.parameters(), 2e-4, betas=(0.5, 0.999))


def judged(images, real):
    logits = critic(images)
    return nn.functional.binary_cross_entropy_with_logits(logits, torch.full_like(logits, real))


def step():
    made = generator(torch.randn(256, 128, 1, 1, device="cuda"))
    of_critic.zero_grad()
    (judged(images, 1.0) + judged(made.detach(), 0.0)).backward()
    of_critic.step()
    of_generator.zero_grad()
    loss = judged(made, 1.0)
    loss.backward()
    of_generator.step()
    return loss.detach()


steps.run(step)
