# SPDX-License-Identifier: Apache-2.0
"""Lightning averages the weights of the last epochs: StochasticWeightAveraging. Batch normalisation
starts anew then, and reads how many batches it has seen."""
import lightning
import torch
from lightning.pytorch.callbacks import StochasticWeightAveraging
from torch import nn


class Network(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 64, 3), nn.BatchNorm2d(64), nn.ReLU(),
                                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))

    def training_step(self, batch, index):
        images, labels = batch
        return nn.functional.cross_entropy(self.layers(images), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


data = torch.utils.data.TensorDataset(torch.randn(64, 3, 128, 128), torch.randint(0, 10, (64,)))
lightning.Trainer(
    accelerator="cuda", devices=1, max_epochs=4, logger=False, enable_checkpointing=False,
    enable_progress_bar=False, callbacks=[StochasticWeightAveraging(0.01, swa_epoch_start=2)],
).fit(Network(), torch.utils.data.DataLoader(data, batch_size=16))
