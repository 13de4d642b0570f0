// ---- Bytes, keys, signatures and the log's proof (§1 to §3) ----

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SIX_BITS = new Int8Array(0x10000).fill(-1); // by UTF-16 unit
for (let i = 0; i < 64; i += 1) SIX_BITS[BASE64.charCodeAt(i)] = i;

/** Return the bytes of canonical base64, or null. */
function fromBase64(text) {
  if (text.length % 4 !== 0) return null;
  const pad = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - pad);
  const whole = pad === 0 ? text.length : text.length - 4;
  let to = 0;
  for (let i = 0; i < whole; i += 4) {
    const a = SIX_BITS[text.charCodeAt(i)];
    const b = SIX_BITS[text.charCodeAt(i + 1)];
    const c = SIX_BITS[text.charCodeAt(i + 2)];
    const d = SIX_BITS[text.charCodeAt(i + 3)];
    if ((a | b | c | d) < 0) return null;
    bytes[to] = (a << 2) | (b >> 4);
    bytes[to + 1] = ((b & 15) << 4) | (c >> 2);
    bytes[to + 2] = ((c & 3) << 6) | d;
    to += 3;
  }
  if (pad === 0) return bytes;
  const a = SIX_BITS[text.charCodeAt(whole)];
  const b = SIX_BITS[text.charCodeAt(whole + 1)];
  const c = pad === 1 ? SIX_BITS[text.charCodeAt(whole + 2)] : 0;
  const unused = pad === 1 ? c & 3 : b & 15; // bits behind the last byte, which must be zero
  if ((a | b | c) < 0 || unused !== 0) return null;
  bytes[to] = (a << 2) | (b >> 4);
  if (pad === 1) bytes[to + 1] = ((b & 15) << 4) | (c >> 2);
  return bytes;
}

const HEX_32 = /^[0-9a-f]{64}$/;

