# SPDX-License-Identifier: Apache-2.0
"""Trains torchvision's DeepLab on images of 512 x 512, in TF32."""
import steps
import torch
import torchvision

torch.backends.cudnn.benchmark = False
torch.set_float32_matmul_precision("high")
torch.manual_seed(0)
with torch.device("cuda"):
    model = torchvision.models.segmentation.deeplabv3_resnet50(
        weights=None, weights_backbone=None, num_classes=21, aux_loss=True).train()
    images, classes = torch.randn(8, 3, 512, 512), torch.randint(21, (8, 512, 512))
optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)


def loss_of():
    out = model(images)
    return (torch.nn.functional.cross_entropy(out["out"], classes)
            + 0.4 * torch.nn.functional.cross_entropy(out["aux"], classes))


steps.trained(optimizer, loss_of)
