#!/usr/bin/env node
// Verify a certificate of Synod, version 3. Written from docs/operate/certificates.md alone; the names of its
// rules stand beside the checks. It shares no code with Synod and needs nothing but Node.js 18 or later.
//
//     node verify.js answer.cert
//     node verify.js --batch < FILES     # one certificate in base64 a line
//
// Prints VALID, what is proved and what is not, or the first thing that is wrong (exit code 7).
"use strict";

const crypto = require("crypto");
const fs = require("fs");

const MAX_SIZE = 1 << 20, MAX_MEMBERS = 1000, MAX_NAME = 256, MAX_PARAMETERS = 65536, EXACT_NODES = 16;
const PAYLOAD_TYPE = "application/vnd.in-toto+json";
const MAX_COMMITTEE = 512, MAX_BEACONS = 64, MAX_CHECKS = 64;
const DOMAIN = "synod/certificate/3";

class Invalid extends Error {}

function need(condition, why) {
  if (!condition) throw new Invalid(why);
}

// --- CBOR: core deterministic encoding without maps, tags, floats and negative numbers. Numbers are BigInt. ---

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

class Reader {
  constructor(data) {
    this.data = data;
    this.at = 0;
  }

  take(n) {
    need(n <= this.data.length - this.at, "the statement is cut off");
    const part = this.data.subarray(this.at, this.at + n);
    this.at += n;
    return part;
  }

  head() {
    const first = this.take(1)[0], major = first >> 5, low = first & 31;
    if (low < 24) return [major, BigInt(low)];
    need(low <= 27 && major !== 7, "it is not in canonical CBOR");
    const size = 1 << (low - 24);
    let value = 0n;
    for (const b of this.take(size)) value = (value << 8n) | BigInt(b);
    need(value >= (size === 1 ? 24n : 1n << BigInt(4 * size)), "it is not in canonical CBOR");
    return [major, value];
  }

  value(depth = 0) {
    need(depth <= 6, "it is nested too deeply");
    const [major, n] = this.head();
    switch (major) {
      case 0:
        return n;
      case 2:
        return Buffer.from(this.take(Number(n)));
      case 3:
        try {
          return utf8.decode(this.take(Number(n)));
        } catch (e) {
          throw e instanceof Invalid ? e : new Invalid("a text is not UTF-8");
        }
      case 4: {
        need(n <= 1n << 17n, "an array is too long");
        const all = [];
        for (let i = 0n; i < n; i++) all.push(this.value(depth + 1));
        return all;
      }
    }
    need(major === 7 && n >= 20n && n <= 22n, "it is not in canonical CBOR");
    return [false, true, null][Number(n) - 20];
  }
}

function whole(data) {
  const reader = new Reader(data), value = reader.value();
  need(reader.at === data.length, "bytes follow the value");
  return value;
}

// --- Structures: arrays with named fields of a kind ---

const is = {
  text: (v) => typeof v === "string",
  bytes: (v) => Buffer.isBuffer(v),
  uint: (v) => typeof v === "bigint",
  bool: (v) => typeof v === "boolean",
};
const each = (kind) => ({ each: kind });
const orNull = (kind) => ({ orNull: kind });

const RULE = { name: "text", support: "uint" };
const MERGE = { schema: "bytes", last: "bool", values: each("bytes") };
const VOTE = { first: "bytes", last: "bytes", signature: "bytes" };
const DECISION = {
  domain: "text", kind: "text", terms: "bytes", rest: "bytes", instance: "text", question: "bytes", form: "text",
  answer: "bytes", votes: each(VOTE), merge: orNull(MERGE),
};
const DRAWN = { ...DECISION, draw: each("bytes") }; // of a committee: proofs by beacon
const CHECKED = {
  domain: "text", statement: "bytes", checks: each({ name: "text", kind: "text", hash: "bytes" }),
};
const DRAW = { size: "uint", f: "uint", beacons: each("uint") };
const MEMBER = { id: "text", role: "text", key: "bytes", voter: "bool", kind: "text", adversary: "text" };
const TERMS = {
  name: "text", serial: "uint", previous: "bytes", members: each(MEMBER), edges: each(each("uint")), f: "uint",
  r: "uint", exact: "bool", guarantee: "text", faults: "text", protocol: "text", parameters: "text", rule: RULE,
};

