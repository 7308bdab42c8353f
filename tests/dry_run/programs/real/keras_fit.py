# SPDX-License-Identifier: Apache-2.0
"""Keras over PyTorch: fit() of an EfficientNet."""
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy

model = keras.applications.EfficientNetB0(weights=None, classes=100)
model.compile(optimizer=keras.optimizers.AdamW(1e-3), loss="sparse_categorical_crossentropy")
model.fit(numpy.random.rand(96, 224, 224, 3).astype("float32"), numpy.random.randint(0, 100, 96),
          batch_size=32, epochs=1, verbose=2)
