#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets the real cloud-init read seeds, and writes what it understood, as JSON.

    read-seed.py PACKAGE ANSWER FOLDER...

PACKAGE is the root folder of what scripts/fetch-cloud-init made, and this program runs in its python3.
In each FOLDER are the wired domain, domain.xml, and its seed, seed.iso; the file ANSWER is added. Each
is a process of its own, since cloud-init remembers. ds-identify looks first, then cloud-init's own stages run as at a first boot: the data
source is searched, user-data and vendor-data go through their handlers, the network's configuration
through each renderer. machine.py says which edges are bent so that all of it stays in a temporary
directory. What cloud-init warns of is part of the answer, and so is an exception that would end its stage.
"""

import base64
import json
import logging
import os
import subprocess
import sys
import tempfile
from inspect import signature

from cloudinit import helpers, sources, stages, util, version
from cloudinit.config import cc_write_files, schema
from cloudinit.distros import debian, rhel, ug_util
from cloudinit.net import network_state, renderers
from cloudinit.reporting import events
from cloudinit.settings import PER_INSTANCE

from machine import Domain, Machine

RENDERERS = ("netplan", "networkd", "eni", "sysconfig", "network-manager")
RENDERER_CONFIGS = {**debian.Distro.renderer_configs, **rhel.Distro.renderer_configs}


# cloud-init 24.1 has renamed it.
load_text = getattr(util, "load_text_file", None) or util.load_file


class Warnings(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


def content(data):
    """Text as it is, {"base64": ...} for what is not text."""
    if isinstance(data, str):
        data = data.encode(errors="surrogateescape")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def files_below(folder):
    for directory, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, folder), content(file.read())


# --- user-data and vendor-data ------------------------------------------------------------------


def parts(message):
    """The parts of the MIME message that cloud-init made of a document."""
    for part in message.walk():
        if part.get_content_maintype() == "multipart":
            continue
        payload = util.fully_decoded_payload(part)
        if payload:
            yield {"type": part.get_content_type(), "content": content(payload)}


def load_config(path):
    """The cloud-config that the handlers merged from all parts of a document."""
    if not path or not os.path.exists(path):
        return {}
    return util.load_yaml(load_text(path), default={})


def schema_errors(config):
    """cloud-init's own key, which each version of it obeys, is not in the schema of its modules. Before
    22.2 the schema has to be named."""
    config = {key: value for key, value in config.items() if key != "manual_cache_clean"}
    try:
        schema.validate_cloudconfig_schema(config, schema.get_schema(), strict=True)
    except schema.SchemaValidationError as error:
        return str(error).splitlines()
    return []


def documents(init):
    source, paths = init.datasource, init.paths
    user = load_config(paths.get_ipath("cloud_config"))
    vendor = load_config(paths.get_ipath("vendor_cloud_config"))
    merged = helpers.ConfigMerger(paths, source, base_cfg={}).cfg
    yield "user-data", list(parts(source.get_userdata(True)))
    yield "vendor-data", list(parts(source.get_vendordata()))
    yield "user-config", user
    yield "vendor-config", vendor
    yield "config", merged
    yield "schema-errors", schema_errors(user) + schema_errors(vendor)
    yield "scripts", dict(files_below(paths.get_ipath_cur("scripts")))
    yield "boothooks", dict(files_below(paths.get_ipath("boothooks")))


# --- what modules make of the configuration -----------------------------------------------------


def write_files(name, config, cloud, arguments):
    """cloud-init 23.1 gives its modules no logger any more."""
    logger = [logging.getLogger()] if len(signature(cc_write_files.handle).parameters) == 5 else []
    cc_write_files.handle(name, config, cloud, *logger, arguments)


def modules(init, machine):
    cloud = init.cloudify()
    hostname, fqdn = util.get_hostname_fqdn(init.cfg, cloud)[:2]
    yield "hostname", hostname
    yield "fqdn", fqdn
    yield "users", ug_util.normalize_users_groups(init.cfg, init.distro)[0]
    write_files("write-files", init.cfg, cloud, [])
    root = machine.path("root")
    yield "files", {
        "/" + name: {
            "content": data,
            "mode": f"{os.stat(os.path.join(root, name)).st_mode & 0o7777:04o}",
            "owner": machine.owners.get("/" + name),
        }
        for name, data in files_below(root)
    }


# --- the network --------------------------------------------------------------------------------


def parse(config, renderer):
    """cloud-init 22.3 has added the renderer."""
    parser = network_state.parse_net_config_data
    if "renderer" in signature(parser).parameters:
        return parser(config, renderer=renderer)
    return parser(config)


def render(name, config, folder):
    """The files that one of cloud-init's renderers writes, or why it fails."""
    options = {**RENDERER_CONFIGS.get(name, {}), "postcmds": False}
    # It is absolute otherwise, and would not be written below the folder.
    options["netplan_path"] = "etc/netplan/50-cloud-init.yaml"
    try:
        renderer = renderers.NAME_TO_RENDERER[name].Renderer(options)
        renderer.render_network_state(parse(config, renderer), target=folder)
    except Exception as error:  # pylint: disable=broad-except  # it would end the guest's stage
        return {"error": repr(error)}
    return dict(files_below(folder))


def network(init, machine):
    try:
        config, source = init._find_networking_config()  # pylint: disable=protected-access
    except ValueError as error:  # it would end the guest's stage
        return {"source": "ds", "config": None, "error": repr(error)}
    answer = {"source": getattr(source, "name", source).lower(), "config": config}
    if config is None or answer["source"] == "fallback":
        return answer
    try:
        init.distro.networking.wait_for_physdevs(config)
    except RuntimeError as error:
        answer["error"] = str(error)
    for name in [name for name in RENDERERS if name in renderers.NAME_TO_RENDERER]:
        answer[name] = render(name, config, machine.path(f"network-{name}"))
    return answer


