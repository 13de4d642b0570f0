// ---- The check, step by step (§4) ----

const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
const PREDICATE_TYPE = "https://certirag.dev/attestation/answer/v2";
const PAYLOAD_TYPE = "application/vnd.in-toto+json";
const REVIEW_TYPE = "application/vnd.certirag.review+json";

/** Run one step: whatever it refuses without a code of its own is refused under `code`. */
function strictly(code, what, step) {
  try {
    return step();
  } catch (stopped) {
    if (stopped instanceof SyntaxError) throw new Refused(code, `${what} is not strict JSON: ${stopped.message}.`);
    throw stopped;
  }
}

/** Steps `json` to `log-proof`; with a `memo`, one byte differs from what is known. */
function openFile(bytes, memo) {
  const file = strictly("json", "The file", () => (memo === null || memo.known === null
    ? readJson(decodeText(bytes)) : readJson(memo.known.textWith(bytes, memo.at), memo.known)));
  if (!(file instanceof Map)) throw new Refused("json", "The file is not a JSON object.");
  if (!file.has("certificate") || !file.has("log")) {
    throw new Refused("export", "This is not an export: it needs the keys certificate and log.");
  }
  const badEnvelope = misfit("Envelope", file.get("certificate"));
  if (badEnvelope !== "") throw new Refused("envelope", "The certificate is malformed.", badEnvelope);
  const envelope = plain(file.get("certificate"));
  if (envelope.payloadType !== PAYLOAD_TYPE || envelope.signatures.length !== 1) {
    throw new Refused("envelope", "The certificate is of another type, or has not exactly one signature.");
  }
  const badProof = misfit("LogProof", file.get("log"));
  if (badProof !== "") throw new Refused("log-proof", "The log's proof is malformed.", badProof);
  return { file, envelope, proof: plain(file.get("log")) };
}

/** Steps `untrusted-key` to `record`. */
async function openStatement(envelope, ring) {
  const { payload, key } = await openEnvelope(envelope, PAYLOAD_TYPE, ring.keys);
  const statement = strictly("payload", "The signed payload", () => readJson(decodeText(payload)));
  const keys = ["_type", "subject", "predicateType", "predicate"];
  if (!(statement instanceof Map) || statement.size !== keys.length || !keys.every((name) => statement.has(name))
    || statement.get("_type") !== STATEMENT_TYPE || statement.get("predicateType") !== PREDICATE_TYPE) {
    throw new Refused("payload", "The signed payload is no in-toto statement of this type and version.");
  }
  const predicate = statement.get("predicate");
  const bad = misfit("Record", predicate);
  if (bad !== "") throw new Refused("record", "The signed record is malformed.", bad);
  return { payload, key, predicate, subject: statement.get("subject"), record: plain(predicate) };
}

/** Step `readable`. */
function requireReadable(file, predicate) {
  const differs = (name) => new Refused("readable", "The readable part differs from the signed one.", name);
  if (file.size !== predicate.size + (file.has("review") ? 3 : 2) || predicate.has("review")) throw differs("");
  for (const [name, part] of predicate) {
    if (!file.has(name) || !alike(part, file.get(name))) throw differs(name);
  }
}

/** Steps `leaf` to `commitment`, and the range of the log's key: an entry of one kind and its content. */
async function requireLogged(proof, kind, content, statement, ring) {
  const leaf = strictly("leaf", "The log's leaf", () => {
    if (/[^\u0000-\u007f]/.test(proof.leaf)) throw new SyntaxError("it is not ASCII");
    return readJson(decodeText(utf8(proof.leaf)));
  });
  const bad = misfit("Leaf", leaf);
  if (bad !== "") throw new Refused("leaf", "The log's leaf is malformed.", bad);
  const entry = plain(leaf);
  if (entry.kind !== kind || entry.trace_id !== statement.record.trace_id) {
    throw new Refused("leaf", "The log's leaf is of another entry.");
  }
  const checkpoint = await openCheckpoint(proof.checkpoint, ring);
  if (checkpoint.origin !== entry.origin) throw new Refused("checkpoint", "Leaf and checkpoint are of two logs.");
  if (ring.origin !== null && checkpoint.origin !== ring.origin) {
    throw new Refused("checkpoint", "The trust file is for another log.");
  }
  const index = BigInt(entry.index);
  const leafHash = await sha256(joined(new Uint8Array([0]), utf8(proof.leaf)));
  if (proof.path.length > 64 || !proof.path.every((step) => HEX_32.test(step))
    || !(await leadsToRoot(index, checkpoint.size, leafHash, proof.path.map(fromHex), checkpoint.root))) {
    throw new Refused("inclusion", "The entry is not in the log that the checkpoint signs.");
  }
  if (!HEX_32.test(proof.salt) || entry.commit !== (await hmacHex(fromHex(proof.salt), content))) {
    throw new Refused("commitment", "The log's entry speaks of another content.");
  }
  if ((kind === "answer" && !inRange(statement.key, index)) || !inRange(checkpoint.key, checkpoint.size - 1n)) {
    throw new Refused("key-range", "A key was not good for this entry of the log.");
  }
  return { entry, checkpoint, detail: leaf.get("detail") };
}

