# SPDX-License-Identifier: Apache-2.0
"""Small tensors by chance, through operations by chance, on the device and on the host. What a plan
follows is what the host computes, and what it does not reads as zeros."""
import random
import warnings

import torch

ROUNDS = 30000
MOST = 14  # tensors that are kept
TYPES = (torch.int64, torch.int32, torch.float32, torch.bool, torch.float64, torch.int16,
         torch.uint8)
OF_ONE = """
t+3; t*2; -t; t.abs(); t>1; t<=0; t==2; t!=0; t.float(); t.long(); t.int(); t.bool(); t.double()
t.half().float(); t.bfloat16().float(); t.clamp(-1,4); t.clamp(min=0); t.sign(); t.sum(); t.sum(0)
t.sum(-1); t.amax(0); t.amin(); t.max(); t.max(0)[1]; t.min(-1)[0]; t.any(); t.any(0); t.prod()
t.prod(0); t.float().mean(0); t.cumsum(0); t.cumsum(-1); t.float().cumprod(0); t.flip(0)
t.nonzero(); t.unique(); t.tril(); t.triu(1); t//2; t%3; torch.fmod(t,3); t**2; t.logical_not()
~t; t.contiguous(); t.repeat(2,1); torch.repeat_interleave(t.abs().flatten().long()%5); t[t>1]
torch.where(t>0,t,0); t.masked_fill(t>2,1); torch.bincount(t.abs().flatten().long()%9); t.square()
t.sort(-1)[0]; t.argsort(-1,stable=True); t.flatten().topk(1)[0]; t.argmax(); t.argmin(-1)
torch.aminmax(t)[1]; t&1; t|2; t^3; t.roll(1); t.diff(); t/2; 1-t; 2//(t.abs()+1); t.float().norm()
t|True; True&t; t^True; t*True; True+t; t<<1; t>>2; torch.maximum(t,torch.tensor(1))
t.logical_or(torch.tensor(True)); (t.float()/t).nansum(0); t.float().std(0); t.double().var()
torch.nn.functional.interpolate(t.float().view(1,1,*t.shape),size=(3,5))
"""
OF_TWO = """
a+b; a*b; a-b; a>b; a==b; a!=b; a<=b; torch.maximum(a,b); torch.minimum(a,b); torch.where(a>b,a,b)
a.logical_and(b); a.logical_or(b); a.logical_xor(b); torch.cat((a.flatten(),b.flatten()))
torch.cat((a,b)); torch.cat((a,b),-1); torch.stack((a,b),1); a/(b.abs()+1)
a//(b.abs()+1); a%(b.abs()+1); a&b; a|b; a^b; a.flatten()[b.flatten().abs().long()%a.numel()]
torch.take(a,b.abs().long()%a.numel())
a.flatten().index_select(0,b.flatten().abs().long()%a.numel())
a.flatten().scatter(0,b.flatten().abs().long()[:1]%a.numel(),0)
a.gather(0,(b.flatten().abs().long()%a.shape[0]).view(-1,*[1]*(a.dim()-1)))
torch.searchsorted(a.flatten().float().sort()[0],b.float())
"""


def listed(text: str) -> list:
    return [each.strip() for line in text.strip().splitlines() for each in line.split(";")]


def drawn():
    """A tensor on the host, and the same on the device."""
    shape = [random.choice((1, 2, 3, 4, 5, 8)) for _ in range(random.choice((1, 1, 2, 2, 3)))]
    dtype = random.choice(TYPES)
    numbers = torch.randint(-3 if dtype.is_signed else 0, 6, shape).to(dtype)
    return numbers, numbers.cuda()


def seen_otherwise(pair):
    """Transposed, cut, expanded or as it is."""
    first = pair[0]
    dimension = random.randrange(first.dim())
    begin, step = random.randrange(first.shape[dimension]), random.choice((1, 2))
    places = [slice(None)] * first.dim()
    places[dimension] = slice(begin, None, step)
    see = random.choice((lambda t: t.transpose(0, dimension), lambda t: t[tuple(places)],
                         lambda t: t.select(dimension, begin), lambda t: t.unsqueeze(dimension),
                         lambda t: t.unsqueeze(0).expand(2, *t.shape), torch.flatten))
    seen = see(first), see(pair[1])
    return seen if seen[0].dim() > 0 else pair


def results_of(operation: str, pairs):
    """Nothing: the host refuses it."""
    try:
        names = [dict(zip("t" if len(pairs) == 1 else "ab", each)) for each in zip(*pairs)]
        on_host = eval(operation, {"torch": torch}, names[0])
    except (RuntimeError, IndexError, TypeError, ValueError):
        return None
    return on_host, eval(operation, {"torch": torch}, names[1])


def is_same(on_host, found) -> bool:
    return (on_host.shape == found.shape and on_host.dtype == found.dtype
            and torch.allclose(on_host.double(), found.double(), rtol=1e-5, equal_nan=True))


def may_be_unknown(tensor) -> bool:
    """What is not known reads as zeros, a single float as 1."""
    is_one = tensor.is_floating_point() and tensor.numel() == 1 and bool((tensor == 1).all())
    return is_one or not tensor.any()


def can_go_on(tensor) -> bool:
    """What may be not known does not, nor bools that are all true, likewise; nor what is too large
    for other types."""
    return (0 < tensor.numel() < 600 and 0 < tensor.dim() < 5 and not may_be_unknown(tensor)
            and not (tensor.dtype == torch.bool and bool(tensor.all()))
            and bool((tensor.double().abs() < 1e4).all()))


warnings.filterwarnings("ignore")
random.seed(0)
torch.manual_seed(0)
kept, followed, unknown, wrong = [drawn() for _ in range(4)], 0, {}, []
of_one, of_two = listed(OF_ONE), listed(OF_TWO)
for _ in range(ROUNDS):
    if random.random() < 0.15:
        kept.append(drawn())
    pairs = random.sample(kept, random.choice((1, 1, 2)))
    pairs = [seen_otherwise(pair) if random.random() < 0.6 else pair for pair in pairs]
    operation = random.choice(of_one if len(pairs) == 1 else of_two)
    results = results_of(operation, pairs)
    if results is None or not results[0].double().isfinite().all():
        continue  # what is too large for a float may be added up in doubles on the host
    on_host, on_device = results
    found = on_device.cpu()
    if is_same(on_host, found):
        followed += 1
        if can_go_on(on_host):
            kept.append(results)
    elif on_host.shape == found.shape and (may_be_unknown(found) or is_same(on_host * (found != 0),
                                                                            found)):
        unknown[operation] = unknown.get(operation, 0) + 1
    else:
        wrong.append((operation, [each[0] for each in pairs], on_host, found))
    del kept[:-MOST]
print(f"{followed} followed, {sum(unknown.values())} not known: {unknown}")
for each in wrong:
    print("wrong", *each)
assert not wrong and followed > 20 * sum(unknown.values())
