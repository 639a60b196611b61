# SPDX-License-Identifier: Apache-2.0
"""The recipe of a run: facts that its program reported, and settings that the user asked for."""

# Facts of a run that do not concern how it trains.
_NOISE = {
    "case",
    "host",
    "loss",
    "threads",
    "parameters_digest",
    "world",
    "reported_samples_per_s",
}
# Facts that a report shows.  If runs of a column differ in one, the report says so.
SHOWN = (
    "framework_version",
    "docker",
    "model_source",
    "exchange",
    "compiler",
    "layout",
    "loss_scaling",
    "clipping",
    "dali",
    "optimizer",
    "objective",
    "data",
)


def number(value) -> str:
    """Returns the shortest text of a number."""
    text = repr(float(value))
    return text.removesuffix(".0")


def _optimizer(asked: dict) -> str:
    text = (
        f"{asked['optimizer']}, learning rate {number(asked['learning_rate'])}, "
        f"weight decay {number(asked['weight_decay'])}"
    )
    if asked["optimizer"] in ("bert-adamw", "lamb", "lars"):
        text += " but of biases and normalizations"
    if asked["optimizer"] in ("bert-adamw", "lamb"):
        text += ", epsilon 1e-6"
    return text


def _own(asked: dict, environment: dict) -> dict:
    """Returns the facts of Paceline's own training."""
    norm = asked.get("clip_norm", 0)
    dynamic = asked["dtype"] == "amp" and asked["device"] == "cuda"
    return {
        "framework_version": environment["paceline_version"] or "",
        "model_source": "src/paceline/networks",
        "exchange": f"{asked['strategy']} over {asked['engine']}",
        "layout": "NHWC" if asked["channels_last"] else "NCHW",
        "clipping": f"global norm at most {number(norm)}" if norm else "none",
        "data": asked.get("data") or "synthetic, one batch",
        "loss_scaling": "dynamic" if dynamic else "none",
    }


def facts_of(run: dict, environments: list) -> dict:
    facts = {name: value for name, value in run["adapter"].items() if name not in _NOISE}
    asked = run["configuration"]
    # A user's command, and a case that did not run, have no further facts.
    if run["source"] == "imported" or run["error"] is not None or asked.get("command"):
        return facts
    facts["optimizer"] = _optimizer(asked)
    if not asked.get("framework"):
        facts |= _own(asked, environments[run["environment"]])
    return facts


def merged_facts(all_facts) -> tuple:
    """Returns the facts of several runs, "1.0 or 1.1" if they differ, and the names of these facts.
    """
    facts, varied = {}, set()
    for name, value in (pair for one in all_facts for pair in one.items()):
        if not facts.get(name):
            facts[name] = value
        elif value and name in SHOWN and f" or {value} or " not in f" or {facts[name]} or ":
            facts[name] += f" or {value}"
            varied.add(name)
    return facts, varied
