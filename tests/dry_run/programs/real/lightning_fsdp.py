# SPDX-License-Identifier: Apache-2.0
"""Lightning's own demonstration, a Transformer on words, by FSDP and bfloat16 on all GPUs."""
import lightning
import torch
from lightning.pytorch.demos import Transformer
from lightning.pytorch.strategies import FSDPStrategy

WORDS = 33278


class Module(lightning.LightningModule):
    def configure_model(self):
        self.model = Transformer(vocab_size=WORDS, ninp=1024, nhead=16, nhid=4096, nlayers=8)

    def training_step(self, batch, index):
        words, target = batch
        return torch.nn.functional.nll_loss(self.model(words, target), target.reshape(-1))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4)


if __name__ == "__main__":
    words = torch.randint(0, WORDS, (64, 35))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(words, words), 8)
    trainer = lightning.Trainer(
        accelerator="cuda", devices="auto", strategy=FSDPStrategy(
            auto_wrap_policy={torch.nn.TransformerEncoderLayer, torch.nn.TransformerDecoderLayer}),
        precision="bf16-mixed", max_steps=3, gradient_clip_algorithm="norm", logger=False,
        enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(Module(), loader)
