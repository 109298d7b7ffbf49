# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine for cloud-init, in a directory: what the guest's firmware and kernel would show it.

How it works

cloud-init's code runs as it is; only its edges to the machine are bent, and each to the same thing
in the directory:

    DMI                 sys/class/dmi/id, with the serial and the UUID of the domain's XML
    network interfaces  sys/class/net, eth0 and so on with the MACs of the domain's XML
    the drive           /dev/sr0; blkid reads the image, "mounting" lets xorriso extract it
    its own files       var/lib/cloud, run/cloud-init; its configuration is the package's etc/cloud
    other files         what is written anywhere else goes below root
    programs            none is run; those of the seed (boothooks) are listed and succeed, and so does
                        udevadm
"""

import os
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

from cloudinit import dmi, helpers, net, stages, subp, util

DRIVE = "/dev/sr0"
XORRISO = ("xorriso", "-return_with", "SORRY", "0", "-osirrox", "on", "-indev")


def write(path, text=""):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Domain:
    """What of a wired domain's XML a guest would see."""

    def __init__(self, path):
        tree = ElementTree.parse(path)
        self.uuid = tree.findtext("uuid", "").strip()
        self.serial = tree.findtext("sysinfo/system/entry[@name='serial']", "")
        interfaces = tree.findall("devices/interface")
        self.nics = {
            f"eth{index}": interface.find("mac").get("address").lower()
            for index, interface in enumerate(interfaces)
            if interface.find("mac") is not None
        }


