# SPDX-License-Identifier: Apache-2.0
"""What programs make of small tensors, by what it is, to compare a device's with the host's."""
import torch


def computed_on(device: str) -> dict:
    """As networks compute the sizes of their layers. Powers of two, lest a result hangs on how a
    GPU rounds."""
    whole = torch.arange(8, device=device)
    ratios = torch.linspace(0.5, 4, 8, device=device)
    is_large = whole > 3
    return {
        "converted and scaled": whole * 2.5 + 24,
        "scaled": ratios * 0.75,
        "halves": whole / 2,
        "ratio": ratios / (ratios * 4),
        "subtracted from a number": 1 - ratios,
        "rounded": torch.round(torch.log(ratios) / 0.5),
        "floor and ceiling": ratios.floor() + ratios.ceil() - ratios.trunc(),
        "root": (ratios * ratios).sqrt(),
        "exponent of 2": torch.log2(2.0 ** whole),
        "power of a number": torch.pow(2.0, ratios.floor()),
        "power": whole ** 3 - whole ** 2,
        "divided down": (whole - 4) // 3 * 8 + (whole - 4) % 3,
        "larger and smaller": torch.maximum(whole, 5 - whole) - torch.minimum(whole, 5 - whole),
        "negative": (-ratios).abs() + -whole,
        "chosen": torch.where(is_large, whole, -whole),
        "masked": ratios.masked_fill(is_large, 0.25),
        "compared as floats": ratios >= whole,
        "equal as floats": ratios == whole,
        "both hold": torch.logical_and(is_large, ~is_large) | torch.logical_not(is_large),
        "of every second": whole[::2] * 2.5,
        "whether one holds": is_large.any(),
        "smallest": (whole - 3).min(),
    }


def found_on(device: str) -> dict:
    """How many there are says how large a result is."""
    whole = torch.arange(8, device=device)
    many = torch.arange(20000, device=device)
    ragged = torch.tensor([[7, 8, -100], [9, -100, -100]]).to(device)
    labels = torch.tensor((3.0, 1, 1, 2, 3, 3)).to(device)
    return {
        "finite": torch.isfinite(labels),
        "places": (whole > 3).nonzero(),
        "places of numbers": whole.nonzero(),
        "places of many": (many > 17000).nonzero(),
        "sums of rows": ragged.sum(-1),
        "sums of columns": ragged.sum(0),
        "sums of a middle": torch.arange(24).to(device).view(2, 3, 4).sum(1),
        "how many in rows": (ragged != -100).sum(-1),
        "largest and smallest of rows": ragged.amax(1) - ragged.amin(1),
        "whole columns": (ragged != -100).all(0),
        "columns that hold any": (ragged == -100).any(0),
        "places in rows": (ragged != -100).nonzero(),
        "rows": torch.where(ragged == -100)[0],
        "how many are kept": torch.tensor(ragged[ragged != -100].shape),
        "none": torch.tensor(whole[whole > 9].shape),
        "one of each": torch.unique(labels),
        "how many of each": torch.unique(labels, return_counts=True)[1],
        "one of each in a row": torch.unique_consecutive(labels),
    }


def spread_on(device: str) -> dict:
    """Of elements that lie apart or are taken again, which are followed since 2.2."""
    whole = torch.arange(8, device=device)
    return {
        "each with each": whole[:, None] >= whole,
        "turned": whole.view(2, 4).t().contiguous(),
        "again": (whole > 3).repeat(3),
        "chosen numbers": torch.where(whole > 3, whole, 0) + torch.where(whole < 2, 7, -7),
    }


def indexed_on(device: str) -> dict:
    """What is read by an index."""
    def tensor(*values):
        return torch.tensor(values).to(device)

    table, row = torch.arange(24).view(4, 6).to(device), torch.arange(6).to(device) * 1.5
    each = tensor([5, 0, 0], [1, 1, 2])
    return {
        "rows": table[tensor(2, 0, -1)],
        "columns": table[:, tensor(5, 5, 1)],
        "of a turned one": table.t()[tensor(3, 2)],
        "places": table[tensor(0, 3), tensor(5, 1)],
        "masked": row[tensor(1, 0, 1, 0, 0, 1).bool()],
        "numbers": row[tensor([1, 2], [0, 5])],
        "selected": table.index_select(1, tensor(3, 3)),
        "selected by int32": row.bool().index_select(0, tensor(3, 0).int()),
        "many selected": row.index_select(0, tensor(*range(6)) % 2),
        "embeddings": torch.nn.functional.embedding(each % 4, table.float()),
        "gathered": table.gather(1, each),
        "rows gathered": table.gather(0, tensor([3], [1]).expand(2, 6)),
        "taken": table.take(tensor(23, -2)),
        "along": torch.take_along_dim(table, each[:1], 1),
    }


