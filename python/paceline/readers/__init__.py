# SPDX-License-Identifier: Apache-2.0
"""Readers of other programs' logs; `table` lists them and tells how to add one."""
