# SPDX-License-Identifier: Apache-2.0
"""make_data.py FOLDER: texts, images, a tokenizer and models with random weights, small on disk."""
import json
import sys
from pathlib import Path

import numpy
import sentencepiece
import tokenizers
import torch
import transformers
from litgpt import GPT, Config
from litgpt.utils import save_config
from PIL import Image

FOLDER = Path(sys.argv[1])
WORDS = ("a an the model memory peak step layer loss gradient keeps frees takes gives large small "
         "first last of in to and is was not all").split()
SPECIAL = ["<unk>", "<s>", "</s>", "<pad>"]
random = numpy.random.default_rng(1)


def text(words: int) -> str:
    return " ".join(random.choice(WORDS, words))


def make_texts() -> None:
    rows = [{"instruction": text(20), "input": "", "output": text(200), "text": text(400)}
            for _ in range(64)]
    (FOLDER / "instructions.json").write_text(json.dumps(rows))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(row["text"] for row in rows), model_prefix=str(FOLDER / "words"),
        vocab_size=200, hard_vocab_limit=False, minloglevel=2)
    for kind, answers in (("sft", {}), ("dpo", {"rejected": 200})):
        (FOLDER / kind).mkdir()
        lines = [{"prompt": text(50), "chosen" if answers else "completion": text(400)} |
                 {name: text(words) for name, words in answers.items()} for _ in range(64)]
        (FOLDER / kind / "train.jsonl").write_text("\n".join(map(json.dumps, lines)))


def make_images() -> None:
    """A folder for each class."""
    for kind in ("train", "val"):
        for number in range(64):
            image = Image.fromarray(random.integers(0, 256, (256, 256, 3), dtype=numpy.uint8))
            folder = FOLDER / "images" / kind / f"class_{number % 2}"
            folder.mkdir(parents=True, exist_ok=True)
            image.save(folder / f"{number}.jpg")


def make_boxes() -> None:
    """Images with the boxes of some objects in each, as YOLO reads them."""
    folder = FOLDER / "boxes"
    for kind in ("images", "labels"):
        (folder / kind).mkdir(parents=True)
    for number in range(32):
        image = Image.fromarray(random.integers(0, 256, (320, 320, 3), dtype=numpy.uint8))
        image.save(folder / f"images/{number}.jpg")
        lines = [f"{random.integers(3)} {x:.3f} {y:.3f} 0.2 0.2"
                 for x, y in random.uniform(0.2, 0.8, (random.integers(1, 9), 2))]
        (folder / f"labels/{number}.txt").write_text("\n".join(lines))
    (folder / "boxes.yaml").write_text(
        f"path: {folder}\ntrain: images\nval: images\nnames: [cat, dog, bird]\n")


def make_tokenizer() -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(
        {word: number for number, word in enumerate(SPECIAL + WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return tokenizer


def make_models() -> None:
    """A Llama of 134 million parameters for transformers, Pythia 160M for LitGPT."""
    tokenizer = make_tokenizer()
    config = transformers.LlamaConfig(
        vocab_size=32000, hidden_size=768, intermediate_size=2048, num_hidden_layers=12,
        num_attention_heads=12, max_position_embeddings=2048)
    transformers.LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(FOLDER / "llama")
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>",
        pad_token="<pad>").save_pretrained(FOLDER / "llama")
    pythia = FOLDER / "checkpoints/EleutherAI/pythia-160m"
    pythia.mkdir(parents=True)
    tokenizer.save(str(pythia / "tokenizer.json"))
    (pythia / "tokenizer_config.json").write_text(json.dumps(
        {"bos_token": "<s>", "eos_token": "</s>", "tokenizer_class": "PreTrainedTokenizerFast"}))
    config = Config.from_name("pythia-160m")
    torch.save(GPT(config).to(torch.bfloat16).state_dict(), pythia / "lit_model.pth")
    save_config(config, pythia)


FOLDER.mkdir(parents=True)
torch.manual_seed(1)
make_texts()
make_images()
make_models()
make_boxes()
(FOLDER / "made").touch()