/** Return the bytes of an even number of lower-case hex digits, which the caller has checked. */
function fromHex(text) {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const utf8 = (text) => new TextEncoder().encode(text);

function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const sameBytes = (one, other) => one.length === other.length && one.every((byte, i) => byte === other[i]);

async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

const sha256Hex = async (of) => toHex(await sha256(typeof of === "string" ? utf8(of) : of));

async function hmacHex(key, bytes) {
  const how = { name: "HMAC", hash: "SHA-256" };
  const held = await crypto.subtle.importKey("raw", key, how, false, ["sign"]);
  return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", held, bytes)));
}

// The y of every point of order 1, 2, 4 or 8, little-endian, canonical and not, without its sign
// bit: under such a key a signature can hold for any message.
const SMALL_ORDER = new Set([
  "00".repeat(32),
  `01${"00".repeat(31)}`,
  `ec${"ff".repeat(30)}7f`,
  `ed${"ff".repeat(30)}7f`,
  `ee${"ff".repeat(30)}7f`,
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
]);

/**
 * Return a key pinned by 64 hex digits: its bytes, its id, the handle. Refused `key` if none; one of
 * small order is null where `lenient`, for it is as if it were not pinned.
 */
async function pinnedKey(hex, lenient = false) {
  if (typeof hex !== "string" || !HEX_32.test(hex)) {
    throw new Refused("key", "A public key is 64 lower-case hex digits.");
  }
  const raw = fromHex(hex);
  const unsigned = raw.slice();
  unsigned[31] &= 0x7f;
  if (SMALL_ORDER.has(toHex(unsigned))) {
    if (lenient) return null;
    throw new Refused("key", "This public key is of small order: anybody could sign for it.");
  }
  try {
    const handle = await crypto.subtle.importKey("raw", raw, { name: "Ed25519" }, false, ["verify"]);
    return { raw, hex, keyid: await sha256Hex(raw), handle };
  } catch {
    throw new Refused("key", "The browser refuses this public key.");
  }
}

const holds = (key, signature, message) =>
  crypto.subtle.verify({ name: "Ed25519" }, key.handle, signature, message);

/** The pre-authentication encoding of DSSE v1. */
function preAuthentication(type, payload) {
  return joined(utf8(`DSSEv1 ${utf8(type).length} ${type} ${payload.length} `), payload);
}

/** Return the payload of an envelope of this type that one of `keys` (by id) signed. */
async function openEnvelope(envelope, type, keys) {
  const { keyid, sig } = envelope.signatures[0];
  const key = keys.get(keyid);
  if (key === undefined) {
    throw new Refused("untrusted-key", "It is signed by a key that is not pinned here.", keyid);
  }
  const payload = fromBase64(envelope.payload);
  const signature = fromBase64(sig);
  if (payload === null || signature === null) {
    throw new Refused("base64", "Payload or signature is not canonical base64.");
  }
  if (signature.length !== 64 || !(await holds(key, signature, preAuthentication(type, payload)))) {
    throw new Refused("signature", "The signature does not match the signed bytes.");
  }
  return { payload, key };
}

const ORIGIN = /^[a-z0-9][a-z0-9.-]{0,62}(?:\/[a-z0-9._-]{1,63}){1,3}$/;
const NOTE = /^([^\n]*)\n(0|[1-9][0-9]*)\n([A-Za-z0-9+/=]*)\n\n\u2014 ([^\n ]*) ([A-Za-z0-9+/=]*)\n$/;
const TRUST_TYPE = "application/vnd.certirag.trust+json";

/** Return the ring of keys that the pins name: `{keys: [hex]}` or `{trust: bytes, root: hex}`. */
async function openPins(pins) {
  if (pins?.trust !== undefined && pins.trust !== null) return openTrust(pins.trust, pins.root);
  if (!Array.isArray(pins?.keys)) {
    throw new Refused("no-key", "No public key is pinned, so nothing can be checked.");
  }
  const keys = new Map();
  for (const hex of pins.keys) {
    const key = await pinnedKey(hex, true);
    if (key !== null) keys.set(key.keyid, key);
  }
  return { keys, origin: null };
}

async function openTrust(bytes, rootHex) {
  const root = await pinnedKey(rootHex);
  const refuse = (why) => {
    throw new Refused("trust", `The trust file cannot be used: ${why}.`);
  };
  try {
    const envelope = readJson(decodeText(bytes));
    if (misfit("Envelope", envelope) !== "") refuse("it is no signed envelope");
    const named = plain(envelope);
    if (named.payloadType !== TRUST_TYPE || named.signatures.length !== 1) refuse("it is of another type");
    const { payload } = await openEnvelope(named, TRUST_TYPE, new Map([[root.keyid, root]]));
    const stated = readJson(decodeText(payload));
    if (misfit("Trust", stated) !== "") refuse("its fields are not as they should be");
    const trust = plain(stated);
    const keys = new Map();
    for (const entry of trust.keys) {
      const key = await pinnedKey(entry.public_key);
      if (key.keyid !== entry.keyid || keys.has(key.keyid)) refuse("a key is misnamed or named twice");
      const until = entry.until_index;
      if (entry.from_index < 0 || (until !== null && until < 0)) refuse("a key's range begins or ends before 0");
      keys.set(key.keyid, { ...key, from: BigInt(entry.from_index), until: until === null ? null : BigInt(until) });
    }
    return { keys, origin: trust.origin, version: trust.version };
  } catch (stopped) {
    if (stopped instanceof Refused && stopped.code === "trust") throw stopped;
    if (stopped instanceof Refused) refuse(stopped.reason.replace(/\.$/, ""));
    if (stopped instanceof SyntaxError) refuse(stopped.message);
    throw stopped;
  }
}

const inRange = (key, index) =>
  key.from === undefined || (key.from <= index && (key.until === null || index < key.until));

/** Return the checkpoint of a signed note that one of `ring`'s keys signed. */
async function openCheckpoint(text, ring) {
  const refuse = (why) => {
    throw new Refused("checkpoint", why);
  };
  const found = NOTE.exec(text);
  if (found === null) refuse("The checkpoint is not a signed note of one signature.");
  const [, origin, size, root64, name, signed64] = found;
  const root = fromBase64(root64);
  const signed = fromBase64(signed64);
  if (size.length > 16 || BigInt(size) >= 2n ** 53n) refuse("The checkpoint's size is too large.");
  if (!ORIGIN.test(origin) || name !== origin) refuse("The checkpoint's origin is malformed.");
  if (root === null || root.length !== 32) refuse("The checkpoint's root is malformed.");
  if (signed === null || signed.length !== 68) refuse("The checkpoint's signature is malformed.");
  const body = utf8(`${origin}\n${size}\n${root64}\n`);
  for (const key of ring.keys.values()) {
    const hash = await sha256(joined(utf8(origin), new Uint8Array([0x0a, 0x01]), key.raw));
    if (!sameBytes(hash.slice(0, 4), signed.slice(0, 4))) continue;
    if (await holds(key, signed.slice(4), body)) return { origin, size: BigInt(size), root, key };
  }
  return refuse("The checkpoint is not signed by a pinned key.");
}

const nodeHash = (left, right) => sha256(joined(new Uint8Array([1]), left, right));

/** RFC 9162 §2.1.3.2: does the path lead from the leaf's hash to the root? */
async function leadsToRoot(index, size, leafHash, path, root) {
  if (index < 0n || index >= size) return false;
  let number = index;
  let last = size - 1n;
  let hash = leafHash;
  for (const step of path) {
    if (last === 0n) return false;
    if ((number & 1n) === 1n || number === last) {
      hash = await nodeHash(step, hash);
      while ((number & 1n) === 0n && number !== 0n) {
        number >>= 1n;
        last >>= 1n;
      }
    } else {
      hash = await nodeHash(hash, step);
    }
    number >>= 1n;
    last >>= 1n;
  }
  return last === 0n && sameBytes(hash, root);
}
