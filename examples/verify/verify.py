#!/usr/bin/env python3
"""Verify a certificate of Synod. It shares no code with Synod itself.

    python3 verify.py answer.cert [--question TEXT] [--answer TEXT] [--roster FILE]
    python3 verify.py --batch < FILES     # one certificate in base64 a line

Needs Python 3.9 or later and the package "cryptography". Prints VALID, what is proved and
what is not, or the first thing that is wrong (exit code 7). docs/operate/certificates.md
specifies version 3; docs/operate/certificates.md says what each check is for.
"""

import argparse, base64, functools, hashlib, json, struct, sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

MAX_SIZE, MAX_MEMBERS, MAX_TEXT, MAX_PARAMETERS, EXACT_NODES = 1 << 20, 1000, 256, 64 << 10, 16
MAX_COMMITTEE, MAX_BEACONS, MAX_CHECKS = 512, 64, 64
PAYLOAD_TYPE = "application/vnd.in-toto+json"


class Invalid(Exception):
    """What is wrong."""


def require(condition, why):
    if not condition:
        raise Invalid(why)


# --- CBOR: core deterministic encoding, without maps, tags, floats and negative numbers ---


class Reader:
    """Reads values that have exactly one encoding."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        require(n <= len(self.data) - self.at, "the statement is cut off")
        part = self.data[self.at : self.at + n]
        self.at += n
        return part

    def head(self):
        first = self.take(1)[0]
        major, value = first >> 5, first & 31
        if value >= 24:
            require(value <= 27, "the statement is not in canonical CBOR")
            size = 1 << (value - 24)
            value = int.from_bytes(self.take(size), "big")
            least = 24 if size == 1 else 1 << (4 * size)
            require(major != 7 and value >= least, "the statement is not in canonical CBOR")
        return major, value

    def value(self, depth=0):
        require(depth <= 6, "the statement is nested too deeply")
        major, n = self.head()
        if major == 0:
            return n
        if major == 2:
            return bytes(self.take(n))
        if major == 3:
            try:
                return str(self.take(n), "utf-8")
            except UnicodeDecodeError:
                raise Invalid("a text of the statement is not UTF-8") from None
        if major == 4:
            require(n <= 1 << 17, "an array of the statement is too long")
            return [self.value(depth + 1) for _ in range(n)]
        simple = {20: False, 21: True, 22: None}
        require(major == 7 and n in simple, "the statement is not in canonical CBOR")
        return simple[n]


# --- The statement: arrays with the fields in this order ---

TEXT, BYTES, UINT, BOOL = str, bytes, int, bool
RULE, FAULTS = [("name", TEXT), ("support", UINT)], [("model", TEXT), ("f", UINT)]
GRAPH = [("edges", "edges"), ("r", UINT), ("exact", BOOL)]
WITHSTANDS = [("ignored", UINT), ("changed", UINT)]
HEAD = [("log", TEXT), ("size", UINT), ("root", BYTES)]
MEMBER = [("id", TEXT), ("role", TEXT), ("kind", TEXT), ("adversary", TEXT), ("voter", BOOL),
          ("first", BYTES), ("final", BYTES), ("key", BYTES), ("signature", BYTES)]
STATEMENT = [
    ("domain", TEXT), ("kind", TEXT), ("council", BYTES), ("owner", BYTES), ("instance", TEXT),
    ("question", BYTES), ("form", TEXT), ("answer", BYTES), ("protocol", TEXT),
    ("parameters", TEXT), ("exact", TEXT), ("rule", RULE), ("faults", FAULTS),
    ("graph", GRAPH), ("claim", TEXT), ("members", ["each", MEMBER]), ("support", UINT),
    ("withstands", ["or null", WITHSTANDS]), ("unsafe", BOOL), ("journal", BYTES),
    ("ledger", ["or null", HEAD]),
]
MERGE = [("schema", BYTES), ("last", BOOL), ("values", ["each", BYTES])]
# Version 3 of a council with a roster: what it says of the council is in the roster's terms.
BALLOT = [("first", BYTES), ("final", BYTES), ("signature", BYTES)]
DECISION = [
    ("domain", TEXT), ("kind", TEXT), ("terms", BYTES), ("rest", BYTES), ("instance", TEXT), ("question", BYTES),
    ("form", TEXT), ("answer", BYTES), ("votes", ["each", BALLOT]), ("merge", ["or null", MERGE]),
]
DRAWN = DECISION + [("draw", ["each", BYTES])]  # of a committee: proofs by beacon
CHECK = [("name", TEXT), ("kind", TEXT), ("hash", BYTES)]
CHECKED = [("domain", TEXT), ("statement", BYTES), ("checks", ["each", CHECK])]  # around version 3
DRAW = [("size", UINT), ("f", UINT), ("beacons", ["each", UINT])]
SEAT = [("id", TEXT), ("role", TEXT), ("key", BYTES), ("voter", BOOL), ("kind", TEXT), ("adversary", TEXT)]
TERMS = [
    ("name", TEXT), ("serial", UINT), ("previous", BYTES), ("members", ["each", SEAT]), ("edges", "edges"),
    ("f", UINT), ("r", UINT), ("exact", BOOL), ("guarantee", TEXT), ("faults", TEXT), ("protocol", TEXT),
    ("parameters", TEXT), ("rule", RULE),
]
RULES = ("plurality", "majority", "supermajority", "protocol")


def typed(value, kind, name):
    """Returns a value as a kind: a type, or an object for an array with named fields."""
    if kind == "edges":
        require(type(value) is list, f"{name} is not an array")
        for edge in value:
            require(type(edge) is list and [type(x) for x in edge] == [int, int], "an edge is not two seats")
        return [tuple(edge) for edge in value]
    if isinstance(kind, type):
        require(type(value) is kind, f"{name} is not of its type")
        return value
    if kind[0] == "or null":
        return None if value is None else typed(value, kind[1], name)
    require(type(value) is list, f"{name} is not an array")
    if kind[0] == "each":
        return [typed(v, kind[1], name) for v in value]
    require(len(value) == len(kind), f"{name} does not have {len(kind)} fields")
    return {field: typed(v, k, field) for v, (field, k) in zip(value, kind)}


def check_edges(edges, n):
    last = (-1, -1)
    for a, b in edges:
        require(a < b < n and (a, b) > last, "the edges are not each once and ascending")
        last = (a, b)


def read_terms(data):
    """Returns the terms of a roster: all that a certificate of version 3 says of its council."""
    reader = Reader(data)
    value, draw = reader.value(), None
    require(reader.at == len(data), "bytes follow the terms")
    if type(value) is list and len(value) == 2:
        value, draw = value[0], typed(value[1], DRAW, "the draw")
    t = dict(typed(value, TERMS, "the terms"), draw=draw)
    n, keys = len(t["members"]), [m["key"] for m in t["members"]]
    require(n <= 1024 and t["f"] <= n and any(m["voter"] for m in t["members"]), "F or the voters are out of range")
    require(t["faults"] in ("S", "L") and t["rule"]["name"] in RULES, "the rule or the model of faults is unknown")
    require(all(len(k) == 32 and not small(k) for k in keys), "everybody can sign for the key of a member")
    require(len(set(keys)) == n, "two members have one key")
    texts = [t["name"], t["guarantee"], t["protocol"]]
    texts += [m[k] for m in t["members"] for k in ("id", "role", "kind", "adversary")]
    require(all(len(x.encode()) <= MAX_TEXT for x in texts), "a name is too long")
    require(len(t["parameters"].encode()) <= MAX_PARAMETERS, "the parameters are too long")
    check_edges(t["edges"], n)
    if draw:
        check_draw(t, draw, n)
    return t


def check_draw(t, draw, n):
    size, beacons = draw["size"], draw["beacons"]
    require(1 <= size <= min(n, MAX_COMMITTEE) and draw["f"] < size, "size or F of the committee is out of range")
    require(1 <= len(beacons) <= MAX_BEACONS and beacons == sorted(set(beacons)) and beacons[-1] < n,
            "the beacons are not members, each once, in ascending order")
    require(all(m["voter"] for m in t["members"]), "a member of a council that draws committees has no vote")
    require(t["faults"] == "S" and not t["edges"] and t["r"] == (size + 1) // 2 and t["exact"],
            "in a committee all hear all, and F bounds its members")


def roster_hash(terms, rest):
    return hashlib.sha256(b"synod/roster/2" + hashlib.sha256(terms).digest() + rest).digest()


def derive(d):
    """Returns the statement of a decision: voters, roles, kinds, rule, F and graph are those of the roster's terms."""
    require(d["domain"] == "synod/certificate/3" and d["kind"] == "roster", "it is not a decision of a roster")
    t = read_terms(d["terms"])
    council = roster_hash(d["terms"], d["rest"])
    require(len(d["rest"]) == 32, "the hash of the roster's rest is not a SHA-256")
    require((t["draw"] is None) == ("draw" not in d), "it has a draw, and its roster draws no committee, or reversely")
    drawn = None
    if t["draw"]:
        drawn = {"of": len(t["members"]), "beacons": len(d["draw"])}
        take_part(t, d, council)
    require(len(d["votes"]) == len(t["members"]), "the votes are not those of the members")
    members = [dict(m, **v) for m, v in zip(t["members"], d["votes"])]
    support, second = tally([m["first"] for m in members], d["answer"])
    lead = support - second - 1
    return {
        "version": 3, "domain": d["domain"], "kind": "roster", "owner": b"",
        "council": council, "drawn": drawn,
        "instance": d["instance"], "question": d["question"], "form": d["form"], "answer": d["answer"],
        "protocol": t["protocol"], "parameters": t["parameters"], "exact": "", "rule": t["rule"],
        "faults": {"model": t["faults"], "f": t["f"]}, "graph": {"edges": t["edges"], "r": t["r"], "exact": t["exact"]},
        "claim": t["guarantee"], "members": members, "support": support,
        "withstands": {"ignored": lead, "changed": lead // 2} if lead >= 0 else None,
        "unsafe": False, "journal": b"", "ledger": None, "merge": d["merge"],
    }


def take_part(t, d, council):
    """Replaces the members, edges and F of terms by those of the committee that the beacons' proofs draw."""
    proofs, beacons = d["draw"], [t["members"][b]["key"] for b in t["draw"]["beacons"]]
    require(len(proofs) == len(beacons), "the draw does not have one proof of each beacon")
    data = b"synod/draw/2\0" + council + d["question"] + hashlib.sha256(d["instance"].encode()).digest()
    seed = hashlib.sha256(b"synod/seed/1\0")
    for key, proof in zip(beacons, proofs):
        seed.update(vrf_output(key, data, proof))
    seed, members = seed.digest(), t["members"]
    ticket = lambda i: hashlib.sha256(b"synod/ticket/1\0" + seed + members[i]["key"]).digest()
    seats = sorted(sorted(range(len(members)), key=ticket)[: t["draw"]["size"]])
    t["members"], t["f"] = [members[i] for i in seats], t["draw"]["f"]
    t["edges"] = [(a, b) for a in range(len(seats)) for b in range(a + 1, len(seats))]


# --- The verifiable random function ECVRF-EDWARDS25519-SHA512-TAI of RFC 9381, on points (X, Y, Z, T) of RFC 8032 ---

PRIME, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
CURVE_D = -121665 * pow(121666, -1, PRIME) % PRIME
ROOT = pow(2, (PRIME - 1) // 4, PRIME)  # of -1
ZERO = (0, 1, 1, 0)


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % PRIME, (p[1] + p[0]) * (q[1] + q[0]) % PRIME
    c, d = 2 * p[3] * q[3] * CURVE_D % PRIME, 2 * p[2] * q[2] % PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def times(k, p):
    total = ZERO
    while k > 0:
        if k & 1:
            total = add(total, p)
        p, k = add(p, p), k >> 1
    return total


def minus(p):
    return -p[0] % PRIME, p[1], p[2], -p[3] % PRIME


def zero(p):
    return p[0] % PRIME == 0 and (p[1] - p[2]) % PRIME == 0


def point(data):
    """Returns the point with this encoding, or None if there is none or another encoding of it is the usual one."""
    y, sign = int.from_bytes(data, "little") & ((1 << 255) - 1), data[31] >> 7
    if y >= PRIME:
        return None
    square = (y * y - 1) * pow(CURVE_D * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if (x * x - square) % PRIME:
        x = x * ROOT % PRIME
    if (x * x - square) % PRIME or x == 0 and sign:
        return None
    if x & 1 != sign:
        x = PRIME - x
    return x, y, 1, x * y % PRIME


def encoded(p):
    inverse = pow(p[2], -1, PRIME)
    x, y = p[0] * inverse % PRIME, p[1] * inverse % PRIME
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE = point((4 * pow(5, -1, PRIME) % PRIME).to_bytes(32, "little"))


def to_curve(key, data):
    for counter in range(256):
        p = point(hashlib.sha512(b"\3\1" + key + data + bytes([counter, 0])).digest()[:32])
        if p and not zero(times(8, p)):
            return times(8, p)
    raise Invalid("the input of the draw has no point on the curve")


def vrf_output(key, data, proof):
    """Returns what the random function of a key gives for data, after it has checked the proof (RFC 9381, 5.3)."""
    y, gamma = point(key), point(proof[:32]) if len(proof) == 80 else None
    require(y and gamma and not zero(times(8, y)), "a proof of the draw is not valid")
    c, s = int.from_bytes(proof[32:48], "little"), int.from_bytes(proof[48:], "little")
    require(s < ORDER, "a proof of the draw is not valid")
    h = to_curve(key, data)
    u, v = add(times(s, BASE), minus(times(c, y))), add(times(s, h), minus(times(c, gamma)))
    points = b"".join(map(encoded, (h, gamma, u, v)))
    require(hashlib.sha512(b"\3\2" + key + points + b"\0").digest()[:16] == proof[32:48],
            "a proof of the draw is not valid")
    return hashlib.sha512(b"\3\3" + encoded(times(8, gamma)) + b"\0").digest()


def read_statement(data):
    value = read_whole(data)
    if not (type(value) is list and len(value) == len(CHECKED)):
        return read_plain(value)
    outer = typed(value, CHECKED, "the checks")
    checks = outer["checks"]
    require(outer["domain"] == "synod/checks/1" and 1 <= len(checks) <= MAX_CHECKS, "it names no checks, or too many")
    s = read_plain(read_whole(outer["statement"]))
    require(s["version"] == 3, "a statement of an earlier version names checks")
    kinds = ("cel", "schema", "regex") + (("command",) if s["kind"] == "owner" else ())
    require(all(1 <= len(c["name"].encode()) <= MAX_TEXT for c in checks), "the name of a check is none")
    require(len({c["name"] for c in checks}) == len(checks), "two checks have one name")
    require(all(c["kind"] in kinds and len(c["hash"]) == 32 for c in checks), "a check has another kind, or no hash")
    s["checks"] = checks
    return s


def read_whole(data):
    reader = Reader(data)
    value = reader.value()
    require(reader.at == len(data), "bytes follow the statement")
    return value


def read_plain(value):
    """Returns a statement without checks."""
    if type(value) is list and len(value) in (len(DECISION), len(DRAWN)):
        s = derive(typed(value, DECISION if len(value) == len(DECISION) else DRAWN, "the decision"))
    else:
        merge = None
        if type(value) is list and len(value) == 2:
            merge = None if value[1] is None else typed(value[1], MERGE, "the merge")
            s = typed(value[0], STATEMENT, "the statement")
            s["version"] = 3 if s["domain"] == "synod/certificate/3" else 2
            require(merge or s["version"] == 3, "it has no merge")
        else:
            s = typed(value, STATEMENT, "the statement")
            s["version"] = 1
        require(s["domain"] == "synod/certificate/%d" % s["version"], "its version is unknown")
        require(s["version"] < 3 or s["kind"] == "owner", "a statement of version 3 about a roster has its terms")
        s["merge"], s["drawn"] = merge, None
    s["checks"] = []
    check_statement(s)
    return s


def check_statement(s):
    merge = s["merge"]
    require(s["kind"] in ("owner", "roster"), "its kind is unknown")
    require(all(len(s[k]) == 32 for k in ("council", "question", "answer")), "a hash is not a SHA-256")
    require(len(s["owner"]) == (32 if s["kind"] == "owner" else 0), "the owner's key is missing or too much")
    require(len(s["journal"]) in (0, 32), "the digest of the journal is not a SHA-256")
    head = s["ledger"]
    require(head is None or len(head["root"]) == 32 and head["size"] > 0 and len(head["log"].encode()) <= MAX_TEXT,
            "the head of the ledger is not one")
    require(s["faults"]["model"] in ("S", "L"), "the model of faults is unknown")
    n = len(s["members"])
    if merge:
        require(s["rule"]["support"] <= n, "the rule asks for the support of more members than there are")
        require(s["form"] == "json" and s["rule"]["name"] != "protocol" and len(merge["values"]) == n
                and 1 <= len(merge["schema"]) <= 64 << 10, "what was merged has not its form")
    require(1 <= n <= MAX_MEMBERS, "the number of members is out of range")
    require(s["faults"]["f"] <= n, "F is larger than the council")
    require(len(s["parameters"].encode()) <= MAX_PARAMETERS, "the parameters are too long")
    texts = [s[k] for k in ("instance", "form", "protocol", "exact", "claim")] + [s["rule"]["name"]]
    require(all(len(t.encode()) <= MAX_TEXT for t in texts), "a name is too long")
    for m in s["members"]:
        require(all(len(m[k].encode()) <= MAX_TEXT for k in ("id", "role", "kind", "adversary")), "a name is too long")
        require(all(len(m[k]) in (0, 32) for k in ("first", "final")), "a hash is not a SHA-256")
        owner = s["kind"] == "owner"
        require(len(m["key"]) == (0 if owner else 32), "a member has no key, or one while one owner signs for all")
        require(len(m["signature"]) in ((0,) if owner else (0, 64)), "a member's signature is not one")
    check_edges(s["graph"]["edges"], n)


def subject_of(s):
    """Returns name and hash of the in-toto subject. Before version 3 it was the answer alone."""
    if s["version"] < 3:
        return "answer", s["answer"].hex()
    run = hashlib.sha256(s["instance"].encode()).digest()
    bound = b"synod/decision/3" + s["council"] + s["question"] + s["answer"] + run
    return "decision", hashlib.sha256(bound).hexdigest()


# --- The file: a DSSE envelope with an in-toto statement, in one spelling ---


def unbase64(text):
    require(type(text) is str, "the file is not in its one allowed spelling")
    data = base64.b64decode(text, validate=True)
    require(base64.b64encode(data).decode() == text, "the file is not in its one allowed spelling")
    return data


def read_file(data):
    """Returns the statement, the signed payload, and the signatures as (key, signature)."""
    require(len(data) <= MAX_SIZE, "the file is too large")
    try:
        envelope = json.loads(data)
        payload = unbase64(envelope["payload"])
        signatures = []
        for s in envelope["signatures"]:
            require(type(s["keyid"]) is str and s["keyid"].startswith("ed25519:"), "a signature has no key")
            signatures.append((bytes.fromhex(s["keyid"][8:]), unbase64(s["sig"])))
        require(all(len(k) == 32 and len(s) == 64 for k, s in signatures), "a signature is not one")
        body = unbase64(json.loads(payload)["predicate"]["cbor"])
    except Invalid:
        raise
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise Invalid("the file is not a certificate") from None
    s = read_statement(body)
    statement = ('{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"%s","digest":{"sha256":"%s"}}],'
                 '"predicateType":"https://synod.dev/certificate/v%d","predicate":{"cbor":"%s"}}'
                 % (*subject_of(s), s["version"], base64.b64encode(body).decode()))
    parts = ['{"keyid":"ed25519:%s","sig":"%s"}' % (k.hex(), base64.b64encode(v).decode()) for k, v in signatures]
    whole = '{"payloadType":"%s","payload":"%s","signatures":[%s]}\n' % (
        PAYLOAD_TYPE, base64.b64encode(payload).decode(), ",".join(parts))
    require(statement.encode() == payload and whole.encode() == bytes(data),
            "the file is not in its one allowed spelling")
    return s, payload, signatures


# --- Signatures ---

SMALL_ORDER = {
    bytes.fromhex(x)
    for x in ("00" * 32, "01" + "00" * 31, "ec" + "ff" * 30 + "7f", "ed" + "ff" * 30 + "7f", "ee" + "ff" * 30 + "7f",
              "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
              "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
}


def small(key):  # everybody can sign for such a key
    return key[:31] + bytes([key[31] & 0x7F]) in SMALL_ORDER


def signed(key, data, signature):
    if small(key):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, data)
        return True
    except (InvalidSignature, ValueError):
        return False


def check_signers(s, payload, signatures, claims, not_proved):
    covered = b"DSSEv1 %d %s %d %s" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload), payload)
    keys = [s["owner"]] if s["kind"] == "owner" else [m["key"] for m in s["members"]]
    last = -1
    for key, signature in signatures:
        require(key in keys, "a signer is not of the council")
        at = keys.index(key)
        require(at > last, "the signers are not each once and in the order of seats")
        require(s["version"] < 3 or s["kind"] == "owner" or s["members"][at]["voter"], "a member without a vote signs")
        own = s["merge"]["values"][at] if s["merge"] else s["members"][at]["final"] == s["answer"]
        require(s["kind"] == "owner" or own, "a member signs an answer that is not its own")
        require(signed(key, covered, signature), "a signature is not valid")
        last = at
    if s["kind"] == "owner":
        require(len(signatures) == 1, "the owner has not signed it")
        claims.append(f"the owner of the key {s['owner'].hex()} states all that follows")
        return
    f, k = s["faults"]["f"], len(signatures)
    voters = sum(m["voter"] for m in s["members"])
    if s["version"] == 3 and s["claim"] == "agreement":
        quorum = (voters + f) // 2 + 1  # two of this size share more than f voters
        require(k >= quorum, "no quorum of voters signed it")
        claims.append(f"{k} of {voters} voters signed that they ended on this answer; {quorum} are needed")
        claims.append("no second certificate of version 3 of this run can name another answer, with at most "
                      f"F = {f} Byzantine voters, even if messages are late")
    else:
        require(k > f, "no more than F members signed it")
        of = f"{voters} voters" if s["version"] == 3 else f"{len(keys)} members"
        claims.append(f"{k} of {of} signed that they ended on this answer; more than F = {f} are needed")
        not_proved.append("that there is no second certificate of this run with another answer")
    if s["drawn"]:
        claims.append(f"the {voters} voters are those of the roster's {s['drawn']['of']} members that were drawn for "
                      f"this run: {s['drawn']['beacons']} beacons prove it, and the run has no other draw")
        not_proved.append(f"that at most F = {f} of those who were drawn are Byzantine")
        not_proved.append("that who asked did not ask again until a draw was favourable")
    check_votes(s, keys, claims)


def check_votes(s, keys, claims):
    require(len(set(keys)) == len(keys), "two members have one key")
    scope = b"synod/signature/2" + hashlib.sha256(s["instance"].encode()).digest()
    scope += hashlib.sha256(b"".join(keys)).digest()
    votes = 0
    for m in s["members"]:
        require(not small(m["key"]), "everybody can sign for the key of a member")
        if m["signature"]:
            vote = b"synod/vote/1" + s["council"] + s["question"]
            for h in (m["first"], m["final"]):
                vote += struct.pack(">I", len(h)) + h
            require(signed(m["key"], scope + vote, m["signature"]), "a member has not signed its answers")
            votes += 1
        else:
            require(not m["first"] and not m["final"], "a member has answers that it has not signed")
    claims.append(f"{votes} of {len(keys)} members signed their own first and last answers")


# --- Arithmetic: what follows from the answers and the graph ---


def tally(answers, own):
    """Returns how many answers are own, and the most that another answer has."""
    counts = {}
    for a in answers:
        if a:
            counts[a] = counts.get(a, 0) + 1
    mine = counts.pop(own, 0)
    return mine, max(counts.values(), default=0)


def check_votes_count(s, claims, not_proved):
    members, own = s["members"], s["answer"]
    support, second = tally([m["first"] for m in members], own)
    require(support == s["support"], "the stated support is not that of the first answers")
    if s["merge"]:
        for m, value in zip(members, s["merge"]["values"]):
            h = hashlib.sha256(value).digest() if value else b""
            require(h == m["final" if s["merge"]["last"] else "first"], "a value is not the answer of its member")
        claims.append("the certificate has the answers from which the value was merged")
        not_proved.append("that the merge of these answers is the value: synod verify computes it again")
        return
    lead = support - second - 1
    withstands = {"ignored": lead, "changed": lead // 2} if lead >= 0 else None
    require(withstands == s["withstands"], "what the answer withstands does not follow from the first answers")
    require(support >= s["rule"]["support"], "the rule asks for more support")
    voters = [m["final"] for m in members if m["voter"]]
    votes, second = tally(voters, own)
    rule = s["rule"]["name"]
    enough = {"majority": 2 * votes > len(voters), "plurality": votes > second,
              "supermajority": 3 * votes >= 2 * len(voters) and votes > 0}.get(rule, votes > 0)
    require(enough, "the votes are not enough for the rule")
    claims.append(f"{votes} of {len(voters)} voters ended on the answer (rule {rule}); {support} of {len(members)} "
                  "members gave it before they heard others")
    hidden = sum(m["voter"] and not m["signature"] for m in members)
    if s["version"] == 3 and s["kind"] == "roster" and hidden:
        not_proved.append(f"what {hidden} of {len(voters)} voters ended on: their answers are not shown")
    if rule not in ("majority", "supermajority", "plurality"):
        not_proved.append("that the protocol's own step leads to the answer: only its journal shows that")
    if withstands:
        claims.append(f"the answer leads among the first answers whichever {lead} members are left out, and whatever "
                      f"any {lead // 2} say instead")


@functools.lru_cache(maxsize=256)
def robustness(n, edges):
    """Returns the largest r for which the graph is r-robust, over all pairs of sets."""
    if len(edges) == n * (n - 1) // 2:
        return (n + 1) // 2
    lower = bytes(max(i - 1, 0) for i in range(256))
    reach = bytes(1 << n)  # of each set: the most neighbours that one of its nodes has outside
    for i in range(n):
        near = {a + b - i for a, b in edges if i in (a, b)}
        outside = bytes([len(near)])
        for j in range(n):
            other = outside.translate(lower) if j in near else outside
            outside = bytes(len(outside)) + other if j == i else outside + other
        reach = bytes(map(max, reach, outside))
    least = bytearray(reach)  # of each set: the smallest reach of its nonempty subsets
    least[0] = 255
    for j in range(n):
        step = 1 << j
        for start in range(0, 1 << n, 2 * step):
            low, high = start, start + step
            least[high : high + step] = bytes(map(min, least[low:high], least[high : high + step]))
    return min(max(reach[s], least[-1 - s]) for s in range(1, (1 << n) - 1))


NOTHING = ("cp-wbft", "single", "majority", "weighted-majority", "self-consistency", "debate")
CLAIMS = {protocol: lambda f, r: "none" for protocol in NOTHING}
CLAIMS["sac"] = lambda f, r: "4.3-strong" if r >= 2 * f + 1 else "4.3" if r >= f + 1 else "none"
CLAIMS["w-msr"] = lambda f, r: "convergence" if r >= 2 * f + 1 else "validity"
CLAIMS["decentllms"] = CLAIMS["rotating-leader"] = lambda f, r: "agreement"
CLAIMS["cascade"] = lambda f, r: "supported"
CLAIMS["fixed-leader"] = lambda f, r: "agreement-crash"


def check_claim(s, claims, not_proved):
    n, graph, f = len(s["members"]), s["graph"], s["faults"]["f"]
    if n <= EXACT_NODES or len(graph["edges"]) == n * (n - 1) // 2:
        r = robustness(n, tuple(graph["edges"]))
        require(graph["r"] == r if graph["exact"] else graph["r"] <= r, "the graph has another robustness")
        claims.append(f"the graph has {len(graph['edges'])} edges and robustness r = {r}, computed again")
    else:
        not_proved.append(f"the robustness r = {graph['r']} of the graph: it has more than {EXACT_NODES} nodes")
    if s["claim"] == "none":
        not_proved.append("any guarantee: none is claimed for this run")
    elif s["protocol"] not in CLAIMS:
        not_proved.append(f"the guarantee {s['claim']!r} of protocol {s['protocol']!r}")
    else:
        require(CLAIMS[s["protocol"]](f, graph["r"]) == s["claim"], "the protocol does not guarantee what is claimed")
        claims.append(f"guarantee {s['claim']!r} of {s['protocol']} with F = {f}, model {s['faults']['model']}")


def verify(data):
    """Returns the statement, what is proved and what is not, or raises Invalid."""
    s, payload, signatures = read_file(data)
    claims = []
    not_proved = ["that the answer is right", "that at most F members are Byzantine and messages were in time",
                  "that the named models gave the answers", "that a ledger has the decision"]
    check_signers(s, payload, signatures, claims, not_proved)
    check_votes_count(s, claims, not_proved)
    check_claim(s, claims, not_proved)
    if s["kind"] == "owner":
        not_proved.append("that the members answered as stated: one owner signs for all")
    else:
        not_proved.append("that the keys belong to those whom you think of: compare them with the roster")
    if s["checks"]:
        names = ", ".join(f"{c['name']} ({c['kind']}, {c['hash'].hex()[:12]}…)" for c in s["checks"])
        by = "the owner states" if s["kind"] == "owner" else "each signer states"
        claims.append(f"{by} that the answer passes the checks in code {names}")
        not_proved.append("that these checks are what their names say: compare the SHA-256 of their definitions")
    if simulated := sum(m["kind"] == "simulated" for m in s["members"]):
        not_proved.append(f"anything about real models: {simulated} of {len(s['members'])} members were simulated")
    if s["unsafe"]:
        not_proved.append("that members agree: messages seem to have been later than a round")
    if s["version"] < 3:
        not_proved.insert(0, "WARNING: it is of an earlier version, in which who asked writes voters, roles, kinds and "
                          "rule; two certificates of one run can differ")
    return s, claims, not_proved


class Roster:
    """A roster file: the roster, who has signed it, and the rosters before it that say who must have."""

    def __init__(self, content, depth=0):
        require(depth <= 32, "more than 32 rosters are before it")
        reader = Reader(content)
        value = reader.value()
        require(reader.at == len(content) and type(value) is list and len(value) in (2, 3), "it is not a roster file")
        data, signatures = value[0], value[1]
        parts = Reader(data).value()
        if parts[0] == "synod/roster/2":
            terms = read_terms(parts[1])
            self.hash = roster_hash(parts[1], hashlib.sha256(parts[2]).digest())
            self.keys, self.ids = [m["key"] for m in terms["members"]], [m["id"] for m in terms["members"]]
            self.serial, self.previous, self.f = terms["serial"], terms["previous"], terms["f"]
        else:
            require(parts[0] == "synod/roster/1", "the format of the roster is unknown")
            self.hash = hashlib.sha256(b"synod/roster/1" + data).digest()
            self.keys, self.ids = [m[2] for m in parts[4]], [m[0] for m in parts[4]]
            self.serial, self.previous, self.f = parts[2], parts[3], parts[6]
        self.old = parts if parts[0] == "synod/roster/1" else None
        self.before = Roster(value[2], depth + 1) if len(value) == 3 else None
        kind = b"application/vnd.synod.roster-hash"
        covered = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(self.hash), self.hash)
        known = self.keys + (self.before.keys if self.before else [])
        keys = [k for k, _ in signatures]
        require(keys == sorted(set(keys)), "the roster's signatures are not each once and in order")
        require(all(k in known and signed(k, covered, s) for k, s in signatures),
                "a signature of the roster is not valid")
        self.signed = set(keys)

    def check(self):
        """One rule for who must have signed: all members; or a quorum of those before, and all who are new."""
        if self.before:
            require(self.previous == self.before.hash and self.serial == self.before.serial + 1,
                    "the roster does not follow the one before it")
        if self.signed >= set(self.keys):
            return
        require(self.before, "not all members have signed the roster")
        self.before.check()
        require(self.signed >= set(self.keys) - set(self.before.keys), "a new member has not signed the roster")
        n = len(self.before.keys)
        require(len(self.signed & set(self.before.keys)) >= min(n, (n + self.before.f) // 2 + 1),
                "no quorum of the members before has signed the roster")


def check_roster(s, text):
    """Checks who has signed a roster, and that the certificate is of it."""
    lines = text.decode("ascii", "replace").split("-----")
    require(len(lines) == 5 and lines[1] == "BEGIN SYNOD ROSTER", "it is not a roster file")
    try:
        roster = Roster(base64.b64decode(lines[2]))
        roster.check()
    except (ValueError, KeyError, TypeError, IndexError):
        raise Invalid("the roster cannot be read") from None
    require(roster.hash == s["council"], "it is of another roster")
    require(roster.old is not None or s["version"] == 3, "the members of the roster sign version 3 only")
    if (r := roster.old) is not None:  # the terms of version 2 are in the certificate, under the hash
        stated = [[(m["id"], m["key"]) for m in s["members"]], s["graph"]["edges"], s["faults"]["f"], s["protocol"]]
        agreed = [list(zip(roster.ids, roster.keys)), [tuple(e) for e in r[5]], r[6], r[11]]
        require(agreed + [r[12]] == stated + [s["parameters"]], "the roster has other members, graph, F or parameters")


def batch():
    for line in sys.stdin.buffer:
        try:
            verify(base64.b64decode(line.strip(), validate=True))
            print("VALID")
        except Invalid as why:
            print("INVALID", why)


def main():
    parser = argparse.ArgumentParser(description="Verify a certificate of Synod.")
    parser.add_argument("file", nargs="?", default="/dev/stdin")
    for flag in ("--question", "--answer", "--roster"):
        parser.add_argument(flag)
    parser.add_argument("--batch", action="store_true", help="read certificates in base64 from stdin, one a line")
    args = parser.parse_args()
    if args.batch:
        return batch()
    try:
        s, claims, not_proved = verify(open(args.file, "rb").read(MAX_SIZE + 1))
        if args.roster:
            check_roster(s, open(args.roster, "rb").read(8 << 20))
            claims.append("it is of the council with this roster")
        for name, text in (("question", args.question), ("answer", args.answer)):
            if text is not None:
                require(hashlib.sha256(text.encode()).digest() == s[name], f"it is about another {name}")
                claims.append(f"it is about this {name}")
    except (Invalid, OSError) as why:
        print("INVALID:", why)
        sys.exit(7)
    print("VALID", "proved:", *("  - " + c for c in claims), sep="\n")
    print("not proved:", *("  - " + c for c in not_proved), sep="\n")


if __name__ == "__main__":
    main()
