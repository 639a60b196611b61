# SPDX-License-Identifier: Apache-2.0
"""python3 -m paceline.readers.cluster_facts FILE: what a file that holds no times says of a cluster, as JSON.

The file is the output of `nvidia-smi topo -m`, or Slurm's variables as `env` prints them.  It is
null for any other file.  Exit code 2 for a file that contradicts itself, with one sentence that begins with the
path.
"""

import json
import re
import sys


class Contradiction(Exception):
    """The file says two things that cannot both be true, or not what is needed."""


def facts_of(text: str):
    rows = [line.split() for line in text.splitlines()]
    if any(row[:2] == ["GPU0", "X"] and len(row) > 2 for row in rows):
        return topology_of(rows)
    variables = dict(re.findall(r"^(SLURM_\w+)=(.*?)\s*$", text, re.MULTILINE))
    nodes = variables.get("SLURM_JOB_NODELIST", variables.get("SLURM_NODELIST"))
    return nodes and slurm_of(variables, nodes)


def topology_of(rows: list) -> dict:
    """Reads the square matrix of `nvidia-smi topo -m`, whose two ends of a link must agree."""
    columns, cells = [], []
    for row in rows:
        if not columns and row[:1] == ["GPU0"] and row[1:2] not in ([], ["X"]):
            columns = row[: row.index("CPU")] if "CPU" in row else row
        elif len(cells) < len(columns) and row[:1] == [columns[len(cells)]]:
            if len(row) <= len(columns) or row[len(cells) + 1] != "X":
                raise Contradiction(
                    f"{' '.join(row)}: the row has no X below {row[0]}, or ends before {columns[-1]}"
                )
            cells.append(row[1 : 1 + len(columns)])
    if not columns:
        raise Contradiction("holds no row of a GPU, as nvidia-smi topo -m has")
    if len(cells) < len(columns):
        raise Contradiction(
            f"the matrix of nvidia-smi topo -m has {len(columns)} columns, to {columns[-1]}, and {len(cells)} rows "
            "in their order: it is cut off"
        )
    devices = sum(bool(re.fullmatch(r"GPU\d+", name)) for name in columns)
    for i in range(devices):
        for k in range(devices):
            if cells[i][k] != cells[k][i]:
                raise Contradiction(
                    f"{columns[i]} has {cells[i][k]} to {columns[k]}, and {columns[k]} has {cells[k][i]} to {columns[i]}"
                )
    links = [[_nvlinks(cells[i][k]) for k in range(devices) if k != i] for i in range(devices)]
    between = [number for row in links for number in row] or [0]
    return {
        "devices_per_host": devices,
        "network_cards": sum(bool(re.fullmatch(r"(NIC|mlx5_)\d+", name)) for name in columns),
        "nvlinks": min(between),
        "most_nvlinks": max(between),
        "nvlinks_of_a_device": max(map(sum, links)),
    }


def _nvlinks(cell: str) -> int:
    """The number of NVLinks in a cell: 18 of NV18, 0 of SYS."""
    found = re.fullmatch(r"NV(\d+)", cell)
    return int(found[1]) if found else 0


def slurm_of(variables: dict, nodes: str) -> dict:
    """The node list, the ranks a host, and what the variables say in numbers of all nodes and of all tasks."""
    slots = None
    counts = {"SLURM_NNODES": "nodes", "SLURM_JOB_NUM_NODES": "nodes"}
    facts = {"node_list": nodes, "nodes": {}, "tasks": {}}
    for name in ("SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE", "SLURM_GPUS_ON_NODE"):
        said = variables.get(name)
        if said is None or (slots and name == "SLURM_GPUS_ON_NODE"):
            continue
        found = re.fullmatch(r"([1-9]\d*)(?:\(x(\d+)\))?", said)
        if not found:
            raise Contradiction(f"{name}={said}: must be one number of ranks a host")
        if slots not in (None, int(found[1])):
            raise Contradiction(f"{name}={said}, and SLURM_NTASKS_PER_NODE={slots}")
        slots = int(found[1])
        if found[2]:
            facts["nodes"][f"nodes of {name}"] = int(found[2])
        if name != "SLURM_GPUS_ON_NODE":  # the tasks of a node are then its ranks
            counts |= {"SLURM_NTASKS": "tasks", "SLURM_NPROCS": "tasks"}
    if slots is None:
        raise Contradiction(
            "says no ranks a host: SLURM_NTASKS_PER_NODE, SLURM_TASKS_PER_NODE or SLURM_GPUS_ON_NODE"
        )
    for name, what in counts.items():
        if name in variables:
            if not variables[name].isdigit():
                raise Contradiction(f"{name}={variables[name]}: must be a number")
            facts[what][name] = int(variables[name])
    return facts | {"slots": slots}


def main(path: str) -> int:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            print(json.dumps(facts_of(file.read()) or None))
    except Contradiction as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
