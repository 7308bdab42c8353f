# SPDX-License-Identifier: Apache-2.0
"""The models, by configurations known in public."""
from transformers import Gemma2Config, GemmaConfig, LlamaConfig, Phi3Config

LLAMA_3 = {"vocab_size": 128256, "num_key_value_heads": 8, "rope_theta": 5e5, "rms_norm_eps": 1e-5}
LLAMA_31 = LLAMA_3 | {"max_position_embeddings": 131072, "rope_scaling": {
    "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192, "rope_type": "llama3"}}
EIGHT = {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
         "num_attention_heads": 32}
SEVENTY = {"hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80,
           "num_attention_heads": 64}
FREQUENCIES = [1.0] * 48  # a factor each; their number counts, and not their size


def qwen3():
    from transformers import Qwen3Config  # older versions have none
    return Qwen3Config(vocab_size=151936, hidden_size=4096, intermediate_size=12288,
                       num_hidden_layers=36, num_attention_heads=32, num_key_value_heads=8,
                       head_dim=128, max_position_embeddings=40960, rope_theta=1e6)


CONFIGS = {
    "llama-3-8b": lambda: LlamaConfig(**LLAMA_3, **EIGHT, max_position_embeddings=8192),
    "llama-3.1-8b": lambda: LlamaConfig(**LLAMA_31, **EIGHT),
    "llama-3.1-70b": lambda: LlamaConfig(**LLAMA_31, **SEVENTY),
    "llama-2-13b": lambda: LlamaConfig(
        hidden_size=5120, intermediate_size=13824, num_hidden_layers=40, num_attention_heads=40,
        max_position_embeddings=4096, rms_norm_eps=1e-5),
    "gemma-7b": GemmaConfig,
    "gemma-2-9b": lambda: Gemma2Config(
        hidden_size=3584, intermediate_size=14336, num_hidden_layers=42, num_attention_heads=16,
        num_key_value_heads=8, query_pre_attn_scalar=256),
    "phi3-mini": lambda: Phi3Config(
        max_position_embeddings=131072, sliding_window=262144, rope_scaling={
            "long_factor": FREQUENCIES, "short_factor": FREQUENCIES, "type": "longrope"}),
    "qwen-3-8b": qwen3,
}
