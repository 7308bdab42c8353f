# SPDX-License-Identifier: Apache-2.0
"""Lightning on two GPUs: a segmentation network, SyncBatchNorm, accumulated gradients."""
import lightning
import segmentation_models_pytorch as smp
import torch


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = smp.UnetPlusPlus("resnet34", encoder_weights=None, classes=4)
        self.loss = smp.losses.DiceLoss("multiclass")

    def training_step(self, batch, index):
        images, masks = batch
        return self.loss(self.model(images), masks)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(32, 3, 256, 256),
                                          torch.randint(0, 4, (32, 256, 256)))
    trainer = lightning.Trainer(
        accelerator="cuda", devices=2, strategy="ddp", precision="16-mixed", max_epochs=2,
        sync_batchnorm=True, accumulate_grad_batches=2, logger=False, enable_checkpointing=False,
        enable_progress_bar=False)
    trainer.fit(Module(), torch.utils.data.DataLoader(data, 4))
