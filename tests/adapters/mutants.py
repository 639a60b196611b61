# SPDX-License-Identifier: Apache-2.0
"""Trainings of python_ddp.py, right ones and wrong ones, in one process of one
rank: what each says at its end, a JSON line each.

    python mutants.py CASE
"""

import contextlib
import io
import json
import os
import pathlib
import sys
import warnings

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "python"))
from paceline.adapters import python_ddp  # noqa: E402
from paceline.adapters.case import parse_case  # noqa: E402

python_ddp.ProgressReporter.INTERVAL_NS = 10**18  # one line at the start


def groups(**values):
    """Another number in the optimizer."""

    def change(rank):
        for group in rank.optimizer.param_groups:
            group.update(values)

    return change


def after_fifth(change):
    """`change` once five steps are done."""

    def change_later(rank):
        step, done = rank.step, 0

        def counted(*arguments):
            nonlocal done
            if done == 5:
                change(rank)
            done += 1
            return step(*arguments)

        rank.step = counted

    return change_later


def no_backward(rank):
    rank.backward = lambda loss: None


def no_backward_and_old_gradients(rank):
    no_backward(rank)
    rank.zero_gradients = lambda: None


def no_clipping(rank):
    rank.clip = lambda: None


def half_batch(rank):
    rank.micro_batches = [
        (x[: len(x) // 2], y[: len(y) // 2]) for x, y in rank.micro_batches
    ]


def other_batch(rank):
    rank.rank += 1
    rank.micro_batches = rank.make_micro_batches()


def every_second_update(rank):
    update, done = rank.update, 0

    def sometimes():
        nonlocal done
        done += 1
        if done % 2:
            update()

    rank.update = sometimes


def coupled_decay(rank):
    rank.optimizer = python_ddp.torch.optim.Adam(
        list(rank.optimizer_parameters()), lr=0.001, weight_decay=1e-4
    )


def first_layer_frozen(rank):
    first = next(rank.optimizer_parameters())
    start, update = first.detach().clone(), rank.update

    def restoring():
        update()
        first.data.copy_(start)

    rank.update = restoring


def late_steps(optimizer, *_):
    """As if many steps had been taken."""
    for state in optimizer.state.values():
        if state["step"] < 1000:
            state["step"] += 1000


COMMON = {
    "decay 0": groups(weight_decay=0.0),
    "decay times 10": groups(weight_decay=1e-3),
    "rate 1 % higher": groups(lr=0.00101),
    "no clipping": no_clipping,
    "no backward after step 5": after_fifth(no_backward),
    "old gradients after step 5": after_fifth(no_backward_and_old_gradients),
    "no update after step 5": after_fifth(
        lambda rank: setattr(rank, "update", lambda: None)
    ),
    "half the batch": half_batch,
    "another batch": other_batch,
    "every second update": every_second_update,
    "first layer frozen": first_layer_frozen,
}
WRONG = {
    "sgd": COMMON
    | {
        "no momentum": groups(momentum=0.0),
        "momentum 0.95": groups(momentum=0.95),
        "Nesterov": groups(nesterov=True),
        "dampening": groups(dampening=0.1),
    },
    "adamw": COMMON
    | {
        "epsilon 1e-6": groups(eps=1e-6),
        "beta1 0.8": groups(betas=(0.8, 0.999)),
        "beta2 0.99": groups(betas=(0.9, 0.99)),
        "no bias correction": lambda rank: rank.optimizer.register_step_pre_hook(
            late_steps
        ),
        "coupled decay": coupled_decay,
    },
}


RIGHT = {
    "right": lambda rank: None,
    "fused": lambda rank: setattr(rank, "optimizer", fused(rank)),
    "two threads": lambda rank: python_ddp.torch.set_num_threads(2),
}


def fused(rank):
    groups_ = rank.optimizer.param_groups
    kind = type(rank.optimizer)
    values = {k: groups_[0][k] for k in ("lr", "weight_decay")}
    if "momentum" in groups_[0]:
        values["momentum"] = groups_[0]["momentum"]
    return kind([{"params": g["params"]} for g in groups_], fused=True, **values)


def join_alone(engine, init_method):  # noqa: ARG001
    """A world of one, without a port that another program may take."""
    INIT(engine, store=python_ddp.dist.HashStore(), rank=0, world_size=1)


INIT = python_ddp.dist.init_process_group
python_ddp.dist.init_process_group = join_alone


def end_of(case, change):
    """The keys of the event `end`."""
    python_ddp.torch.set_num_threads(1)
    rank = python_ddp.Rank(parse_case(json.dumps(case)))
    change(rank)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        python_ddp.measure(rank)
    python_ddp.dist.destroy_process_group()
    return json.loads(out.getvalue().splitlines()[-1])


def main():
    case = json.loads(sys.argv[1])
    warnings.simplefilter("ignore")
    os.environ.update(
        RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", GLOO_SOCKET_IFNAME="lo",
    )
    for right, changes in ((True, RIGHT), (False, WRONG[case["optimizer"]])):
        for name, change in changes.items():
            end = end_of(case, change)
            print(json.dumps({"name": name, "right": right, "end": end}), flush=True)


if __name__ == "__main__":
    main()
