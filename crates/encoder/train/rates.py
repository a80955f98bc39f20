"""Which of the model's weights learn at which rate."""

import torch

from model import Model


def groups_of(
    model: Model, scales: list[torch.nn.Parameter], lr_table: float, lr_weights: float, lr: float
) -> tuple[list[dict], list[torch.nn.Parameter]]:
    """An optimizer's groups: the table, the pieces' weights with the objective's `scales`, and the rest of the model; and
    this rest, whose gradient is kept short."""
    weights = [model.query_weight, model.document_weight, model.summary_weight, model.omega, *scales]
    small = {id(weight) for weight in [*weights, model.table]}
    rest = [weight for weight in model.parameters() if id(weight) not in small]
    groups = [{"params": [model.table], "lr": lr_table, "weight_decay": 0.0},
              {"params": weights, "lr": lr_weights, "weight_decay": 0.0},
              {"params": rest, "lr": lr, "weight_decay": 0.01}]  # fmt: skip
    return groups, rest


def set_rates(optimizer: torch.optim.Optimizer, base: list[float], factor: float) -> None:
    """Gives each group `factor` times its rate in `base`."""
    for group, rate in zip(optimizer.param_groups, base):
        group["lr"] = rate * factor
