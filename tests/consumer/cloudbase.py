#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets the real cloudbase-init read the files of a ConfigDrive, and prints what it understood, as JSON.

    cloudbase.py SOURCES MEDIUM

SOURCES is its source tree; it needs python3-oslo.config, python3-oslo.log, python3-netaddr and python3-yaml.
Its own code reads the documents and chooses a plugin or an interpreter for each part of the user-data. What
would run a program or change Windows is written down instead.
"""

import json
import os
import sys

sys.path.insert(0, sys.argv[1])

from cloudbaseinit.metadata.services.base import NotExistingMetadataException
from cloudbaseinit.metadata.services.baseopenstackservice import BaseOpenStackService
from cloudbaseinit.plugins.common import execcmd
from cloudbaseinit.plugins.common.userdata import UserDataPlugin
from cloudbaseinit.plugins.common.userdataplugins.cloudconfigplugins import factory


class Drive(BaseOpenStackService):
    def _get_data(self, path):
        try:
            with open(os.path.join(sys.argv[2], path), "rb") as file:
                return file.read()
        except FileNotFoundError:
            raise NotExistingMetadataException() from None


def note_script(command):
    with open(command._target_path, "rb") as file:
        scripts.append([type(command).__name__, file.read().decode()])
    return b"", b"", 0


def note_setting(name):
    return lambda value: settings.__setitem__(name, value)


scripts = []
settings = {}
# A command is also called, by the name under which its class has kept the method.
execcmd.BaseCommand.execute = execcmd.BaseCommand.__call__ = note_script
factory.load_plugins = lambda: {name: note_setting(name) for name in factory.PLUGINS}

drive = Drive()
UserDataPlugin().execute(drive, {})
network = drive.get_network_details_v2()
json.dump({
    "instance-id": drive.get_instance_id(),
    "hostname": drive.get_host_name(),
    "keys": sorted(drive.get_public_keys()),
    "admin-password": drive.get_admin_password(),
    "scripts": scripts,
    "settings": settings,
    "addresses": [item.address_cidr for item in network.networks] if network else [],
    "dns": [address for item in network.networks for address in item.dns_nameservers] if network else [],
    "routes": [[route.network_cidr, route.gateway] for item in network.networks for route in item.routes]
              if network else [],
}, sys.stdout, indent=2)
