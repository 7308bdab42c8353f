# SPDX-License-Identifier: Apache-2.0
"""The models of train.py: (model, inputs by name, what makes the loss of both)."""
import torch
from torch import nn
from torch.nn import functional

CLASSES = 1000
# Of transformers: model class, configuration class, what differs from its defaults, tokens.
TEXT = {
    "bert_base": ("BertForMaskedLM", "BertConfig", {}, 512),
    "bert_large": ("BertForMaskedLM", "BertConfig", {
        "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "intermediate_size": 4096}, 512),
    "distilbert": ("DistilBertForMaskedLM", "DistilBertConfig", {}, 256),
    "roberta_base": ("RobertaForMaskedLM", "RobertaConfig", {"max_position_embeddings": 514}, 512),
    "deberta_v2": ("DebertaV2ForMaskedLM", "DebertaV2Config", {
        "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072, "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"]}, 256),
    "modernbert": ("ModernBertForMaskedLM", "ModernBertConfig", {}, 1024),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {}, 1024),
    "gpt2_medium": ("GPT2LMHeadModel", "GPT2Config", {
        "n_embd": 1024, "n_layer": 24, "n_head": 16}, 1024),
    "opt_350m": ("OPTForCausalLM", "OPTConfig", {
        "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "ffn_dim": 4096, "word_embed_proj_dim": 1024}, 1024),
    "pythia_410m": ("GPTNeoXForCausalLM", "GPTNeoXConfig", {
        "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "intermediate_size": 4096}, 1024),
    "llama_1b": ("LlamaForCausalLM", "LlamaConfig", {
        "vocab_size": 128256, "hidden_size": 2048, "num_hidden_layers": 16,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 8192,
        "tie_word_embeddings": True}, 2048),
    "qwen3_600m": ("Qwen3ForCausalLM", "Qwen3Config", {
        "vocab_size": 151936, "hidden_size": 1024, "num_hidden_layers": 28,
        "num_attention_heads": 16, "num_key_value_heads": 8, "intermediate_size": 3072,
        "head_dim": 128, "tie_word_embeddings": True}, 2048),
    "gemma2_small": ("Gemma2ForCausalLM", "Gemma2Config", {
        "vocab_size": 32000, "hidden_size": 1024, "num_hidden_layers": 12,
        "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 4096,
        "head_dim": 128}, 1024),
    "mixtral_small": ("MixtralForCausalLM", "MixtralConfig", {
        "hidden_size": 768, "num_hidden_layers": 8, "num_attention_heads": 12,
        "num_key_value_heads": 4, "intermediate_size": 2048, "num_local_experts": 8}, 1024),
    "t5_base": ("T5ForConditionalGeneration", "T5Config", {
        "d_model": 768, "d_ff": 3072, "num_layers": 12, "num_heads": 12, "pad_token_id": 0,
        "decoder_start_token_id": 0}, 512),
}
IMAGES = {  # class, configuration, what differs, pixels
    "clip_vision": ("CLIPVisionModel", "CLIPVisionConfig", {
        "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "intermediate_size": 4096, "patch_size": 14}, 224),
    "dinov2_base": ("Dinov2Model", "Dinov2Config", {}, 518),
    "segformer_b0": ("SegformerForSemanticSegmentation", "SegformerConfig", {}, 512),
}
SEGMENTATION = ("deeplabv3_resnet50", "fcn_resnet50")
VIDEO = {"r3d_18": (16, 112), "mvit_v2_s": (16, 224)}  # frames, pixels


def make(name, batch, options):
    if name in OWN:
        return OWN[name](batch)
    if name in TEXT:
        return text(name, batch, options)
    return transformers_images(name, batch) if name in IMAGES else torchvision(name, batch)


def text(name, batch, options):
    import transformers
    model_class, config_class, changes, length = TEXT[name]
    # No token is padding, lest a mask is made of the tokens' values.
    config = getattr(transformers, config_class)(**changes, use_cache=False)
    config._attn_implementation = "eager" if "eager" in options else "sdpa"
    model = getattr(transformers, model_class)(config)
    if "checkpointing" in options:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    tokens = torch.randint(3, config.vocab_size, (batch, length))
    return (model, {"input_ids": tokens, "labels": tokens},
            lambda model, inputs: model(**inputs).loss)


def transformers_images(name, batch):
    import transformers
    model_class, config_class, changes, size = IMAGES[name]
    config = getattr(transformers, config_class)(**changes, image_size=size)
    inputs = {"pixel_values": torch.randn(batch, 3, size, size)}
    if name.startswith("segformer"):
        inputs["labels"] = torch.randint(2, (batch, size, size))
        def loss_of(model, inputs):
            return model(**inputs).loss
    else:
        def loss_of(model, inputs):
            return model(**inputs).last_hidden_state.float().square().mean()
    return getattr(transformers, model_class)(config), inputs, loss_of


def torchvision(name, batch):
    import torchvision
    model = torchvision.models.get_model(name, weights=None, **(
        {"weights_backbone": None} if name in SEGMENTATION else {}))
    if name in SEGMENTATION:
        inputs = {"images": torch.randn(batch, 3, 384, 384),
                  "labels": torch.randint(21, (batch, 384, 384))}
        return model, inputs, lambda model, inputs: functional.cross_entropy(
            model(inputs["images"])["out"], inputs["labels"])
    shape = (3, 224, 224)
    if name in VIDEO:
        frames, size = VIDEO[name]
        shape = (3, frames, size, size)
    return classifier(model, batch, *shape)


def classifier(model, batch, *shape, classes=400):
    inputs = {"images": torch.randn(batch, *shape), "labels": torch.randint(classes, (batch,))}
    return model, inputs, lambda model, inputs: functional.cross_entropy(
        model(inputs["images"]), inputs["labels"])


class LanguageLstm(nn.Module):
    def __init__(self, words=32000, width=1024):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, 2, batch_first=True, dropout=0.1)
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        return self.head(self.lstm(self.embedding(tokens))[0])


def lstm(batch, length=128, words=32000):
    inputs = {"tokens": torch.randint(words, (batch, length))}
    return LanguageLstm(words), inputs, lambda model, inputs: functional.cross_entropy(
        model(inputs["tokens"]).flatten(0, 1), inputs["tokens"].flatten())


def transformer_encoder(batch):
    layer = nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True, norm_first=True)
    encoder = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
    return encoder, {"x": torch.randn(batch, 512, 1024)}, lambda model, inputs: model(
        inputs["x"]).float().square().mean()


def twice(of, norm, inner, outer):
    return nn.Sequential(of(inner, outer, 3, padding=1), norm(outer), nn.ReLU(inplace=True),
                         of(outer, outer, 3, padding=1), norm(outer), nn.ReLU(inplace=True))


class UNet(nn.Module):
    """Of Ronneberger et al., with batch normalisation and padded edges."""
    def __init__(self, dimensions, width, depth=4):
        super().__init__()
        of = nn.Conv2d if dimensions == 2 else nn.Conv3d
        back = nn.ConvTranspose2d if dimensions == 2 else nn.ConvTranspose3d
        norm = nn.BatchNorm2d if dimensions == 2 else nn.BatchNorm3d
        widths = [width * 2**level for level in range(depth + 1)]
        self.down = nn.ModuleList(twice(of, norm, inner, outer) for inner, outer in
                                  zip([3, *widths], widths))
        self.pool = nn.MaxPool2d(2) if dimensions == 2 else nn.MaxPool3d(2)
        self.back = nn.ModuleList(back(2 * outer, outer, 2, stride=2) for outer in widths[-2::-1])
        self.up = nn.ModuleList(twice(of, norm, 2 * outer, outer) for outer in widths[-2::-1])
        self.last = of(width, 1, 1)

    def forward(self, x):
        kept = []
        for level, block in enumerate(self.down):
            x = block(x if level == 0 else self.pool(x))
            kept.append(x)
        kept.pop()
        for back, up in zip(self.back, self.up):
            x = up(torch.cat([kept.pop(), back(x)], 1))
        return self.last(x)


def unet(dimensions, width, size):
    def made(batch):
        inputs = {"images": torch.randn(batch, 3, *[size] * dimensions)}
        return UNet(dimensions, width), inputs, lambda model, inputs: model(
            inputs["images"]).float().square().mean()
    return made


OWN = {"lstm": lstm, "transformer_encoder": transformer_encoder, "unet_2d": unet(2, 64, 512),
       "unet_3d": unet(3, 32, 96)}
