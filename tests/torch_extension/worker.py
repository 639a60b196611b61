# SPDX-License-Identifier: Apache-2.0
"""One rank of train_test.py: `worker.py CHECK...` under torchrun, a line of JSON for what each check found.

Every check is collective: its result is that of all ranks.
"""

import io
import json
import sys

import their_models
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import paceline.torch as pt

STEPS = 3


def optimizer_of(module, kind=torch.optim.SGD, **constants):
    given = {"lr": 0.05, **({"momentum": 0.9, "weight_decay": 0.01} if kind is torch.optim.SGD else {}), **constants}
    return kind(module.parameters(), **given)


def train_with_paceline(name, strategy, make_optimizer, steps=STEPS, accumulate=1):
    """The module after some steps, and the losses of this rank."""
    module = their_models.make(name)
    if pt.rank() > 0:  # all start from rank 0's
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.add_(1)
    model = pt.DataParallel(module, make_optimizer(module), strategy, accumulate=accumulate, bucket_mb=0.001)
    losses = []
    for step in range(steps):
        for micro in range(accumulate):
            inputs, target = their_models.batch(name, pt.rank(), step * accumulate + micro)
            loss = model.step(lambda: their_models.loss_of(model(inputs), target))
            losses.append(None if loss is None else loss.item())
    model.synchronize()
    return model, losses


def train_with_ddp(name, make_optimizer, steps=STEPS, accumulate=1):
    module = their_models.make(name)
    model = DistributedDataParallel(module, broadcast_buffers=False, find_unused_parameters=name in ("partial", "experts"))
    optimizer = make_optimizer(module)
    losses = []
    for step in range(steps):
        for parameter in module.parameters():
            if parameter.requires_grad:
                parameter.grad = torch.zeros_like(parameter)  # an unused one decays, as under a plan
        for micro in range(accumulate):
            inputs, target = their_models.batch(name, dist.get_rank(), step * accumulate + micro)
            model.require_backward_grad_sync = micro + 1 == accumulate
            loss = their_models.loss_of(model(inputs), target)
            (loss / accumulate).backward()
            losses.append(loss.item())
        optimizer.step()
    return module, losses


def difference(left, right):
    """The largest one between two state dicts, with its name."""
    worst = (0.0, "")
    for name, value in right.items():
        apart = (left[name].detach().double() - value.detach().double()).abs().max().item()
        worst = max(worst, (apart, name))
    return worst


def same_on_all_ranks(tensors):
    flat = torch.cat([tensor.detach().reshape(-1).float() for tensor in tensors])
    return torch.equal(pt.all_reduce(flat, "max"), -pt.all_reduce(-flat, "max"))


def check_equals_ddp(name, strategy, accumulate=1):
    model, losses = train_with_paceline(name, strategy, optimizer_of, accumulate=accumulate)
    expected, expected_losses = train_with_ddp(name, optimizer_of, accumulate=accumulate)
    apart, where = difference(model.state_dict(), expected.state_dict())
    return {
        "apart": apart,
        "where": where,
        "losses": max(abs(a - b) for a, b in zip(losses, expected_losses)),
        "replicas": same_on_all_ranks(model.module.parameters()),
    }


def check_linears(strategy):
    """Which weights' gradients the backward pass writes into their slots."""
    module = their_models.make("linears")
    model = pt.DataParallel(module, optimizer_of(module), strategy)
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    slot_of = model._linear._slot_of
    written = []

    def watched(parameter):
        slot = slot_of(parameter)
        if slot is not None:
            written.append(names[id(parameter)])
        return slot

    model._linear._slot_of = watched
    inputs, target = their_models.batch("linears", pt.rank(), 0)
    model.step(lambda: their_models.loss_of(model(inputs), target))
    model.synchronize()
    return {"written": sorted(written)}


def check_grad(strategy):
    """What torch.autograd.grad() returns stays as it is when the backward pass follows."""
    module = their_models.make("partial")
    model = pt.DataParallel(module, optimizer_of(module), strategy)
    inputs, target = their_models.batch("partial", pt.rank(), 0)
    for _ in range(2):
        loss = their_models.loss_of(model(inputs), target)
        [own] = torch.autograd.grad(loss, module.head.weight, retain_graph=True)
        before = own.clone()
        (2 * loss).backward()
        kept = torch.equal(own, before)
        model.update()
    return {"kept": kept}


