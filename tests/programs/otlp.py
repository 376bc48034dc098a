# Turns OTLP in JSON into the text that protoc encodes, by OTLP's rules for names and ids.
# SPDX-License-Identifier: MIT
import json, re, sys


def text(key, value):
    name = re.sub("([A-Z])", lambda m: "_" + m[1].lower(), key)
    if isinstance(value, list):
        return "".join(text(key, v) for v in value)
    if isinstance(value, dict):
        return name + " {\n" + "".join(text(k, v) for k, v in value.items()) + "}\n"
    if name.endswith("_id"):
        octal = "".join("\\%03o" % b for b in bytes.fromhex(value))
        return '%s: "%s"\n' % (name, octal)
    if name.endswith("unix_nano") or name == "int_value":
        return "%s: %d\n" % (name, int(value))
    return "%s: %s\n" % (name, json.dumps(value))


print("".join(text(k, v) for k, v in json.load(sys.stdin).items()))
