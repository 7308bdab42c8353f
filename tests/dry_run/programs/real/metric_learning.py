# SPDX-License-Identifier: Apache-2.0
"""The trainer of pytorch-metric-learning: a trunk, an embedder, triplets that it mines."""
import torch
from pytorch_metric_learning import losses, miners, samplers, trainers
from torchvision.models import convnext_tiny

trunk = convnext_tiny(num_classes=768).cuda()
embedder = torch.nn.Linear(768, 128).cuda()
labels = torch.arange(96) % 8
data = torch.utils.data.TensorDataset(torch.randn(96, 3, 224, 224), labels)
trainers.MetricLossOnly(
    models={"trunk": trunk, "embedder": embedder}, batch_size=32,
    optimizers={"trunk_optimizer": torch.optim.Adam(trunk.parameters(), 1e-5),
                "embedder_optimizer": torch.optim.Adam(embedder.parameters(), 1e-4)},
    loss_funcs={"metric_loss": losses.TripletMarginLoss()},
    mining_funcs={"tuple_miner": miners.MultiSimilarityMiner()}, dataset=data,
    sampler=samplers.MPerClassSampler(labels, 4, length_before_new_iter=96),
    dataloader_num_workers=1, loss_weights={"metric_loss": 1}).train(num_epochs=1)
