# SPDX-License-Identifier: Apache-2.0
"""Layouts of other tools' reports, made of what `paceline report --format json` prints."""