def check_whole_batch(strategy):
    """A network of this job equals one process that trains on the batches of all ranks."""
    model, _ = train_with_paceline("mixed", strategy, optimizer_of)
    module = their_models.make("mixed")
    optimizer = optimizer_of(module)
    for step in range(STEPS):
        batches = [their_models.batch("mixed", rank, step) for rank in range(pt.size())]
        optimizer.zero_grad()
        inputs, targets = (torch.cat(parts) for parts in zip(*batches))
        their_models.loss_of(module(inputs), targets).backward()
        optimizer.step()
    return {"apart": difference(model.state_dict(), module.state_dict())[0]}


class Integers(torch.nn.Module):
    """Whose gradients are integers, so that sums are exact in any order."""

    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(6, 8)
        self.b = torch.nn.Linear(8, 4)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_((torch.arange(parameter.numel()).reshape(parameter.shape) % 3 - 1).float())

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


def check_integers(strategy):
    """The sum over ranks, with the mean's divisor a power of two and one step: equal bits."""
    module = Integers()
    model = pt.DataParallel(module, torch.optim.SGD(module.parameters(), lr=0.25), strategy)
    alone = Integers()
    optimizer = torch.optim.SGD(alone.parameters(), lr=0.25 / pt.size())

    def batch(rank):
        return (torch.arange(24).reshape(4, 6) * (rank + 1) % 4).float()

    for step in range(1):
        model.step(lambda: model(batch(pt.rank())).sum())
        optimizer.zero_grad()
        alone(torch.cat([batch(rank) for rank in range(pt.size())])).sum().backward()
        optimizer.step()
    state, expected = model.state_dict(), alone.state_dict()
    return {"equal": all(torch.equal(state[name], expected[name]) for name in expected)}


OPTIMIZERS = {
    "sgd": lambda groups: torch.optim.SGD(groups, lr=0.1, momentum=0.9, nesterov=True),
    "sgd-plain": lambda groups: torch.optim.SGD(groups, lr=0.1),
    "adam": lambda groups: torch.optim.Adam(groups, lr=0.01, betas=(0.8, 0.95)),
    "adamw": lambda groups: torch.optim.AdamW(groups, lr=0.01, eps=1e-6),
    "rmsprop": lambda groups: torch.optim.RMSprop(groups, lr=0.01, alpha=0.9),
    "adagrad": lambda groups: torch.optim.Adagrad(groups, lr=0.05, lr_decay=0.1),
    "adadelta": lambda groups: torch.optim.Adadelta(groups, lr=0.5, rho=0.8),
}


