# SPDX-License-Identifier: Apache-2.0
"""What Paceline does with a user's own PyTorch model."""
