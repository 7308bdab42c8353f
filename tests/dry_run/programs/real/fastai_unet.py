# SPDX-License-Identifier: Apache-2.0
"""The learner of fastai: a U-Net over an xresnet, float16, one cycle."""
import torch
from fastai.data.core import DataLoaders
from fastai.callback.fp16 import MixedPrecision
from fastai.callback.schedule import Learner
from fastai.vision.learner import create_unet_model
from fastai.vision.models.xresnet import xresnet50

data = torch.utils.data.TensorDataset(torch.randn(24, 3, 224, 224),
                                      torch.randint(0, 10, (24, 224, 224)))
loader = torch.utils.data.DataLoader(data, 8)
model = create_unet_model(xresnet50, 10, (224, 224), pretrained=False)
learner = Learner(DataLoaders(loader, loader, device="cuda"), model,
                  loss_func=torch.nn.CrossEntropyLoss(), cbs=[MixedPrecision()])
learner.fit_one_cycle(1, 1e-3)