// The statement of one owner.
const SEAT = {
  id: "text", role: "text", kind: "text", adversary: "text", voter: "bool", first: "bytes", last: "bytes", key: "bytes",
  signature: "bytes",
};
const OWNED = {
  domain: "text", kind: "text", council: "bytes", owner: "bytes", instance: "text", question: "bytes", form: "text",
  answer: "bytes", protocol: "text", parameters: "text", exact: "text", rule: RULE,
  faults: { model: "text", f: "uint" },
  graph: { edges: each(each("uint")), r: "uint", exact: "bool" }, claim: "text", members: each(SEAT), support: "uint",
  withstands: orNull({ ignored: "uint", changed: "uint" }), unsafe: "bool", journal: "bytes",
  ledger: orNull({ log: "text", size: "uint", root: "bytes" }),
};

function typed(value, kind) {
  if (typeof kind === "string") {
    need(is[kind](value), "a field is not of its type");
    return value;
  }
  if (kind.orNull) return value === null ? null : typed(value, kind.orNull);
  need(Array.isArray(value), "a structure is not an array");
  if (kind.each) return value.map((v) => typed(v, kind.each));
  const names = Object.keys(kind);
  need(value.length === names.length, "a structure has another number of fields");
  return Object.fromEntries(names.map((name, i) => [name, typed(value[i], kind[name])]));
}

// --- Hashes and signatures ---

const hash = (...parts) => {
  const h = crypto.createHash("sha256");
  for (const p of parts) h.update(p);
  return h.digest();
};

const WEAK = new Set([
  "00".repeat(32), "01" + "00".repeat(31), "ec" + "ff".repeat(30) + "7f", "ed" + "ff".repeat(30) + "7f",
  "ee" + "ff".repeat(30) + "7f", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
]);

function weak(key) {
  const y = Buffer.from(key);
  y[31] &= 0x7f;
  return WEAK.has(y.toString("hex"));
}

const SPKI = Buffer.from("302a300506032b6570032100", "hex");

function signed(key, data, signature) {
  if (weak(key)) return false;
  try {
    const k = crypto.createPublicKey({ key: Buffer.concat([SPKI, key]), format: "der", type: "spki" });
    return crypto.verify(null, data, k, signature);
  } catch {
    return false;
  }
}

function length(b) {
  const n = Buffer.alloc(4);
  n.writeUInt32BE(b.length);
  return n;
}

// --- The random function ECVRF-EDWARDS25519-SHA512-TAI of RFC 9381, on points [X, Y, Z, T] of RFC 8032 ---

const PRIME = 2n ** 255n - 19n, ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const ZERO = [0n, 1n, 1n, 0n];
const mod = (a) => ((a % PRIME) + PRIME) % PRIME;

function power(a, k) {
  let total = 1n;
  for (a = mod(a); k > 0n; k >>= 1n, a = (a * a) % PRIME) if (k & 1n) total = (total * a) % PRIME;
  return total;
}

const inverse = (a) => power(a, PRIME - 2n);
const CURVE_D = mod(-121665n * inverse(121666n)), ROOT = power(2n, (PRIME - 1n) / 4n); // ROOT is that of -1

function add(p, q) {
  const a = mod((p[1] - p[0]) * (q[1] - q[0])), b = mod((p[1] + p[0]) * (q[1] + q[0]));
  const c = mod(2n * p[3] * q[3] * CURVE_D), d = mod(2n * p[2] * q[2]);
  const e = b - a, f = d - c, g = d + c, h = b + a;
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
}

function times(k, p) {
  let total = ZERO;
  for (; k > 0n; k >>= 1n, p = add(p, p)) if (k & 1n) total = add(total, p);
  return total;
}

const minus = (p) => [mod(-p[0]), p[1], p[2], mod(-p[3])];
const isZero = (p) => p[0] === 0n && p[1] === p[2];
const little = (b) => BigInt("0x" + (Buffer.from(b).reverse().toString("hex") || "0"));