def grouped(kind):
    """The optimizer with two groups whose rates and decays differ."""

    def make(module):
        parameters = list(module.parameters())
        groups = [
            {"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.1},
            {"params": [p for p in parameters if p.dim() < 2], "lr": 0.002, "weight_decay": 0.0},
        ]
        return OPTIMIZERS[kind](groups)

    return make


def check_optimizer(kind, strategy):
    """Groups and a schedule, against torch's optimizer on gradients of DDP; then saved, loaded and continued."""
    make = grouped(kind)
    module, other = their_models.make("mixed"), their_models.make("mixed")
    optimizer, expected = make(module), make(other)
    model = pt.DataParallel(module, optimizer, strategy, bucket_mb=0.001)
    ddp = DistributedDataParallel(other)
    schedules = [torch.optim.lr_scheduler.StepLR(o, 2, gamma=0.5) for o in (optimizer, expected)]

    def train(trained, optim, schedule, first, last):
        for step in range(first, last):
            inputs, target = their_models.batch("mixed", pt.rank(), step)
            if isinstance(trained, pt.DataParallel):
                trained.step(lambda: their_models.loss_of(trained(inputs), target))
            else:
                optim.zero_grad()
                their_models.loss_of(trained(inputs), target).backward()
                optim.step()
            schedule.step()

    train(model, optimizer, schedules[0], 0, 4)
    train(ddp, expected, schedules[1], 0, 4)
    found = {"apart": difference(model.state_dict(), other.state_dict())[0]}
    file = io.BytesIO()
    if "zero" in strategy:
        model.gather_state()
    states = {"model": model, "optimizer": optimizer, "schedule": schedules[0]}
    torch.save({key: value.state_dict() for key, value in states.items()}, file)
    theirs = expected.state_dict()["state"]
    found["state"] = 0.0
    mine = optimizer.state_dict()["state"]
    for index, state in mine.items():
        for key, value in theirs[index].items():
            found["state"] = max(found["state"], (state[key].double() - torch.as_tensor(value).double()).abs().max().item())
    train(model, optimizer, schedules[0], 4, 6)
    file.seek(0)
    saved = torch.load(file)
    again = their_models.make("mixed")
    again.load_state_dict(saved["model"])
    restored = make(again)
    schedule = torch.optim.lr_scheduler.StepLR(restored, 2, gamma=0.5)
    schedule.load_state_dict(saved["schedule"])
    restored.load_state_dict(saved["optimizer"])  # with its rates
    continued = pt.DataParallel(again, restored, strategy, bucket_mb=0.001)
    train(continued, restored, schedule, 4, 6)
    a, b = model.state_dict(), continued.state_dict()
    found["continued"] = all(torch.equal(a[name], b[name]) for name in a)
    plain = their_models.make("mixed")
    plain.load_state_dict(saved["model"])
    theirs = make(plain)
    schedule = torch.optim.lr_scheduler.StepLR(theirs, 2, gamma=0.5)
    schedule.load_state_dict(saved["schedule"])
    theirs.load_state_dict(saved["optimizer"])
    train(DistributedDataParallel(plain), theirs, schedule, 4, 6)
    found["continued by torch"] = difference(a, plain.state_dict())[0]
    return found


def check_own_optimizer(strategy):
    """optimizer=None, forward and backward apart: `.grad` is the mean."""
    module, other = their_models.make("partial"), their_models.make("partial")
    model = pt.DataParallel(module, None, strategy)
    mine = torch.optim.SGD(module.parameters(), lr=0.1)
    worst = 0.0
    for step in range(STEPS):
        inputs, target = their_models.batch("partial", pt.rank(), step)
        their_models.loss_of(model(inputs), target).backward()
        model.update()
        gradients = [p.grad.clone() for p in module.parameters() if p.requires_grad]
        for p in other.parameters():
            p.grad = torch.zeros_like(p) if p.requires_grad else None
        their_models.loss_of(other(inputs), target).backward()
        expected = [pt.all_reduce(p.grad) for p in other.parameters() if p.requires_grad]
        worst = max(worst, *((a - b).abs().max().item() for a, b in zip(gradients, expected)))
        mine.step()
        with torch.no_grad():
            for p, gradient in zip([p for p in other.parameters() if p.requires_grad], expected):
                p.sub_(0.1 * gradient)
    return {"apart": difference(module.state_dict(), other.state_dict())[0], "gradients": worst}


def check_neighbors(strategy):
    """Adapt, then combine, against the same by neighbor_allreduce()."""
    name = "mixed"
    model, _ = train_with_paceline(name, strategy, lambda m: torch.optim.SGD(m.parameters(), lr=0.05))
    module = their_models.make(name)
    for step in range(STEPS):
        inputs, target = their_models.batch(name, pt.rank(), step)
        module.zero_grad()
        their_models.loss_of(module(inputs), target).backward()
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.sub_(0.05 * parameter.grad)
                parameter.copy_(pt.neighbor_allreduce(parameter, "ring", step))
    apart = difference(model.state_dict(), module.state_dict())[0]
    consensus = model.consensus()
    before = [p.detach().clone() for p in model.module.parameters()]
    with model.average():
        together = same_on_all_ranks(model.module.parameters())
    restored = all(torch.equal(a, b) for a, b in zip(before, model.module.parameters()))
    return {"apart": apart, "consensus": consensus, "together": together, "restored": restored}


def check_trains(strategy):
    """Three steps of every strategy of the table lower the loss of one batch; replicas are finite."""
    module = their_models.make("mixed")
    model = pt.DataParallel(module, torch.optim.SGD(module.parameters(), lr=0.05), strategy)
    inputs, target = their_models.batch("mixed", 0, 0, rows=8)
    losses = [model.step(lambda: their_models.loss_of(model(inputs), target)) for _ in range(4)]
    model.synchronize()
    losses = [loss.item() for loss in losses if loss is not None]
    return {"finite": all(torch.isfinite(p).all().item() for p in module.parameters()), "losses": losses}


def check_scaler(strategy):
    """A gradient that overflows in one step halves the scale and leaves the parameters."""
    module = torch.nn.Linear(4, 1)
    torch.nn.init.ones_(module.weight)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    model = pt.DataParallel(module, torch.optim.SGD(module.parameters(), lr=0.5), strategy, scaler=scaler)
    ones = torch.ones(2, 4)
    model.step(lambda: model(ones).mean())
    model.synchronize()
    first = module.weight.detach().clone()
    model.step(lambda: model(ones * float("inf")).mean())
    model.synchronize()
    kept = torch.equal(first, module.weight)
    return {"moved": first.tolist()[0], "kept": kept, "scale": scaler.get_scale()}


def check_between_micro_batches():
    """What reads parameters there waits for nothing, and what changes them is rejected."""
    module = their_models.make("mixed")
    model = pt.DataParallel(module, optimizer_of(module), "wfbp", accumulate=2)
    inputs, target = their_models.batch("mixed", pt.rank(), 0)
    for _ in range(3):
        model.step(lambda: their_models.loss_of(model(inputs), target))
    found = {"same": same_on_all_ranks(model.state_dict().values())}
    model.eval()
    found["finite"] = model(inputs).isfinite().all().item()
    model.train()
    for key, network in (("loading", model), ("loading the module", module)):
        try:
            network.load_state_dict(network.state_dict())
        except pt.UsageError as error:
            found[key] = str(error)
    model.step(lambda: their_models.loss_of(model(inputs), target))
    return found


def check_adversaries():
    """Two models, each of which learns from what the other computes."""
    torch.manual_seed(0)
    maker, judge = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
    made, judged = (pt.DataParallel(net, optimizer_of(net), "wfbp") for net in (maker, judge))
    noise = torch.ones(2, 3)
    for _ in range(3):
        with torch.no_grad():
            fake = made(noise)
        judged.step(lambda: judged(fake).square().mean())
        judge.requires_grad_(False)
        made.step(lambda: -judge(made(noise)).mean())
        judge.requires_grad_(True)
    made.synchronize()
    judged.synchronize()
    found = {"same": same_on_all_ranks([*maker.parameters(), *judge.parameters()])}
    try:
        made.step(lambda: -judge(made(noise)).mean())
    except RuntimeError as error:  # as autograd passes it on
        found["told"] = str(error)
    return found


def check_errors():
    """What cannot be is rejected by name, and the job goes on."""
    found = {}

    def told(key, call):
        try:
            call()
        except pt.UsageError as error:
            found[key] = str(error)

    sparse = torch.nn.Sequential(torch.nn.Embedding(8, 4, sparse=True), torch.nn.Linear(4, 2))
    model = pt.DataParallel(sparse, torch.optim.SGD(sparse.parameters(), lr=0.1), "bsp")
    told("sparse", lambda: model.step(lambda: model(torch.arange(3)).sum()))
    linear = torch.nn.Linear(2, 2)
    told("strategy", lambda: pt.DataParallel(linear, None, "fussion"))
    told("optimizer", lambda: pt.DataParallel(linear, torch.optim.Rprop(linear.parameters()), "bsp"))
    told("amsgrad", lambda: pt.DataParallel(linear, torch.optim.Adam(linear.parameters(), amsgrad=True), "bsp").step(None))
    left_out = pt.DataParallel(linear, torch.optim.SGD([linear.weight], lr=0.1), "bsp")
    told("left out", lambda: left_out.step(lambda: left_out(torch.ones(1, 2)).sum()))
    mixed = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2).double())
    told("types", lambda: pt.DataParallel(mixed, None, "bsp"))
    optimizer = torch.optim.SGD(linear.parameters(), lr=0.1)
    pt.DataParallel(linear, optimizer, "bsp")
    told("step", optimizer.step)
    for strategy in ("rs-ag+zero-1", "neighbor-allreduce", "local-sgd", "none"):
        told(f"no optimizer, {strategy}", lambda text=strategy: pt.DataParallel(linear, None, text))
    changed = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2).requires_grad_(False))
    model = pt.DataParallel(changed, torch.optim.SGD(changed.parameters(), lr=0.1), "bsp")

    def step():
        model.step(lambda: model(torch.ones(1, 2)).sum())

    step()
    changed[0].bias.requires_grad_(False)
    told("frozen", step)
    changed[0].bias.requires_grad_(True)
    changed[1].bias.requires_grad_(True)
    told("trained", step)
    changed[1].bias.requires_grad_(False)
    step()
    model.synchronize()
    changed[0].weight.data = changed[0].weight.data.clone()
    told("moved", step)
    told("nothing", lambda: pt.DataParallel(torch.nn.ReLU(), None, "bsp"))
    told("integers", lambda: pt.neighbor_allreduce(torch.ones(1, dtype=torch.int64)))
    return found


def main():
    pt.init(timeout=60)
    dist.init_process_group("gloo")
    for check in sys.argv[1:]:
        name, *arguments = json.loads(check)
        found = globals()[f"check_{name}"](*arguments)
        if pt.rank() == 0:
            print(json.dumps({"check": check, **found}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
