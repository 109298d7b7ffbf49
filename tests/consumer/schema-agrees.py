# SPDX-License-Identifier: GPL-2.0-or-later
"""schema-agrees.py SCHEMAS PROGRAM EXAMPLES: changes the examples, which schema-examples.py prints, at random, always
in the same ways, and compares the verdicts of cloud-init's own validator with the program's (schema-verdicts).
SCHEMAS is the folder with the schemas of refresh-schema. cloud-init uses its own if they are of the same version.
"""
import copy
import json
import random
import subprocess
import sys

from cloudinit import version
from cloudinit.config import schema

schemas, program, examples_file = sys.argv[1:]
random.seed(31)
# The one difference: where the value of 'oneOf' has a key 'type', cloud-init loses the errors of all branches unless
# they are about that key, and so accepts a route without gateway. Here they are kept.
deepest = schema.cloud_init_deepest_matches
schema.cloud_init_deepest_matches = lambda errors, instance: deepest(errors, instance) or errors
# Values of every type, on both sides of limits and expressions.
VALUES = [None, True, False, 0, 1, -1, 65536, 1.0, 0.5, "", "a", "a\n", "a:b\n", "10M", "+30", "now", "0.5G\n", "é" * 15,
          "e" * 16, [], ["a"], ["a", "a"], [1, "a"], {}, {"a": "b"}, {"name": "bob"}, {"a b": {"c": []}}]


def places(value):
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = list(range(len(value)))
    else:
        return
    for key in keys:
        yield value, key
        yield from places(value[key])


def change(document, keys):
    document = copy.deepcopy(document)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        holder, key = random.choice(list(places(document)) or [(document, "runcmd")])
        way = random.randrange(6)
        if way == 0:
            del holder[key]
        elif way == 1 and isinstance(holder, dict):
            holder[random.choice(keys)] = holder.pop(key)
        elif way == 2 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        elif way == 3 and isinstance(key, str):
            holder[key[:-1] + "x"] = holder.pop(key)
        elif way == 4 and isinstance(holder, dict):
            holder[random.choice(keys)] = copy.deepcopy(random.choice(VALUES))
        else:
            holder[key] = copy.deepcopy(random.choice(VALUES))
        if not document:
            break
    return document


def load(name):
    with open(f"{schemas}/{name}.json", encoding="utf-8") as file:
        shipped = json.load(file)
    if shipped.pop("title") != f"cloud-init {version.__VERSION__}":
        return shipped
    if name == "cloud-config":
        return schema.get_schema()
    original = schema.get_schema(schema.SchemaType.NETWORK_CONFIG_V1)
    # check takes the wrapping 'network:' away.
    return {"$ref": "#/$defs/network_config_version1", "$defs": original["$defs"]}


def compare(name, examples, count):
    validator = schema.get_jsonschema_validator()[0](load(name))
    keys = sorted({key for example in examples for _, key in places(example) if isinstance(key, str)})
    documents = examples + [change(random.choice(examples), keys) for _ in range(count)]
    lines = "".join(json.dumps(document) + "\n" for document in documents)
    found = subprocess.run([program, f"{schemas}/{name}.json"], input=lines, stdout=subprocess.PIPE, text=True,
                           check=True, encoding="utf-8").stdout.splitlines()
    valid = [all(isinstance(error, schema.SchemaDeprecationError) for error in validator.iter_errors(document))
             for document in documents]
    assert len(found) == len(documents)
    different = [(document, mine, theirs) for document, mine, theirs in zip(documents, found, valid)
                 if (mine[0] == "1") != theirs]
    for document, mine, theirs in different[:20]:
        print(f"{name}: cloud-init says {theirs}, virt-seed {mine}: {json.dumps(document)}")
    print(f"{name}: {len(documents)} documents, {sum(valid)} valid, {len(different)} different verdicts; "
          f"{sum(valid[:len(examples)])} of {len(examples)} examples valid")
    # A test without documents of both kinds shows nothing.
    return not different and count / 10 < sum(valid) < count


with open(examples_file, encoding="utf-8") as opened:
    everything = json.load(opened)
results = [compare("cloud-config", everything["cloud-config"], 5000),
           compare("network-config", everything["network-config"], 1500)]
sys.exit(0 if all(results) else 1)