# --- the reporter -------------------------------------------------------------------------------


def keep_log(machine):
    """Writes cloud-init.log, with all that a boot of a guest writes there, as Debian's configuration has it;
    the boot before had a document that was not used either."""
    os.makedirs(machine.path("var/log"), exist_ok=True)
    log = logging.FileHandler(machine.path("var/log/cloud-init.log"))
    log.setFormatter(logging.Formatter("%(asctime)s - %(filename)s[%(levelname)s]: %(message)s"))
    logging.getLogger().addHandler(log)
    logging.getLogger().setLevel(logging.DEBUG)
    for message in (
        "start: init-network/consume-user-data: reading and applying user-data",
        "Failed at merging in cloud config part from part-before",
        f"Cloud-init v. {version.version_string()} running 'init-local' at today",
    ):
        logging.info(message)


def ask_reporter(machine, call):
    """What a function of the seed's reporter says; it sees the machine's folders."""
    reporter = os.path.join(os.path.dirname(__file__), "../../src/seed/reporter.sh")
    script = load_text(reporter).split("# Once a boot")[0]
    for folder in ("/var/lib/cloud", "/var/log"):
        script = script.replace(folder, machine.path(folder[1:]))
    script += f"exec 2>/dev/null; new=true; {call}"
    answer = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, check=True)
    return json.loads(answer.stdout)


def taken(init, machine, config):
    """What the seed's reporter would tell the host of the documents that cloud-init keeps."""
    # Since 23.4, when the network is configured.
    if config and hasattr(init, "_write_network_config_json"):
        init._write_network_config_json(config)  # pylint: disable=protected-access
    return ask_reporter(machine, 'describe_taken; printf %s "$taken"')


def dropped(machine, warnings):
    """What the reporter tells of documents that were not used: by the log and, without one, by the
    messages that status.json has since 23.4."""
    by_log = ask_reporter(machine, 'printf "[%s]" "$(describe_dropped)"')
    errors = json.dumps({"v1": {"init": {"recoverable_errors": {"WARNING": warnings}}}})
    os.remove(machine.path("var/log/cloud-init.log"))
    with open(machine.path("var/log/status.json"), "w", encoding="utf-8") as file:
        file.write(errors)
    read = "read_line_of /var/log/status.json; ".replace("/var/log", machine.path("var/log"))
    by_status = ask_reporter(machine, read + 'printf "[%s]" "$(describe_dropped)"')
    shown = ask_reporter(machine, read + 'printf %s "$text" | without_quotes')
    return {"log": by_log, "status": by_status, "shown": shown}


# --- all of it ----------------------------------------------------------------------------------


def find():
    """The stage, local or network, whose data source claims the seed, or None."""
    for needs in ([sources.DEP_FILESYSTEM], [sources.DEP_FILESYSTEM, sources.DEP_NETWORK]):
        stage = events.ReportEventStack("init-network", "the stage", reporting_enabled=True)
        init = stages.Init(needs, reporter=stage)
        init.read_cfg()
        init.initialize()
        try:
            init.fetch(existing="check")
            return init
        except sources.DataSourceNotFoundException:
            pass
    return None


def boot():
    """cloud-init's stages until user-data is applied; None where no data source claims the seed."""
    init = find()
    if init is None or init.datasource.dsname == "None":
        return None
    init.instancify()
    init.setup_datasource()
    init.update()
    init.activate_datasource()
    run = {"args": [PER_INSTANCE], "freq": PER_INSTANCE}
    init.cloudify().run("consume_data", init.consume_data, **run)
    return init


def read(machine):
    answer = {"claimed": False, "identified": machine.identify()}
    if not answer["identified"]:
        return answer
    init = boot()
    if init is None:
        return answer
    source = init.datasource
    queried = json.loads(load_text(init.paths.run_dir + "/instance-data-sensitive.json"))
    answer.update(
        {
            "claimed": True,
            # From 24.1 on it does not say when it is used.
            "datasource": str(source).removesuffix(f"[dsmode={source.dsmode}]"),
            "dsmode": source.dsmode,
            "instance-id": source.get_instance_id(),
            "public-keys": source.get_public_ssh_keys(),
            "meta-data": queried["ds"]["meta_data"],
            "network": network(init, machine),
        }
    )
    answer.update(documents(init))
    answer.update(modules(init, machine))
    answer["taken"] = taken(init, machine, answer["network"]["config"])
    answer["ran"] = machine.ran
    return answer


def read_folder(package, folder):
    warnings = Warnings()
    logging.getLogger().addHandler(warnings)
    with tempfile.TemporaryDirectory() as directory:
        domain = Domain(os.path.join(folder, "domain.xml"))
        machine = Machine(directory, package, domain, os.path.join(folder, "seed.iso"))
        machine.install()
        keep_log(machine)
        try:
            answer = read(machine)
        except Exception as error:  # pylint: disable=broad-except  # it would end the guest's stage
            answer = {"claimed": True, "aborted": repr(error)}
        answer["dropped"] = dropped(machine, warnings.messages)
        answer["warnings"] = [text.replace(directory, "") for text in warnings.messages]
        return answer


def main():
    package, name, *folders = sys.argv[1:]
    failed = False
    for folder in folders:
        child = os.fork()
        if child == 0:
            answer = read_folder(package, folder)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                json.dump(answer, file, indent=2, default=str)
            os._exit(0)
        failed |= os.waitpid(child, 0)[1] != 0
    sys.exit(failed)


main()