/** Step `review` (§13): what a reviewer decided, or null where the export has no such part. */
async function requireReviewed(file, statement, answer, ring) {
  if (!file.has("review")) return null;
  const refuse = (why) => {
    throw new Refused("review", `What a reviewer signed does not hold: ${why}`);
  };
  try {
    if (misfit("Countersigned", file.get("review")) !== "") refuse("it is malformed.");
    const { certificate: envelope, log } = plain(file.get("review"));
    if (envelope.payloadType !== REVIEW_TYPE || envelope.signatures.length !== 1) {
      refuse("it is of another type, or has not exactly one signature.");
    }
    const content = fromBase64(envelope.payload);
    if (content === null) refuse("its payload is not canonical base64.");
    const { entry, detail } = await requireLogged(log, "review", content, statement, ring);
    const key = await pinnedKey(detail.get("public_key"));
    await openEnvelope(envelope, REVIEW_TYPE, new Map([[key.keyid, key]]));
    const stated = readJson(decodeText(content));
    if (misfit("Review", stated) !== "") refuse("it is malformed.");
    const review = plain(stated);
    const target = detail.get("target");
    if (detail.size !== 4 || detail.get("decision") !== review.decision || detail.get("reviewer") !== review.reviewer) {
      refuse("the log's entry says something else.");
    }
    if (!(target instanceof Numeral) || !target.whole || target.value !== answer.index || entry.index <= answer.index
      || entry.origin !== answer.origin || review.trace_id !== statement.record.trace_id
      || review.certificate_sha256 !== (await sha256Hex(statement.payload))) {
      refuse("it is of another answer.");
    }
    return review;
  } catch (stopped) {
    if (stopped instanceof Refused && stopped.code === "review") throw stopped;
    if (stopped instanceof Refused) return refuse(stopped.reason);
    if (stopped instanceof SyntaxError) return refuse(stopped.message);
    throw stopped;
  }
}

/** All steps in their order. `memo` keeps what one payload and signature were found to be. */
async function requireSound(bytes, ring, memo = null) {
  const { file, envelope, proof } = openFile(bytes, memo);
  const [{ keyid, sig }] = envelope.signatures;
  const same = memo !== null && memo.statement !== null
    && memo.payload === envelope.payload && memo.sig === sig && memo.keyid === keyid;
  const statement = same ? memo.statement : await openStatement(envelope, ring);
  if (memo !== null && memo.statement === null) {
    Object.assign(memo, { payload: envelope.payload, sig, keyid, statement });
  }
  requireReadable(file, statement.predicate);
  const subject = await subjectOf(statement.record);
  if (subject === null || !alike(subject, statement.subject)) {
    throw new Refused("subject", "The statement's subject is not the record's answer and sources.");
  }
  const { entry, checkpoint } = await requireLogged(proof, "answer", statement.payload, statement, ring);
  await requireDerivable(statement.record);
  const review = await requireReviewed(file, statement, entry, ring);
  return { record: statement.record, keyid: statement.key.keyid, entry, checkpoint, review };
}

/** The documents, by id, whose attached evidence stands in none of today's files. */
function staleDocuments(record, sources) {
  const chunks = new Map(record.retrieval.chunks.map((chunk) => [chunk.chunk_id, chunk]));
  const stale = new Map();
  for (const result of record.verification) {
    for (const ref of result.best_evidence) {
      const chunk = chunks.get(ref.chunk_id);
      if (!sources.has(chunk.source.sha256)) stale.set(chunk.doc_id, chunk.source.url_or_path || chunk.doc_id);
    }
  }
  return stale;
}

