# SPDX-License-Identifier: Apache-2.0
"""Trains and validates torchvision's ResNet-50 by Lightning in mixed bfloat16."""
import lightning
import torch
import torchvision
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = torchvision.models.resnet50()

    def training_step(self, batch, at):
        images, labels = batch
        loss = cross_entropy(self.model(images), labels)
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, at):
        images, labels = batch
        self.log("validation", cross_entropy(self.model(images), labels))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1, momentum=0.9)


data = TensorDataset(torch.randn(256, 3, 224, 224), torch.randint(1000, (256,)))
trainer = lightning.Trainer(
    max_steps=6, accelerator="gpu", devices=1, precision="bf16-mixed", logger=False,
    enable_checkpointing=False, enable_progress_bar=False, val_check_interval=3)
trainer.fit(Net(), DataLoader(data, 32), DataLoader(data, 64))
