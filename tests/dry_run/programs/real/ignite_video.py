# SPDX-License-Identifier: Apache-2.0
"""The engine of Ignite trains a Video Swin of torchvision."""
import torch
from ignite.engine import Events, create_supervised_trainer
from ignite.handlers import EMAHandler
from torchvision.models.video import swin3d_t

model = swin3d_t(num_classes=400).cuda()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
trainer = create_supervised_trainer(model, optimizer, torch.nn.CrossEntropyLoss(), device="cuda",
                                    amp_mode="amp", scaler=True)
EMAHandler(model, momentum=2e-4).attach(trainer, event=Events.ITERATION_COMPLETED)
batches = [(torch.randn(4, 3, 16, 224, 224), torch.randint(0, 400, (4,))) for _ in range(3)]
trainer.run(batches, max_epochs=1)