// point returns the point with an encoding, or null if there is none or another encoding of it is the usual one.
function point(data) {
  const sign = BigInt(data[31] >> 7), y = little(data) & ((1n << 255n) - 1n);
  if (y >= PRIME) return null;
  const square = mod((y * y - 1n) * inverse(CURVE_D * y * y + 1n));
  let x = power(square, (PRIME + 3n) / 8n);
  if (mod(x * x - square) !== 0n) x = mod(x * ROOT);
  if (mod(x * x - square) !== 0n || (x === 0n && sign)) return null;
  if ((x & 1n) !== sign) x = PRIME - x;
  return [x, y, 1n, mod(x * y)];
}

function encoded(p) {
  const i = inverse(p[2]), x = mod(p[0] * i), y = mod(p[1] * i);
  return Buffer.from((y | ((x & 1n) << 255n)).toString(16).padStart(64, "0"), "hex").reverse();
}

const sha512 = (...parts) => crypto.createHash("sha512").update(Buffer.concat(parts)).digest();
const BASE = point(encoded([0n, mod(4n * inverse(5n)), 1n, 0n]));

function toCurve(key, input) {
  for (let counter = 0; counter < 256; counter++) {
    const p = point(sha512(Buffer.from([3, 1]), key, input, Buffer.from([counter, 0])).subarray(0, 32));
    if (p && !isZero(times(8n, p))) return times(8n, p);
  }
  throw new Invalid("the input of the draw has no point on the curve");
}

// vrfOutput returns what the random function of a key gives for an input, after it has checked the proof.
function vrfOutput(key, input, proof) {
  const bad = "a proof of the draw is not valid";
  need(proof.length === 80, bad);
  const y = point(key), gamma = point(proof.subarray(0, 32));
  need(y && gamma && !isZero(times(8n, y)), bad);
  const c = little(proof.subarray(32, 48)), s = little(proof.subarray(48));
  need(s < ORDER, bad);
  const h = toCurve(key, input);
  const u = add(times(s, BASE), minus(times(c, y))), v = add(times(s, h), minus(times(c, gamma)));
  const challenge = sha512(Buffer.from([3, 2]), key, ...[h, gamma, u, v].map(encoded), Buffer.from([0]));
  need(challenge.subarray(0, 16).equals(proof.subarray(32, 48)), bad);
  return sha512(Buffer.from([3, 3]), encoded(times(8n, gamma)), Buffer.from([0]));
}

// --- The file ---

function unbase64(text) {
  need(typeof text === "string", "a text is missing");
  const data = Buffer.from(text, "base64");
  need(data.toString("base64") === text, "the file is not in its one spelling");
  return data;
}

function readFile(data) {
  need(data.length <= MAX_SIZE, "the file is too large"); // E1
  let payload, signatures, body;
  try {
    const envelope = JSON.parse(data.toString("latin1"));
    payload = unbase64(envelope.payload);
    signatures = envelope.signatures.map((s) => {
      need(/^ed25519:[0-9a-f]{64}$/.test(s.keyid), "a signature has no key");
      const signature = unbase64(s.sig);
      need(signature.length === 64, "a signature is not one");
      return [Buffer.from(s.keyid.slice(8), "hex"), signature];
    });
    body = unbase64(JSON.parse(payload.toString("latin1")).predicate.cbor);
  } catch (e) {
    throw e instanceof Invalid ? e : new Invalid("the file is not a certificate");
  }
  const s = readStatement(body);
  const subject = hash("synod/decision/3", s.council, s.question, s.answer, hash(s.instance)).toString("hex"); // E2
  const statement = '{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"decision","digest":{"sha256":"' +
    subject + '"}}],"predicateType":"https://synod.dev/certificate/v3","predicate":{"cbor":"' +
    body.toString("base64") + '"}}';
  const parts = signatures.map(([k, v]) => `{"keyid":"ed25519:${k.toString("hex")}","sig":"${v.toString("base64")}"}`);
  const file = `{"payloadType":"${PAYLOAD_TYPE}","payload":"${payload.toString("base64")}","signatures":[` +
    parts.join(",") + "]}\n";
  need(payload.equals(Buffer.from(statement)) && data.equals(Buffer.from(file)),
    "the file is not in its one spelling"); // E1
  return [s, payload, signatures];
}

const size = (text) => Buffer.byteLength(text);
const named = (...texts) => need(texts.every((t) => size(t) <= MAX_NAME), "a name is too long");

