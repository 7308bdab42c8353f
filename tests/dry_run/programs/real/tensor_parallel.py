# SPDX-License-Identifier: Apache-2.0
"""Four ranks: two parts of each matrix (TP, sequence parallel) times two of FSDP2; saved by DCP."""
import torch
import torch.distributed.checkpoint as checkpoint
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.testing._internal.distributed._tensor.common_dtensor import ModelArgs, Transformer

mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("data", "tensor"))
torch.cuda.set_device(torch.distributed.get_rank())
model = Transformer(ModelArgs(n_layers=4, vocab_size=32000, max_seq_len=1024, dim=2048, n_heads=16,
                              dropout_p=0.0, weight_tying=False)).cuda()
model = Transformer.parallelize(model, mesh["tensor"], use_seq_parallel=True)
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
for layer in model.layers:
    fully_shard(layer, mesh=mesh["data"], mp_policy=policy)
fully_shard(model, mesh=mesh["data"], mp_policy=policy)
optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
for _ in range(3):
    model(torch.randint(0, 32000, (4, 1024), device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
weights, state = get_state_dict(model, optimizer)
checkpoint.save({"model": weights, "optimizer": state}, checkpoint_id="saved")
torch.distributed.destroy_process_group()
