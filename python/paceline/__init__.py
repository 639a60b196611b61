# SPDX-License-Identifier: Apache-2.0
"""Paceline's Python part: programs that train with other frameworks, and readers of their logs.

`adapters` trains with other frameworks, `torch.profile` profiles any PyTorch
model, and the command `paceline` is the program itself.
"""

__version__ = "0.1.0"