function checkEdges(edges, n) {
  let last = [-1n, -1n];
  for (const e of edges) {
    need(e.length === 2 && e[0] < e[1] && e[1] < BigInt(n), "an edge is not two seats, the smaller first");
    need(e[0] > last[0] || (e[0] === last[0] && e[1] > last[1]), "the edges are not each once and ascending");
    last = e;
  }
}

function checkTerms(t) { // K1
  const n = t.members.length;
  need(n >= 1 && n <= MAX_MEMBERS && t.f <= BigInt(n), "F or the number of members is out of range");
  need(t.members.some((m) => m.voter), "no member votes");
  need(["S", "L"].includes(t.faults), "the model of faults is unknown");
  need(["plurality", "majority", "supermajority", "protocol"].includes(t.rule.name), "the rule is unknown");
  need(t.members.every((m) => m.key.length === 32 && !weak(m.key)), "everybody can sign for a key");
  need(new Set(t.members.map((m) => m.key.toString("hex"))).size === n, "two members have one key");
  named(t.name, t.guarantee, t.protocol);
  for (const m of t.members) named(m.id, m.role, m.kind, m.adversary);
  need(size(t.parameters) <= MAX_PARAMETERS, "the parameters are too long");
  checkEdges(t.edges, n);
}

function checkDraw(t, draw) { // P1
  const n = BigInt(t.members.length), { size, f, beacons } = draw;
  need(size >= 1n && size <= n && size <= BigInt(MAX_COMMITTEE) && f < size,
    "size or F of the committee is out of range");
  need(beacons.length >= 1 && beacons.length <= MAX_BEACONS, "the number of beacons is out of range");
  need(beacons.every((b, i) => b < n && (i === 0 || beacons[i - 1] < b)),
    "the beacons are not members, each once, in ascending order");
  need(t.members.every((m) => m.voter), "a member of a council that draws committees has no vote");
  need(t.faults === "S" && t.edges.length === 0 && t.r === (size + 1n) / 2n && t.exact,
    "in a committee all hear all, and F bounds its members");
}

function readTerms(data) {
  const value = whole(data), pair = Array.isArray(value) && value.length === 2;
  const t = typed(pair ? value[0] : value, TERMS);
  checkTerms(t);
  t.draw = pair ? typed(value[1], DRAW) : null;
  if (t.draw) checkDraw(t, t.draw);
  return t;
}

// takePart replaces the members, edges and F of terms by those of the committee that the beacons' proofs draw.
function takePart(t, d, council) {
  need((t.draw !== null) === (d.draw !== undefined), "it has a draw without a rule for it, or reversely"); // P2
  if (!t.draw) return;
  need(d.draw.length === t.draw.beacons.length, "the draw does not have one proof of each beacon"); // P3
  const input = Buffer.concat([Buffer.from("synod/draw/2\0"), council, d.question, hash(d.instance)]);
  const outputs = t.draw.beacons.map((b, i) => vrfOutput(t.members[Number(b)].key, input, d.draw[i])); // P3
  const seed = hash("synod/seed/1\0", ...outputs);
  const tickets = t.members.map((m, i) => [hash("synod/ticket/1\0", seed, m.key), i]);
  tickets.sort((a, b) => Buffer.compare(a[0], b[0]));
  const seats = tickets.slice(0, Number(t.draw.size)).map((x) => x[1]).sort((a, b) => a - b);
  t.of = t.members.length;
  t.members = seats.map((i) => t.members[i]); // P4
  t.f = t.draw.f;
  for (let a = 0; a < seats.length; a++) {
    for (let b = a + 1; b < seats.length; b++) t.edges.push([BigInt(a), BigInt(b)]);
  }
}

