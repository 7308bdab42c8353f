# SPDX-License-Identifier: Apache-2.0
"""PPO of Stable-Baselines3 plays an environment of images that its own tests use."""
from stable_baselines3 import PPO
from stable_baselines3.common.envs import FakeImageEnv
from stable_baselines3.common.vec_env import DummyVecEnv

games = DummyVecEnv([lambda: FakeImageEnv(screen_height=84, screen_width=84, n_channels=4)] * 8)
PPO("CnnPolicy", games, n_steps=64, batch_size=256, n_epochs=2, device="cuda").learn(1024)
