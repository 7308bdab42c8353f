# SPDX-License-Identifier: Apache-2.0
"""An exact Gaussian process of GPyTorch on 4,000 points."""
import gpytorch
import torch


class Model(gpytorch.models.ExactGP):
    def __init__(self, points, values, likelihood):
        super().__init__(points, values, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        self.covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5))

    def forward(self, points):
        return gpytorch.distributions.MultivariateNormal(self.mean(points),
                                                         self.covariance(points))


points, values = torch.rand(4000, 8).cuda(), torch.randn(4000).cuda()
likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Model(points, values, likelihood).cuda()
optimizer = torch.optim.Adam(model.parameters(), 0.1)
objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for _ in range(2):
    optimizer.zero_grad()
    (-objective(model(points), values)).backward()
    optimizer.step()