function readStatement(body) {
  let value = whole(body), checks = [];
  if (Array.isArray(value) && value.length === 3) {
    const c = typed(value, CHECKED);
    need(c.domain === "synod/checks/1", "it names no checks");
    value = whole(c.statement);
    checks = c.checks;
    checkChecks(checks);
  }
  need(Array.isArray(value), "it is no statement");
  const s = value.length === 2 ? owned(value) : decided(typed(value, value.length === 11 ? DRAWN : DECISION));
  const n = s.members.length;
  need([s.council, s.question, s.answer].every((h) => h.length === 32), "a hash is not a SHA-256");
  named(s.instance, s.form);
  for (const m of s.members) {
    need([m.first, m.last].every((h) => h.length === 0 || h.length === 32), "the hash of an answer is not one");
  }
  need(s.kind === "owner" || checks.every((c) => c.kind !== "command"), "voters have run a command"); // C1
  s.checks = checks;
  if (s.merge) { // M1
    need(s.rule.support <= BigInt(n), "the rule asks for the support of more members than there are");
    need(s.form === "json" && s.rule.name !== "protocol" && s.merge.values.length === n &&
      s.merge.schema.length >= 1 && s.merge.schema.length <= 65536, "what was merged has not its form");
  }
  return s;
}

function checkChecks(checks) {
  need(checks.length >= 1 && checks.length <= MAX_CHECKS, "the number of checks is out of range"); // C1
  need(checks.every((c) => size(c.name) >= 1 && size(c.name) <= MAX_NAME), "the name of a check is none"); // C1
  need(new Set(checks.map((c) => c.name)).size === checks.length, "two checks have one name"); // C1
  need(checks.every((c) => ["cel", "schema", "regex", "command"].includes(c.kind)), "a check has another kind"); // C1
  need(checks.every((c) => c.hash.length === 32), "a check has no SHA-256 of its definition"); // C1
}

function decided(d) {
  need(d.domain === DOMAIN && d.kind === "roster", "it is not of version 3");
  const t = readTerms(d.terms), council = hash("synod/roster/2", hash(d.terms), d.rest);
  takePart(t, d, council);
  need(d.rest.length === 32 && d.votes.length === t.members.length, "the votes are not those of the members");
  need(d.votes.every((v) => [0, 64].includes(v.signature.length)), "a signature is not one");
  return {
    ...d, council, of: t.of, protocol: t.protocol, rule: t.rule, f: t.f,
    faults: t.faults, edges: t.edges, r: t.r, exact: t.exact, claim: t.guarantee,
    members: t.members.map((m, i) => ({ ...m, ...d.votes[i] })),
  };
}

function owned([statement, merge]) {
  const s = typed(statement, OWNED), n = s.members.length;
  need(s.domain === DOMAIN && s.kind === "owner", "it is not of version 3");
  need(n >= 1 && n <= MAX_MEMBERS && s.faults.f <= BigInt(n), "F or the number of members is out of range");
  need(["S", "L"].includes(s.faults.model), "the model of faults is unknown");
  need(s.owner.length === 32 && [0, 32].includes(s.journal.length), "a key or a digest is not one");
  need(!s.ledger || (s.ledger.root.length === 32 && s.ledger.size > 0n && size(s.ledger.log) <= MAX_NAME),
    "the head of the ledger is not one");
  named(s.protocol, s.exact, s.claim, s.rule.name);
  for (const m of s.members) {
    named(m.id, m.role, m.kind, m.adversary);
    need(m.key.length === 0 && m.signature.length === 0, "a member has a key while one owner signs for all");
  }
  need(size(s.parameters) <= MAX_PARAMETERS, "the parameters are too long");
  checkEdges(s.graph.edges, n);
  return {
    ...s, merge: merge === null ? null : typed(merge, MERGE), f: s.faults.f, faults: s.faults.model,
    edges: s.graph.edges, r: s.graph.r, exact: s.graph.exact,
  };
}

// --- The rules ---

