# Makes keys and JWTs as NATS has them, with openssl alone, for tests of the fleet.
# SPDX-License-Identifier: MIT
#
#   fleet_keys.py nkey NAME      NAME.seed and NAME.public
#   fleet_keys.py jwt USER...    operator.conf for a server in operator mode, and
#                                USER.creds; "reader" may publish no chunk
import base64
import json
import subprocess
import sys
import time

def openssl(*arguments, given=None):
    return subprocess.run(("openssl",) + arguments, input=given, check=True,
                          stdout=subprocess.PIPE).stdout

def crc(data):
    total = 0
    for byte in data:
        total ^= byte << 8
        for _ in range(8):
            total = (total << 1 ^ (0x1021 if total & 0x8000 else 0)) & 0xffff
    return total.to_bytes(2, "little")

def base32(data):
    return base64.b32encode(data + crc(data)).decode().rstrip("=")

class Key:
    def __init__(self, letter):
        kind = (ord(letter) - ord("A")) << 3
        self.pem = openssl("genpkey", "-algorithm", "ed25519")
        private = openssl("pkey", "-outform", "DER", given=self.pem)[-32:]
        public = openssl("pkey", "-pubout", "-outform", "DER",
                         given=self.pem)[-32:]
        self.public = base32(bytes([kind]) + public)
        self.seed = base32(bytes([18 << 3 | kind >> 5, (kind & 31) << 3])
                           + private)

    def sign(self, data):
        with open("key.pem", "wb") as to:
            to.write(self.pem)
        with open("data", "wb") as to:
            to.write(data)
        return openssl("pkeyutl", "-sign", "-rawin", "-inkey", "key.pem",
                       "-in", "data")

def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")

def jwt(issuer, subject, name, nats):
    head = {"typ": "JWT", "alg": "ed25519-nkey"}
    claims = {"jti": name, "iat": int(time.time()), "iss": issuer.public,
              "name": name, "sub": subject.public,
              "nats": dict(nats, version=2)}
    text = ".".join(base64url(json.dumps(i).encode()) for i in (head, claims))
    return text + "." + base64url(issuer.sign(text.encode()))

def nkey(name):
    key = Key("U")
    for end, text in ((".seed", key.seed), (".public", key.public)):
        with open(name + end, "w") as to:
            to.write(text + "\n")

def operator(users):
    of, system, account = Key("O"), Key("A"), Key("A")
    limits = {"subs": -1, "data": -1, "payload": -1, "imports": -1,
              "exports": -1, "wildcards": True, "conn": -1, "leaf": -1}
    stores = {"mem_storage": -1, "disk_storage": -1, "streams": -1,
              "consumer": -1}
    with open("operator.conf", "w") as to:
        to.write("operator: %s\nsystem_account: %s\nresolver: MEMORY\n"
                 "resolver_preload: {\n %s: %s\n %s: %s\n}\n" % (
            jwt(of, of, "operator", {"type": "operator"}), system.public,
            system.public,
            jwt(of, system, "SYS", {"type": "account", "limits": limits}),
            account.public,
            jwt(of, account, "recorder", {"type": "account",
                                          "limits": dict(limits, **stores)})))
    for name in users:
        user = Key("U")
        deny = {"deny": ["recorder.store.>"]} if name == "reader" else {}
        text = jwt(account, user, name, {"type": "user", "pub": deny, "sub": {},
                                         "subs": -1, "data": -1,
                                         "payload": -1})
        with open(name + ".creds", "w") as to:
            to.write("-----BEGIN NATS USER JWT-----\n%s\n"
                     "------END NATS USER JWT------\n\n"
                     "-----BEGIN USER NKEY SEED-----\n%s\n"
                     "------END USER NKEY SEED------\n" % (text, user.seed))

if sys.argv[1] == "nkey":
    nkey(sys.argv[2])
else:
    operator(sys.argv[2:])
