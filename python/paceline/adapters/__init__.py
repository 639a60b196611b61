# SPDX-License-Identifier: Apache-2.0
"""Programs that train one rank of another framework's job (docs/adapters.md)."""
