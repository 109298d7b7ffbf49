#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Says what cloud-init's renderers make of network documents, and netplan of what it gets.

    render-networks.py TABLE [NETPLAN]

TABLE is tests/network-documents. NETPLAN is netplan's program "generate"; without it, nobody judges what the
renderer for netplan writes, and it is left out. Each line is the name of a document, a renderer and the outcome:
"address" (a file has an address or DHCP), "nothing", or the exception.
"""

import json
import logging
import os
import re
import subprocess
import sys
import tempfile
from inspect import signature

import yaml
from cloudinit import net, util
from cloudinit.distros import debian, rhel
from cloudinit.net import network_state, renderers
from cloudinit.sources.helpers import openstack

NICS = {"eth0": "52:54:00:00:00:0a", "eth1": "52:54:00:00:00:0b"}
CONFIGS = {**debian.Distro.renderer_configs, **rhel.Distro.renderer_configs}
ADDRESS = re.compile(
    r"inet6? dhcp|inet6? auto|DHCP=(yes|ipv4|ipv6)|BOOTPROTO='?dhcp|DHCPV6C=yes|method=auto|address1=|192\.0\.2\.(1\d|300)|2001:db8"
)


def documents(path):
    with open(path, encoding="utf-8") as file:
        for part in file.read().split("\n--- ")[1:]:
            head, _, text = part.partition("\n")
            yield head.split()[0], text


def make_nics(folder):
    for name, mac in NICS.items():
        os.makedirs(f"{folder}/{name}/device")
        for key, value in {"address": mac, "addr_assign_type": "0", "operstate": "up", "carrier": "1"}.items():
            with open(f"{folder}/{name}/{key}", "w", encoding="utf-8") as file:
                file.write(value + "\n")
    net.SYS_CLASS_NET = folder + "/"


def parse(config, renderer):
    parser = network_state.parse_net_config_data
    if "renderer" in signature(parser).parameters:
        return parser(config, renderer=renderer)
    return parser(config)


def text_below(folder):
    for directory, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(directory, name)
            if not os.path.islink(path):
                with open(path, encoding="utf-8") as file:
                    yield file.read()


def render(config, name, folder, netplan):
    options = {**CONFIGS.get(name, {}), "postcmds": False, "netplan_path": "etc/netplan/50-cloud-init.yaml"}
    renderer = renderers.NAME_TO_RENDERER[name].Renderer(options)
    renderer.render_network_state(parse(config, renderer), target=folder)
    if name == "netplan":
        for directory in ("etc/systemd/system", "run"):
            os.makedirs(f"{folder}/{directory}", exist_ok=True)
        done = subprocess.run([netplan, "--root-dir", folder], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ValueError(done.stderr.strip().splitlines()[-1])
        folder += "/run"
    return "address" if ADDRESS.search("\n".join(text_below(folder))) else "nothing"


def outcome(name, text, renderer, netplan):
    try:
        if name.startswith("data-"):
            config = openstack.convert_net_json(json.loads(text), known_macs={mac: nic for nic, mac in NICS.items()})
        else:
            config = yaml.safe_load(text)
            config = config.get("network", config)
        distro = debian.Distro("debian", {}, None)
        distro.networking.wait_for_physdevs(config)
        with tempfile.TemporaryDirectory() as folder:
            return render(config, renderer, folder, netplan)
    except Exception as error:  # pylint: disable=broad-except  # it would end the guest's stage
        return repr(error).replace("\n", " ")


def main():
    netplan = sys.argv[2] if len(sys.argv) > 2 else None
    logging.disable(logging.CRITICAL)
    util.get_cmdline = lambda: ""
    util.udevadm_settle = lambda *_arguments, **_options: None
    with tempfile.TemporaryDirectory() as folder:
        make_nics(folder)
        for name, text in documents(sys.argv[1]):
            for renderer in ("netplan", "networkd", "eni", "sysconfig", "network-manager"):
                if renderer not in renderers.NAME_TO_RENDERER or (renderer == "netplan" and not netplan):
                    continue
                print(name, renderer, outcome(name, text, renderer, netplan))


main()