function checkSigners(s, payload, signatures, proved, open) {
  const head = `DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `;
  const covered = Buffer.concat([Buffer.from(head), payload]);
  const owner = s.kind === "owner";
  const keys = owner ? [s.owner] : s.members.map((m) => m.key);
  let last = -1;
  for (const [key, signature] of signatures) {
    const at = keys.findIndex((k) => k.equals(key));
    need(at > last, "the signers are not members, each once, in the order of seats"); // S1
    if (!owner) {
      need(s.members[at].voter, "a member without a vote signs"); // S2
      need(s.merge ? s.merge.values[at].length > 0 : s.members[at].last.equals(s.answer),
        "a member signs an answer that is not its own"); // S3
    }
    need(signed(key, covered, signature), "a signature is not valid"); // S1
    last = at;
  }
  const k = BigInt(signatures.length);
  if (owner) {
    need(k === 1n, "the owner has not signed it");
    proved.push(`the owner of the key ${s.owner.toString("hex")} states all that follows`);
    return;
  }
  const n = BigInt(s.members.filter((m) => m.voter).length);
  if (s.claim === "agreement") {
    need(k >= (n + s.f) / 2n + 1n, "no quorum of voters signed it"); // Q1
    proved.push("no second certificate of version 3 of this run can name another answer, with at most " +
      `F = ${s.f} Byzantine voters, even if messages are late`);
  } else {
    need(k > s.f, "no more than F voters signed it"); // Q2
    open.push("that there is no second certificate of this run with another answer");
  }
  proved.push(`${k} of ${n} voters signed that they ended on this answer`);
  if (s.of) {
    proved.push(`the ${n} voters are those of the roster's ${s.of} members that were drawn for this run: ` +
      `${s.draw.length} beacons prove it, and the run has no other draw`);
    open.push(`that at most F = ${s.f} of those who were drawn are Byzantine`,
      "that who asked did not ask again until a draw was favourable");
  }
  checkVotes(s, keys);
}

function checkVotes(s, keys) {
  const scope = Buffer.concat([Buffer.from("synod/signature/2"), hash(s.instance), hash(...keys)]);
  for (const m of s.members) {
    if (m.signature.length === 0) {
      need(m.first.length + m.last.length === 0, "a member has answers that it has not signed"); // V1
      continue;
    }
    const vote = Buffer.concat([scope, Buffer.from("synod/vote/1"), s.council, s.question, length(m.first), m.first,
      length(m.last), m.last]);
    need(signed(m.key, vote, m.signature), "a member has not signed its answers"); // D1
  }
}

// tally returns how many answers are the answer, and the most that another one has.
function tally(answers, own) {
  const counts = new Map();
  for (const a of answers) if (a.length) counts.set(a.toString("hex"), (counts.get(a.toString("hex")) || 0) + 1);
  const mine = counts.get(own.toString("hex")) || 0;
  counts.delete(own.toString("hex"));
  return [mine, Math.max(0, ...counts.values())];
}

function checkCounts(s, proved, open) {
  const [support, second] = tally(s.members.map((m) => m.first), s.answer);
  need(s.support === undefined || s.support === BigInt(support), "the stated support is not that of the first answers");
  if (s.merge) { // M1
    s.members.forEach((m, i) => {
      const v = s.merge.values[i];
      need((v.length ? hash(v) : v).equals(s.merge.last ? m.last : m.first), "a value is not the answer of its member");
    });
    open.push("that the merge of these answers is the value");
    return;
  }
  if (s.kind === "owner") {
    const lead = support - second - 1, w = s.withstands;
    need(lead < 0 ? w === null : w && w.ignored === BigInt(lead) && w.changed === BigInt(lead >> 1),
      "what the answer withstands does not follow from the first answers");
  }
  need(BigInt(support) >= s.rule.support, "the rule asks for more support"); // T1
  const voters = s.members.filter((m) => m.voter);
  const [votes, other] = tally(voters.map((m) => m.last), s.answer);
  const enough = {
    majority: 2 * votes > voters.length, plurality: votes > other,
    supermajority: 3 * votes >= 2 * voters.length && votes > 0,
  }[s.rule.name] ?? votes > 0;
  need(enough, "the votes are not enough for the rule"); // T2
  proved.push(`${votes} of ${voters.length} voters ended on the answer (rule ${s.rule.name})`);
  const hidden = voters.filter((m) => m.signature.length === 0).length;
  if (hidden && s.kind === "roster") {
    open.push(`what ${hidden} of ${voters.length} voters ended on: their answers are not shown`);
  }
}

// robustness returns the largest r for which the graph is r-robust: over all pairs of disjoint sets that are not empty,
// the smallest of the larger number of neighbours that a node of one of them has outside it.
const known = new Map();

