# SPDX-License-Identifier: Apache-2.0
"""The PPO loss of TorchRL over its own environments that count, with a replay buffer."""
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.modules import MLP, NormalParamExtractor, ProbabilisticActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss

body = torch.nn.Sequential(MLP(512, 64, num_cells=[2048, 2048]), NormalParamExtractor())
actor = ProbabilisticActor(TensorDictModule(body, ["observation"], ["loc", "scale"]),
                           in_keys=["loc", "scale"], distribution_class=TanhNormal,
                           return_log_prob=True).cuda()
critic = ValueOperator(MLP(512, 1, num_cells=[2048, 2048]), ["observation"]).cuda()
loss = ClipPPOLoss(actor, critic)
loss.make_value_estimator(gamma=0.99, lmbda=0.95)
optimizer = torch.optim.Adam(loss.parameters(), 3e-4)
frames = TensorDict({"observation": torch.randn(32, 512, 512)}, [32, 512]).cuda()
with torch.no_grad():
    frames = actor(frames)
frames["next"] = TensorDict(
    {"observation": torch.randn(32, 512, 512), "reward": torch.randn(32, 512, 1),
     "done": torch.zeros(32, 512, 1, dtype=torch.bool),
     "terminated": torch.zeros(32, 512, 1, dtype=torch.bool)}, [32, 512]).cuda()
loss.value_estimator(frames)
buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(16384, device="cuda"), batch_size=4096)
buffer.extend(frames.reshape(-1))
for _ in range(3):
    values = loss(buffer.sample())
    sum(values[f"loss_{each}"] for each in ("objective", "critic", "entropy")).backward()
    optimizer.step()
    optimizer.zero_grad()
