# SPDX-License-Identifier: Apache-2.0
"""The trainer of sentence-transformers: MPNet, pairs, losses over large batches kept in parts."""
import sys

from datasets import Dataset
from sentence_transformers import (SentenceTransformer, SentenceTransformerTrainer,
                                   SentenceTransformerTrainingArguments, losses, models)
from transformers import AutoTokenizer, MPNetConfig, MPNetModel

llama = sys.argv[1]  # of which it takes the tokenizer
MPNetModel(MPNetConfig()).save_pretrained("mpnet")
AutoTokenizer.from_pretrained(llama).save_pretrained("mpnet")
words = models.Transformer("mpnet", max_seq_length=128)
model = SentenceTransformer(modules=[words, models.Pooling(768)])
pairs = Dataset.from_dict({"anchor": ["the memory of a step " * 8] * 512,
                           "positive": ["a step keeps memory " * 12] * 512})
arguments = SentenceTransformerTrainingArguments(
    "out", max_steps=3, per_device_train_batch_size=128, bf16=True, report_to="none",
    save_strategy="no")
SentenceTransformerTrainer(
    model, arguments, pairs,
    loss=losses.CachedMultipleNegativesRankingLoss(model, mini_batch_size=32)).train()