class Machine:
    def __init__(self, directory, package, domain, image):
        self.directory = directory
        self.package = package
        self.image = image
        self.drive = self._probe(image)
        # Before 21.1 it is a tuple.
        self._output = getattr(subp, "SubpResult", lambda *texts: texts)
        self.ran = []  # programs of the seed that would have been run
        self.owners = {}  # path: "user:group" of files outside cloud-init's own folders
        self._make_dmi(domain)
        for name, mac in domain.nics.items():
            self._make_nic(name, mac)
        self._make_configuration()

    def path(self, name):
        return os.path.join(self.directory, name)

    # --- what is there ------------------------------------------------------------------------

    @staticmethod
    def _probe(image):
        """The drive's properties as blkid sees them: LABEL, TYPE and so on."""
        command = ["blkid", "--probe", "--output", "export", image]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return dict(line.split("=", 1) for line in output.splitlines() if "=" in line)

    def _make_dmi(self, domain):
        values = {
            "sys_vendor": "QEMU",
            "product_name": "Standard PC (Q35 + ICH9, 2009)",
            "product_uuid": domain.uuid,
            "product_serial": domain.serial,
        }
        for name, value in values.items():
            write(self.path(f"sys/class/dmi/id/{name}"), value + "\n")

    def _make_nic(self, name, mac):
        values = {"address": mac, "addr_assign_type": "0", "operstate": "up", "carrier": "1"}
        for key, value in values.items():
            write(self.path(f"sys/class/net/{name}/{key}"), value + "\n")
        os.makedirs(self.path(f"sys/class/net/{name}/device"))

    def _make_configuration(self):
        """The package's own, and what else would reach out of the directory."""
        shutil.copytree(os.path.join(self.package, "etc/cloud"), self.path("etc/cloud"))
        write(self.path("etc/cloud/cloud.cfg.d/99-consumer.cfg"), 'def_log_file: ""\n')
        write(self.path("proc/cmdline"), "ro quiet\n")

    # --- ds-identify, the first that looks ----------------------------------------------------

    def identify(self):
        """The data sources that the package's ds-identify leaves for cloud-init; none of them where
        it disables cloud-init."""
        properties = "".join(
            f"{key}={value}\n" for key, value in self.drive.items() if key != "DEVNAME"
        )
        programs = {
            "blkid": f"cat <<'END'\nDEVNAME={DRIVE}\n{properties}END",
            "systemd-detect-virt": "echo kvm",
            "uname": "echo Linux guest 6.1.0 1 x86_64 GNU/Linux",
        }
        for name, body in programs.items():
            write(self.path(f"bin/{name}"), f"#!/bin/sh\n{body}\n")
            os.chmod(self.path(f"bin/{name}"), 0o755)
        program = os.path.join(self.package, "usr/lib/cloud-init/ds-identify")
        environment = {"PATH": f"{self.path('bin')}:/usr/bin:/bin", "PATH_ROOT": self.directory}
        status = subprocess.run(["/bin/sh", program], env=environment, check=False).returncode
        found = util.read_conf(self.path("run/cloud-init/cloud.cfg"))
        return found.get("datasource_list", []) if status == 0 else []

    # --- the edges of cloud-init's Python -----------------------------------------------------

    def install(self):
        os.environ["DEBUG_PROC_CMDLINE"] = "ro quiet"
        dmi.DMI_SYS_PATH = self.path("sys/class/dmi/id")
        dmi.is_container = util.is_container = lambda: False
        net.SYS_CLASS_NET = self.path("sys/class/net/")
        os.makedirs(net.SYS_CLASS_NET, exist_ok=True)
        stages.CLOUD_CONFIG = self.path("etc/cloud/cloud.cfg")
        stages.RUN_CLOUD_CONFIG = self.path("run/cloud-init/cloud.cfg")
        util.find_devs_with = self._find_devs_with
        util.mount_cb = self._mount_cb
        util.chownbyname = self._chownbyname
        subp.subp = self._subp
        self._install_paths()
        self._install_write_file()

    def _install_paths(self):
        places = {
            "cloud_dir": self.path("var/lib/cloud"),
            "run_dir": self.path("run/cloud-init"),
            "templates_dir": self.path("etc/cloud/templates"),
        }
        original = helpers.Paths.__init__

        def init(paths, path_cfgs, ds=None):
            original(paths, {**path_cfgs, **places}, ds)

        helpers.Paths.__init__ = init

    def _install_write_file(self):
        original = util.write_file

        def write_file(filename, *arguments, **options):
            original(self.inside(filename), *arguments, **options)

        util.write_file = write_file
        # cloud-init 25.2 compares it with what it has just asked for.
        permissions = getattr(util, "get_permissions", None)
        if permissions:
            util.get_permissions = lambda path: permissions(self.inside(path))

    def inside(self, path):
        """Where a file of the guest is in the directory."""
        if path.startswith(self.directory + "/"):
            return path
        return self.path("root/" + os.path.normpath(path).lstrip("/"))

    def _find_devs_with(self, criteria=None, path=None, **_options):
        if criteria is None:
            return [path] if path == DRIVE else []
        key, _, value = criteria.partition("=")
        return [DRIVE] if self.drive.get(key) == value else []

    def _mount_cb(self, device, callback, data=None, **_options):
        if device != DRIVE:
            raise util.MountFailedError(f"there is no {device}")
        folder = self.path("mnt")
        command = [*XORRISO, self.image, "-extract", "/", folder]
        subprocess.run(command, check=True, capture_output=True)
        subprocess.run(["chmod", "-R", "u+rwX", folder], check=True)
        try:
            return callback(folder) if data is None else callback(folder, data)
        finally:
            shutil.rmtree(folder)

    def _chownbyname(self, path, user=None, group=None):
        self.owners[path] = f"{user or ''}:{group or ''}"

    def _subp(self, command, *_arguments, **_options):
        program = command if isinstance(command, str) else command[0]
        if isinstance(program, bytes):
            program = program.decode()
        if program == "udevadm":
            return self._output("", "")  # there is nothing to settle
        if not program.startswith(self.path("var/lib/cloud/")):
            raise subp.ProcessExecutionError(cmd=command, reason="programs are not run here")
        self.ran.append(os.path.basename(program))
        return self._output("", "")