const VERSIONS = "Chrome or Edge 137, Firefox 130, Safari 17 or newer";

/** Can this browser check at all? Answers of the algorithms to known questions (RFC 8032 §7.1). */
async function requireBrowser() {
  const unsupported = (what) => new Refused("unsupported", `This browser cannot check: it has no ${what}. Use ${VERSIONS}.`);
  if (!globalThis.crypto?.subtle) throw unsupported("Web Crypto on this page");
  const key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
  const signature = fromHex("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b");
  const changed = signature.slice();
  changed[0] ^= 1;
  try {
    const pinned = await pinnedKey(key);
    const right = await holds(pinned, signature, new Uint8Array(0));
    const wrong = await holds(pinned, changed, new Uint8Array(0));
    const digest = await sha256Hex("abc");
    if (right !== true || wrong !== false || !digest.startsWith("ba7816bf8f01cfea")) throw unsupported("sound Ed25519");
  } catch (stopped) {
    if (stopped instanceof Refused && stopped.code === "unsupported") throw stopped;
    throw unsupported("Ed25519 in Web Crypto");
  }
}

const NOT_CHECKED = new Set(["no-key", "key", "trust", "unsupported", "internal"]);

function refusal(stopped) {
  if (!(stopped instanceof Refused)) {
    const why = `The check itself failed (${String(stopped?.message ?? stopped).slice(0, 200)}).`;
    return { verdict: "CANNOT CHECK", code: "internal", reason: why, quote: "" };
  }
  const verdict = NOT_CHECKED.has(stopped.code) ? "CANNOT CHECK" : "TAMPERED";
  return { verdict, code: stopped.code, reason: stopped.reason, quote: stopped.quote };
}

/**
 * Check one export. `pins` is {keys: [hex]} or {trust: Uint8Array, root: hex}; `sources` the SHA-256
 * of today's source files (an array of hex), left out where there are none to compare with. The
 * verdict is VALID, STALE, TAMPERED or CANNOT CHECK. Never throws.
 */
async function checkExport(bytes, pins, sources = null) {
  try {
    await requireBrowser();
    const ring = await openPins(pins);
    const sound = await requireSound(bytes, ring);
    const found = {
      ...sound, index: sound.entry.index, origin: sound.entry.origin, at: sound.entry.at, size: String(sound.checkpoint.size),
    };
    if (sources !== null) {
      const stale = staleDocuments(sound.record, new Set(sources));
      if (stale.size > 0) {
        return { ...found, verdict: "STALE", code: "source", stale,
          quote: "",
          reason: "The record is sound, but evidence stands in a file that is not among today's, unchanged." };
      }
    }
    return { ...found, verdict: "VALID", code: "", quote: "", reason: "The record is signed, logged and unchanged, and its states follow from its own figures." };
  } catch (stopped) {
    return refusal(stopped);
  }
}

const AT_ONCE = 64;

/**
 * Check the export once for each single bit from `first` to before `last` turned over, by the same
 * steps. Returns how many were tried, which bits were accepted, and a count per code.
 */
async function checkMany(bytes, pins, first = 0, last = bytes.length * 8) {
  await requireBrowser();
  const ring = await openPins(pins);
  const memo = { known: null, at: 0, statement: null };
  await requireSound(bytes, ring, memo); // what is flipped is sound: otherwise this throws
  memo.known = new Known(bytes);
  const codes = {};
  const accepted = [];
  const flipped = bytes.slice();
  const settle = (bit) => (code) => {
    codes[code] = (codes[code] ?? 0) + 1;
    if (code === "") accepted.push(bit);
  };
  let running = [];
  for (let bit = first; bit < last; bit += 1) {
    memo.at = bit >> 3;
    flipped[memo.at] ^= 1 << (bit & 7);
    // Everything up to the first wait runs here, and reads `flipped` whole.
    running.push(requireSound(flipped, ring, memo).then(() => "", (stopped) => refusal(stopped).code).then(settle(bit)));
    flipped[memo.at] = bytes[memo.at];
    if (running.length === AT_ONCE) {
      await Promise.all(running);
      running = [];
    }
  }
  await Promise.all(running);
  return { tried: last - first, accepted, codes };
}

window.checkExport = checkExport;
window.checkMany = checkMany;
window.checkerShapes = () => ({ ...SHAPES });
