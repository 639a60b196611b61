# SPDX-License-Identifier: Apache-2.0
"""The ranks, hosts, devices and groups that took part in an operation, as a log lists them."""

from .checks import Invalid, check_count
from .record import warning


def ranks_of(devices: list, place) -> tuple:
    """Returns (ranks, ranks per host, warnings).  `devices` are (rank, group, host, bus id, place), one for each rank.
    If there are several groups, the timed group is that of rank 0.
    """
    seen = {}
    for rank, _, _, _, where in devices:
        if rank in seen:
            raise Invalid(
                where,
                f"rank {rank} is listed again ({getattr(seen[rank], 'place', seen[rank])}): several processes "
                "without MPI, or several runs, wrote between each other's lines",
            )
        seen[rank] = where
    check_count(
        max(seen) + 1, len(seen), f"ranks (rank {max(seen)} is one)", seen[max(seen)]
    )
    groups = {}
    for device in devices:
        groups.setdefault(device[1], []).append(device)
    if len({len(group) for group in groups.values()}) > 1:
        sizes = " and ".join(str(len(group)) for group in groups.values())
        raise Invalid(place, f"the ranks are in groups of {sizes}, which are not known")
    own = groups[min(devices, key=lambda one: one[0])[1]]
    warnings, hosts, used = [], {}, {}
    for rank, _, host, bus_id, _ in own:
        hosts[host] = hosts.get(host, 0) + 1
        used.setdefault((host, bus_id), []).append(rank)
    shared = {key: ranks for key, ranks in used.items() if key[1] and len(ranks) > 1}
    for (host, bus_id), ranks in shared.items():
        warnings.append(
            warning(
                "shared-device",
                f"ranks {', '.join(map(str, ranks))} share the device {bus_id} of {host}",
                "they take turns on it, and their messages do not leave it",
                "give every rank a device of its own",
            )
        )
    warnings += other_groups(len(groups))
    return len(own), list(hosts.values()), warnings


def hosts_of(devices) -> list:
    """Returns the hosts for a record's environment, from pairs of a host and the name of one of its
    devices."""
    names = {}
    for host, name in devices:
        of_host = names.setdefault(host, {})
        of_host[name] = of_host.get(name, 0) + 1
    return [
        {
            "host": host,
            "facts": {"gpus": ", ".join(f"{n} x {name}" for name, n in found.items())},
            "topology": None,
        }
        for host, found in names.items()
    ]


def other_groups(groups: int) -> list:
    """Returns the warning that the world is divided into groups."""
    if groups == 1:
        return []
    return [
        warning(
            "other-groups",
            f"{groups} groups of ranks ran the operation at once",
            "the figures are those of the group of rank 0, while the others used the same links",
            "compare it with runs that were divided in the same way",
        )
    ]