function robustness(n, edges) {
  if (edges.length === (n * (n - 1)) / 2) return (n + 1) >> 1;
  const name = n + ":" + edges.join(";");
  if (known.has(name)) return known.get(name);
  const near = new Array(n).fill(0);
  for (const [a, b] of edges) {
    near[a] |= 1 << Number(b);
    near[b] |= 1 << Number(a);
  }
  const all = 1 << n, reach = new Uint8Array(all), least = new Uint8Array(all);
  for (let set = 1; set < all; set++) {
    for (let i = 0; i < n; i++) {
      if (!((set >> i) & 1)) continue;
      let out = near[i] & ~set, count = 0;
      for (; out; out &= out - 1) count++;
      if (count > reach[set]) reach[set] = count;
    }
  }
  least[0] = 255; // of each set: the smallest reach of its subsets that are not empty
  for (let set = 1; set < all; set++) {
    least[set] = reach[set];
    for (let i = 0; i < n; i++) if ((set >> i) & 1) least[set] = Math.min(least[set], least[set & ~(1 << i)]);
  }
  let r = 255;
  for (let set = 1; set < all - 1; set++) r = Math.min(r, Math.max(reach[set], least[all - 1 - set]));
  known.set(name, r);
  return r;
}

const CLAIMS = {
  sac: (f, r) => (r >= 2n * f + 1n ? "4.3-strong" : r >= f + 1n ? "4.3" : "none"),
  "w-msr": (f, r) => (r >= 2n * f + 1n ? "convergence" : "validity"),
  decentllms: () => "agreement", "rotating-leader": () => "agreement", "fixed-leader": () => "agreement-crash",
  cascade: () => "supported",
};
for (const p of ["cp-wbft", "single", "majority", "weighted-majority", "self-consistency", "debate"]) {
  CLAIMS[p] = () => "none";
}

function checkGraph(s, proved, open) {
  const n = s.members.length;
  if (n <= EXACT_NODES || s.edges.length === (n * (n - 1)) / 2) { // G1
    const r = BigInt(robustness(n, s.edges));
    need(s.exact ? s.r === r : s.r <= r, "the graph has another robustness");
    proved.push(`the graph has ${s.edges.length} edges and robustness r = ${r}, computed again`);
  } else {
    open.push(`the robustness r = ${s.r} of the graph`);
  }
  if (s.claim === "none") open.push("any guarantee: none is claimed for this run");
  else if (!Object.hasOwn(CLAIMS, s.protocol)) open.push(`the guarantee ${JSON.stringify(s.claim)}`);
  else { // G2
    need(CLAIMS[s.protocol](s.f, s.r) === s.claim, "the protocol does not guarantee what is claimed");
    proved.push(`guarantee ${s.claim} of ${s.protocol} with F = ${s.f}, model ${s.faults}`);
  }
}

function verify(data) {
  const [s, payload, signatures] = readFile(data);
  const proved = [], open = ["that the answer is right", "that the named models gave the answers",
    "that the decision is in a ledger, and when it was made", "that the keys belong to those whom you think of"];
  checkSigners(s, payload, signatures, proved, open);
  checkCounts(s, proved, open);
  checkGraph(s, proved, open);
  if (s.checks.length) {
    proved.push(`${s.kind === "owner" ? "the owner states" : "each signer states"} that the answer passes the checks ` +
      "in code " + s.checks.map((c) => `${c.name} (${c.kind}, ${c.hash.toString("hex").slice(0, 12)}…)`).join(", "));
    open.push("that these checks are what their names say: compare the SHA-256 of their definitions");
  }
  const simulated = s.members.filter((m) => m.kind === "simulated").length;
  if (simulated) open.push(`anything about real models: ${simulated} of ${s.members.length} members were simulated`);
  return [proved, open];
}

function judge(data) {
  try {
    return ["VALID", ...verify(data)];
  } catch (e) {
    if (e instanceof Invalid) return ["INVALID " + e.message];
    throw e;
  }
}

function main(args) {
  if (args[0] === "--batch") {
    const lines = require("readline").createInterface({ input: process.stdin });
    lines.on("line", (line) => process.stdout.write(judge(Buffer.from(line.trim(), "base64"))[0] + "\n"));
    return;
  }
  const [verdict, proved, open] = judge(fs.readFileSync(args[0] || 0));
  console.log(verdict);
  if (!proved) process.exit(7);
  console.log(["proved:", ...proved.map((c) => "  - " + c), "not proved:", ...open.map((c) => "  - " + c)].join("\n"));
}

main(process.argv.slice(2));
