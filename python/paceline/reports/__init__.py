# SPDX-License-Identifier: Apache-2.0
"""Reports in the layouts of other tools, made from the output of `paceline report --format
json`."""
