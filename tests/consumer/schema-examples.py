# SPDX-License-Identifier: GPL-2.0-or-later
"""schema-examples.py FOLDER: prints the documents that schema-agrees.py changes: the examples of cloud-init's modules,
which Debian 12's has in its code, and those of network-config version 1 below FOLDER."""
import glob
import importlib
import json
import pkgutil
import sys

import yaml

import cloudinit.config


def cloud_configs():
    for name in sorted(module.name for module in pkgutil.iter_modules(cloudinit.config.__path__)):
        if not name.startswith("cc_"):
            continue
        for example in importlib.import_module(f"cloudinit.config.{name}").meta.get("examples", []):
            yield yaml.safe_load(example)


def network_configs():
    for path in sorted(glob.glob(f"{sys.argv[1]}/network-config-v1-*")):
        with open(path, encoding="utf-8") as file:
            document = yaml.safe_load(file)
        yield document.get("network", document)


# Both validators take bytes for text.
json.dump({"cloud-config": [example for example in cloud_configs() if isinstance(example, dict)],
           "network-config": list(network_configs())}, sys.stdout, default=lambda value: value.decode("latin-1"))
