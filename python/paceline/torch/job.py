# SPDX-License-Identifier: Apache-2.0
"""Makes this process a rank of a job, and offers collectives on single tensors."""

import atexit
import sys
import traceback
import weakref

from paceline.torch.extension import Job, UsageError

_job = None
_models = weakref.WeakSet()


def init(engine="gloo", timeout=600.0, interface="", rendezvous=""):
    """Connects to the other ranks that torchrun, mpirun, srun, or RANK and WORLD_SIZE describe.  Without these, this
    process is the only rank.

    `engine`: gloo, nccl or mpi. `timeout`: seconds that a rank waits for other ranks within a step;
    ten times as long while connecting. `interface` and `rendezvous` (HOST:PORT or file:PATH) are
    those of `paceline run`.

    From then on, the failure of one rank ends all ranks. An exception that nothing catches is
    printed once, by the rank that failed first.
    """
    global _job
    if _job is not None:
        raise UsageError("init() was called before in this process.")
    _job = Job(engine, timeout, interface, rendezvous)
    previous = sys.excepthook

    def end_all(kind, error, where):
        text = "".join(traceback.format_exception(kind, error, where))
        words = traceback.format_exception_only(kind, error)[-1].strip()
        _job.fail(words, text)  # returns only if there are no other ranks
        previous(kind, error, where)

    sys.excepthook = end_all
    atexit.register(_leave)


def current():
    """Returns the job of this process."""
    if _job is None:
        raise UsageError("Call paceline.torch.init() first.")
    return _job


def watch(model):
    """Registers `model`, so that `model.close()` is called before this rank leaves the job."""
    _models.add(model)


def _leave():
    global _job
    for model in list(_models):
        model.close()
    _job.leave()
    _job = None


def rank():
    """Returns the number of this rank, from 0."""
    return current().rank


def size():
    """Returns the number of ranks."""
    return current().size


def local_rank():
    """Returns the number of this rank among the ranks of its host."""
    return current().local_rank


def all_reduce(tensor, op="mean"):
    """Returns the mean, sum or largest value ("mean", "sum", "max") over all ranks, as a new tensor."""
    return current().all_reduce(tensor, op)


def broadcast(tensor, root=0):
    """Returns the tensor of rank `root`, as a new tensor."""
    return current().broadcast(tensor, root)


def neighbor_allreduce(tensor, topology="one-peer-exp", step=0):
    """Returns the weighted sum of this rank's tensor and those of its neighbors in step `step` of a
    graph.

    `topology`: a name of `paceline list topologies`.
    """
    return current().neighbor_allreduce(tensor, topology, step)
