#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes configure and the Makefile templates from their sources.
set -e
cd "$(dirname "$0")"
exec autoreconf --force --install --warnings=all
