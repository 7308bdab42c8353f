// SPDX-License-Identifier: Apache-2.0
// What a program reads from the device: what is known of it, and what is taken for the rest.
#include "tests/program/python_program.h"

namespace headroom {
namespace {

// A loop that ends where unfinished & ~(is_done | criterion) is 0 everywhere: what ends a text is
// not known, and how long it may be is.
TEST_F(PythonProgram, MakesTextsAsLongAsTheyMayBe) {
  expect_to_hold(
      "import torch, transformers\n"
      "config = transformers.LlamaConfig(\n"
      "    hidden_size=64, intermediate_size=64, num_hidden_layers=1,\n"
      "    num_attention_heads=4, num_key_value_heads=4, vocab_size=100,\n"
      "    pad_token_id=0, eos_token_id=2)\n"
      "model = transformers.LlamaForCausalLM(config).cuda()\n"
      "for texts in (1, 4):\n"
      "    begin = torch.randint(3, 100, (texts, 16)).cuda()\n"
      "    made = model.generate(begin, max_new_tokens=20, do_sample=True)\n"
      "    assert made.shape == (texts, 36), made.shape\n");
}

// Also behind kernels of which nobody knows where they write, and not where its memory is another
// tensor's by then.
TEST_F(PythonProgram, ReadsBackWhatItSent) {
  const Ended ended = plan({"--json"}, {"-c",
                                        "import torch\n"
                                        "sent = torch.tensor([3, 1, 2]).cuda()\n"
                                        "gone = torch.tensor([7.]).cuda()\n"
                                        "place = gone.data_ptr()\n"
                                        "del gone\n"
                                        "drawn = torch.rand(1, device='cuda')\n"
                                        "assert drawn.data_ptr() == place\n"
                                        "drawn.erf_()  # which a plan does not compute\n"
                                        "assert sent.tolist() == [3, 1, 2]\n"
                                        "assert (sent == 3).tolist() == [True, False, False]\n"
                                        "assert (sent != sent).tolist() == [False] * 3\n"
                                        "assert drawn.item() == 0"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(Json::parse(ended.out)["processes"][0]["values_read"], 1);
}

// Of what is computed, nobody knows whether it is valid; of what came from the host, all is known.
TEST_F(PythonProgram, TakesForTrueThatWhatItComputedIsValid) {
  const Ended ended = plan(
      {}, {"-c",
           "import torch\n"
           "logits = torch.randn(8, 4, device='cuda').erf()  # which a plan does not compute\n"
           "torch.distributions.Categorical(logits=logits)\n"
           "assert torch.allclose(logits, logits + 0)\n"
           "lengths = torch.tensor([3, 7, 5]).cuda()\n"
           "print('longest', int(lengths.max()), 'known', int((lengths > lengths - 1).all()))\n"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(printed(ended.err, "longest"), 7);
  EXPECT_EQ(printed(ended.err, "known"), 1);
  EXPECT_GE(Json::parse(ended.out)["processes"][0]["values_read"], 2);
}

// Behind kernels of which nobody knows where they write, too.
TEST_F(PythonProgram, ReadsLossesAsOnes) {
  expect_to_hold(
      "import torch\n"
      "model = torch.nn.Linear(64, 5).cuda()\n"
      "optimizer = torch.optim.AdamW(model.parameters())\n"
      "images, labels = torch.randn(32, 64).cuda(), torch.zeros(32, dtype=torch.long).cuda()\n"
      "cross_entropy = torch.nn.functional.cross_entropy\n"
      "for loss in (model(images).pow(2).mean(), cross_entropy(model(images), labels),\n"
      "             cross_entropy(model(images).view(2, 5, 16), labels.view(2, 16))):\n"
      "    assert loss.item() == 1\n"
      "    loss.backward()\n"
      "    optimizer.step()\n"
      "    assert loss.item() == loss.detach().clone().item() == 1\n"
      "    other = torch.empty((), dtype=torch.int32, device='cuda')\n"
      "    place = loss.data_ptr()\n"
      "    del loss, other\n"
      "    numbers = [torch.empty((), dtype=torch.int32, device='cuda') for _ in range(64)]\n"
      "    there = [number for number in numbers if number.data_ptr() == place]\n"
      "    assert all(number.item() == 0 for number in there)\n");
}

// All is kept, wherever it is chosen.
TEST_F(PythonProgram, ChoosesByAMaskThatNobodyComputedOnTheHostToo) {
  expect_to_hold(
      "import torch\n"
      "scores = torch.nn.Linear(2, 48).cuda()(torch.randn(2).cuda())\n"
      "mask = scores > 0.5\n"
      "assert torch.arange(48).cuda()[mask].shape == torch.arange(48)[mask.cpu()].shape == (48,)\n"
      "assert mask.tolist() == [True] * 48\n");
}

// As graphs ask for the number of their nodes, of edges of more than 1 MiB and of more than 16 MiB,
// some of which were joined on the device.
TEST_F(PythonProgram, FindsTheLargestOfManyNumbers) {
  expect_to_hold(
      "import torch\n"
      "key = torch.randperm(3000 * 3000)[:40000]\n"
      "ends = torch.stack([key // 3000, key % 3000])\n"
      "edges = torch.cat([ends.cuda()] * 2, 1)\n"
      "assert edges.max() == ends.max() and edges.amin() == ends.min()\n"
      "nodes = int(edges.max()) + 1\n"
      "keys = (edges[0] * nodes + edges[1]).sort()[0]\n"
      "assert edges[:, 1:][:, keys[1:] > keys[:-1]].shape[1] == 39999\n"
      "many = torch.randint(0, 100000, (2, 1500000))\n"
      "edges = many.cuda()\n"
      "assert edges.max() == torch.cat([edges, edges], 1).clone().max() == many.max()\n"
      "assert [int(each) for each in edges.aminmax()] == [0, int(many.max())]\n"
      "assert not (edges == 100000).any() and (edges == 5).any()\n");
}

// Of rows that nobody computed each is as long as another.
TEST_F(PythonProgram, KnowsWhereRowsOfSparseMatricesBegin) {
  expect_to_hold(
      "import torch\n"
      "dense = (torch.rand(50, 40) > 0.8).float()\n"
      "expected, found = dense.to_sparse_csr(), dense.to_sparse().cuda().to_sparse_csr()\n"
      "assert found.crow_indices().tolist() == expected.crow_indices().tolist()\n"
      "assert found.col_indices().tolist() == expected.col_indices().tolist()\n"
      "rows = found.to_sparse_coo().indices().tolist()\n"
      "assert rows == expected.to_sparse_coo().indices().tolist()\n"
      "made = torch.nn.Linear(40, 50).cuda()(torch.randn(64, 40).cuda())\n"
      "begins = (made > 0).float().to_sparse_csr().crow_indices().tolist()\n"
      "assert begins == [50 * row for row in range(65)], begins\n");
}

// As a search by beams does, which tells beams apart by their words.
TEST_F(PythonProgram, ReadsNoPlaceTwiceOfTheLargest) {
  expect_to_hold(
      "import torch\n"
      "words = torch.nn.Linear(64, 5000).cuda()(torch.randn(3, 64).cuda()).log_softmax(-1)\n"
      "for places in (*words.topk(4)[1], words[0].topk(4)[1], words[0].sort()[1][:4],\n"
      "               words[0, :100].topk(4)[1]):\n"
      "    assert len(set(places.tolist())) == 4, places\n");
}

// Whether they lie in a row or are broadcast.
TEST_F(PythonProgram, ComparesBools) {
  expect_to_hold(
      "import torch\n"
      "rows = torch.tensor([[True, False, True], [False, True, True]]).cuda()\n"
      "row = torch.tensor([True, True, False]).cuda()\n"
      "assert (rows == row).tolist() == [[True, False, False], [False, True, False]]\n"
      "assert (rows.t() != row[:, None]).tolist() == [[False, True], [True, False], [True, True]]\n"
      "assert (rows.t() == False).tolist() == [[False, True], [True, False], [False, False]]\n"
      "assert (rows != True).sum() == 2\n");
}

// Of one number torch.equal reads what it compared, with no all() in between: what nobody knows
// would be false. Kernels ask so whether the gradient of their loss is 1.
TEST_F(PythonProgram, ComparesNumbersThatItMade) {
  expect_to_hold(
      "import torch\n"
      "for type in (torch.float32, torch.bfloat16, torch.float16, torch.float64):\n"
      "    made = torch.ones_like(torch.empty((), dtype=type, device='cuda'))\n"
      "    assert torch.equal(made, torch.tensor(1.0, dtype=type).cuda()), type\n"
      "    assert not torch.equal(made, torch.tensor(2.0, dtype=type).cuda()), type\n");
}

// As trl looks for the ends of completions, behind a prompt that is known.
TEST_F(PythonProgram, EndsNoTextThatItMade) {
  expect_to_hold(
      "import torch\n"
      "made = torch.randn(4, 24, 10, device='cuda').erf().argmax(-1)\n"
      "text = torch.randint(3, 900, (4, 20)).cuda()\n"
      "for i in range(24):\n"
      "    text = torch.cat([text, made[:, i:i + 1]], 1)\n"
      "for of in (made, text[:, 20:], text[:, 20:].contiguous()):\n"
      "    for ends in (of == 2, torch.isin(of, torch.tensor([2, 7]).cuda())):\n"
      "        places = torch.full((4,), 24).cuda()\n"
      "        places[ends.any(1)] = ends.int().argmax(1)[ends.any(1)]\n"
      "        assert places.tolist() == [24] * 4, places\n"
      "text[:, 1] = 2\n"
      "assert (text == 2).sum(1).tolist() == [1] * 4\n");
}

// Labels are at least 0, but for those that are left out.
TEST_F(PythonProgram, LeavesNoneOfItsLabelsOut) {
  expect_to_hold(
      "import torch\n"
      "for many in (100, 10_000, 300_000, 3_000_000):\n"
      "    labels = torch.empty(2, many, dtype=torch.int64, device='cuda')\n"
      "    for of in (labels, labels[:, 1:], labels.int()):\n"
      "        kept = of != -100\n"
      "        assert kept.all() and int(kept.sum()) == of.numel()\n"
      "        assert not (~kept).any() and not (of == -100).any()\n"
      "        assert len(of[kept]) == of.numel() and len(of[of == -100]) == 0\n");
}

// Else a mask of what a layer gives would be that of its bias.
TEST_F(PythonProgram, KnowsNothingOfASumWithAProduct) {
  const std::string program =
      "import torch\n"
      "bias = torch.tensor([-1.0, 2.0]).cuda()\n"
      "def some(*sizes):\n"
      "    size = torch.Size(sizes)\n"
      "    return torch.randn(5000, device='cuda')[:size.numel()].view(size)\n"
      "sums = [torch.addmv(bias, some(2, 3), some(3)),\n"
      "        torch.addmm(bias, some(2, 3), some(3, 2)),\n"
      "        torch.nn.functional.linear(some(2, 3), some(1, 3), bias[:1]),\n"
      "        torch.baddbmm(bias, some(2, 2, 3), some(2, 3, 2))]\n"
      "for sum in sums:\n"
      "    assert len(sum[sum > 0]) == len(sum[sum < 0]) == sum.numel(), sum\n";
  expect_to_hold(program);
}

// A mask keeps what is not known, beside what is.
TEST_F(PythonProgram, KnowsOfOneRowWhatIsKnownAndNothingOfTheRest) {
  const std::string program =
      "import torch\n"
      "new = torch.nn.Linear(8, 2).cuda()(torch.randn(16, 8).cuda())\n"
      "sent = torch.zeros(16, 2).cuda()\n"
      "rows = torch.cat([sent, new], 1)\n"
      "rows = torch.nn.functional.pad(rows, [1, 0])\n"
      "masks = [rows > 0, rows[:, 3:] > 0, (rows > 0) | (rows > 1), (rows != 0)]\n"
      "assert all(len(mask.nonzero()) == 32 for mask in masks), masks\n"
      "assert (rows > 0).nonzero()[:2].tolist() == [[0, 3], [0, 4]]\n"
      "assert (rows[:, :3] == 0).all() and not (rows[:, 2:] == 1)[:, 0].any()\n"
      "kept = torch.where(rows[:, 2:] >= 0, torch.ones(16, 3).cuda(), rows[:, 2:])\n"
      "assert kept[:, 0].tolist() == [1] * 16\n"
      "assert 1 / new.square().mean().item() == 1\n";
  expect_to_hold(program);
}

// A number of Python's, or one on the host, is an argument of the kernel: whether a text is done is
// asked so.
TEST_F(PythonProgram, KnowsWhatIsMadeWithANumberOfTheHost) {
  expect_to_hold(
      "import torch\n"
      "true, four = torch.tensor(True), torch.tensor(4)\n"
      "made = [lambda b, i: b | True, lambda b, i: True & b, lambda b, i: b ^ true,\n"
      "        lambda b, i: b * True, lambda b, i: b + True, lambda b, i: False + b,\n"
      "        lambda b, i: b + b, lambda b, i: torch.logical_or(b, true),\n"
      "        lambda b, i: torch.logical_and(i, four), lambda b, i: torch.logical_xor(b, true),\n"
      "        lambda b, i: torch.maximum(b, true), lambda b, i: torch.minimum(b, b),\n"
      "        lambda b, i: torch.maximum(i, four), lambda b, i: torch.minimum(i.float(), four),\n"
      "        lambda b, i: i << 1, lambda b, i: i >> 1, lambda b, i: i << i, lambda b, i: i >> "
      "i]\n"
      "host = torch.tensor([False, True]), torch.tensor([6, -3])\n"
      "for number, of in enumerate(made):\n"
      "    assert torch.equal(of(*(each.cuda() for each in host)).cpu(), of(*host)), number\n"
      "unknown = torch.nn.Linear(8, 2).cuda()(torch.randn(2, 8).cuda()) > 0\n"
      "assert (unknown | True).tolist() == [[True, True]] * 2\n");
}

// As many as nonzero() finds: whoever asks for neighbours within a radius does both.
TEST_F(PythonProgram, CountsAllOfAMaskThatNobodyComputed) {
  expect_to_hold(
      "import torch\n"
      "mask = torch.rand(30, 3).cuda() @ torch.rand(3, 50).cuda() > 1\n"
      "counts = torch.where(mask, 1.0, 0.0).sum(1).cumsum(0).long()\n"
      "assert counts[-1].item() == len(mask.nonzero()) == 1500\n");
}

// All that is known is no more than some megabytes.
TEST_F(PythonProgram, KnowsWhatIsSmallBesideManyWeights) {
  expect_to_hold(
      "import torch\n"
      "lengths = torch.tensor([40, 30]).cuda()\n"
      "weights = [torch.randn(256, 256).cuda() for _ in range(256)]\n"
      "assert torch.tensor([7]).cuda().item() == 7\n"
      "weights[0] @ weights[1]\n"
      "assert torch.tensor([8]).cuda().item() == 8\n"
      "assert lengths.tolist() == [40, 30]\n");
}

// By its curvature, which nobody computed.
TEST_F(PythonProgram, KeepsTheHistoryOfLbfgs) {
  const std::string program =
      "import torch\n"
      "layer = torch.nn.Linear(8, 8).cuda()\n"
      "lbfgs = torch.optim.LBFGS(layer.parameters(), history_size=3)\n"
      "def loss():\n"
      "    lbfgs.zero_grad()\n"
      "    value = layer(torch.randn(2, 8).cuda()).square().mean()\n"
      "    value.backward()\n"
      "    return value\n"
      "for step in range(5):\n"
      "    lbfgs.step(loss)\n"
      "assert len(lbfgs.state[layer.weight]['old_dirs']) == 3\n";
  expect_to_hold(program);
}

}  // namespace
}  // namespace headroom