def written_on(device: str) -> dict:
    """What is written by an index."""
    def tensor(*values):
        return torch.tensor(values).to(device)

    made = {}

    def change(name: str, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        made[name] = torch.arange(12).view(3, 4).to(dtype).to(device)
        return made[name]

    each, values = tensor([3, 0], [1, 1]), tensor([10, 20], [30, 40])
    change("a row")[tensor(1)] = 7
    change("columns")[:, tensor(3, 0)] = values[:1]
    change("places", torch.float16)[tensor(0, -1), tensor(1, 2)] = 0.5
    change("masked")[tensor(1, 0, 1).bool()] = 9
    change("scattered").scatter_(1, each[:1], values)
    change("a number scattered").scatter_(1, each, 5)
    change("added").scatter_add_(1, each, values)
    change("added as floats", torch.float32).scatter_add_(0, each % 3, values.float())
    change("largest").scatter_reduce_(1, each, values, "amax")
    change("rows added").index_add_(0, tensor(2, 2, 0), values.repeat(2, 2)[:3], alpha=2)
    change("filled").index_fill_(1, tensor(0, 2), -1)
    change("copied").index_copy_(1, tensor(2, 1), values.repeat(2, 1)[:3])
    change("put").put_(tensor(4, -1), tensor(50, 60))
    rows = torch.arange(12).view(3, 4).to(device)
    made["long rows added"] = torch.zeros(4, 64, device=device)
    made["long rows added"].index_add_(0, tensor(*range(48)) % 3, torch.ones(48, 64, device=device))
    change("rows added up").index_put_((tensor(2, 0, 2),), rows, accumulate=True)
    change("added up").index_put_((tensor(2, 0, 2), tensor(1, 1, 1)), rows[0, :3], accumulate=True)
    change("replaced", torch.float32).masked_scatter_(rows % 5 < 2, rows.float() + 100)
    return made


def sorted_on(device: str) -> dict:
    """What is sorted, and where the largest stand."""
    numbers = torch.tensor((3, 1, 4, 15, 9, 26, 5, 35, -8, 97)).to(device)
    table = (torch.arange(60).to(device) * 37 % 61).view(4, 15)
    same = torch.tensor((2.0, 1, 2, 1, 1)).to(device)
    made = {
        "stable": same.sort(stable=True)[1],
        "stable, down": same.sort(stable=True, descending=True)[1],
        "order of bools": (same > 1).sort(stable=True)[1],
        "where the largest is": numbers.argmax(),
        "where the smallest of halves is": torch.tensor((2.0, 0, 1)).half().to(device).argmin(),
        "where the largest of rows is": table.argmax(1),
        "where the smallest of columns is": table.argmin(0),
        "in order": numbers[numbers.argsort()],
    }
    for name, (values, places) in {
            "up": numbers.sort(), "down": numbers.float().sort(descending=True),
            "largest": numbers.topk(3), "smallest of rows": table.topk(4, largest=False),
            "of rows": table.max(1), "of columns": table.min(0), "rows": table.sort(1),
            "columns": table.sort(0), "many": (table.view(-1) * 1.5).sort(),
            "more": (torch.arange(300).to(device) * 7 % 307).sort(),
            "most": (torch.arange(4100.0) * 7 % 4111).to(device).sort()}.items():
        made |= {f"{name}, sorted": values, f"{name}, places": places}
    return made


def measured_on(device: str) -> dict:
    """As the sizes of images say how many parts there are of each, and where they lie."""
    def tensor(values):
        return torch.tensor(values).to(device)

    sizes = tensor([[1, 4, 6], [1, 8, 4]])
    numbers, limits = sizes.float(), tensor([1.0, 2, 4, 6])
    made = {
        "products": sizes.prod(-1),
        "product": sizes.int().prod(),
        "how often": torch.repeat_interleave(sizes[1]),
        "at least": sizes.clamp(min=3),
        "between": numbers.clamp(2, 5),
        "sign": torch.sign(sizes - 4),
        "mean": numbers.mean(0),
        "sum of floats": numbers.double().sum(),
        "largest float": numbers.amax(1),
        "norm": tensor([3.0, 4]).norm(),
        "whether any is one": (numbers - 1).any(0),
        "whether all are more than one": (sizes - 1).all(0),
        "divided down as floats": numbers // 4 + numbers % 4,
        "bits": (sizes & 6) ^ (sizes | 1),
        "not the same": (sizes > 4) ^ (sizes < 8),
        "lower triangle": sizes.tril(1),
        "upper triangle": (numbers > 1).triu(),
        "places below": torch.tril_indices(4, 3, -1, device=device),
        "places above": torch.triu_indices(4, 3, -1, device=device),
        "between limits": torch.bucketize(numbers, limits),
        "between rows of limits": torch.searchsorted(torch.stack((limits, limits + 1)), numbers),
        "how many of each": torch.bincount(sizes.flatten()),
        "least and most": torch.stack(torch.aminmax(sizes, dim=1)),
        "least and most of all": torch.stack(torch.aminmax(numbers)),
        "products so far": numbers.cumprod(0),
        "rolled": sizes.roll(2, 1),
        "resized": torch.nn.functional.interpolate(numbers[None, None], size=(3, 5)),
        "one of each bool": torch.tensor(torch.unique(sizes > 4).shape),
        "filled": (sizes > 4).masked_fill(sizes > 5, False),
        "in 16 bits": numbers.half().float() + numbers.bfloat16(),
    }
    if not torch.__version__.startswith("2.1."):
        made["sum of a column"] = (sizes > 4)[:, 1].sum()
        made["of a column"] = (sizes > 4)[:, 1].float()
        made["column that is more than one"] = (sizes > 4)[:, 1] > 1
        made["places of a column that is"] = (sizes[:, 1] > 4.5).nonzero()
        made["others than itself"] = ~torch.eye(3, dtype=torch.bool, device=device)
    return made
