# SPDX-License-Identifier: Apache-2.0
"""TabNet's own fit() on a random table."""
import numpy
from pytorch_tabnet.tab_model import TabNetClassifier

random = numpy.random.default_rng(1)
network = TabNetClassifier(n_d=64, n_a=64, n_steps=5, device_name="cuda")
network.fit(random.normal(size=(65536, 200)).astype("float32"), random.integers(0, 5, 65536),
            max_epochs=1, batch_size=16384, virtual_batch_size=1024, num_workers=0)
