# SPDX-License-Identifier: Apache-2.0
"""The trainer of MONAI: SwinUNETR on volumes of 96 voxels, Dice and cross entropy, float16."""
import torch
from monai.data import DataLoader, Dataset
from monai.engines import SupervisedTrainer
from monai.losses import DiceCELoss
from monai.networks.nets import SwinUNETR

volumes = [{"image": torch.randn(1, 96, 96, 96), "label": torch.randint(0, 14, (1, 96, 96, 96))}
           for _ in range(3)]
network = SwinUNETR(in_channels=1, out_channels=14, feature_size=48, use_checkpoint=True).cuda()
SupervisedTrainer(
    device=torch.device("cuda"), max_epochs=1, train_data_loader=DataLoader(Dataset(volumes), 1),
    network=network, optimizer=torch.optim.AdamW(network.parameters(), 1e-4),
    loss_function=DiceCELoss(to_onehot_y=True, softmax=True), amp=True).run()
