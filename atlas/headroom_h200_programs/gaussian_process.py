# SPDX-License-Identifier: Apache-2.0
"""Fits GPyTorch's exact Gaussian process to 8,000 points by Cholesky's factors."""
import gpytorch
import steps
import torch

POINTS = 8000


class Process(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        self.covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(2.5))

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.covariance(x))


torch.manual_seed(0)
x = torch.rand(POINTS, 4, device="cuda")
y = torch.sin(6 * x[:, 0])
likelihood = gpytorch.likelihoods.GaussianLikelihood().cuda()
model = Process(x, y, likelihood).cuda().train()
optimizer = torch.optim.Adam(model.parameters(), 0.01)
objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
with gpytorch.settings.max_cholesky_size(POINTS + 1):
    steps.trained(optimizer, lambda: -objective(model(x), y))
