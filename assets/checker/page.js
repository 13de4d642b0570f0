// ---- The page: what a person gives and sees ----
// Text from a file reaches the page only through `quoted` and `shown`, as text, inside a border.

const one = (selector) => document.querySelector(selector);

// Characters that are drawn as nothing or turn text around, and marks that look like a verdict's.
const UNSEEN = /[\p{Cf}\p{Cc}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
const MARKS = /[\u2713\u2714\u2705\u2611\u{1f5f9}\u{1f5f8}\u221a\u237b\u2717\u2718\u274c\u274e\u2612\u26a0\u{1f6e1}\u{1f512}\u{1f7e2}\u{1f7e9}\u{1f49a}\u{1f50f}\u{1f510}\u{1f3c5}\u{1f396}\u2b55\u{1f197}\u{1f44d}\u{1f4af}]/gu;
const MOST_SHOWN = 20000;

function shown(text) {
  const cut = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)} … (${text.length - MOST_SHOWN} more characters)` : text;
  const spell = (point) => `⟨U+${point.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  return cut.replace(UNSEEN, (point) => (point === "\n" || point === "\t" ? point : spell(point))).replace(MARKS, spell);
}

function node(tag, kind = "", ...inside) {
  const made = document.createElement(tag);
  if (kind !== "") made.className = kind;
  made.append(...inside);
  return made;
}

/** Text from the file: never markup, in a frame of its own. */
function quoted(text, kind = "", tag = "blockquote") {
  const made = node(tag, `quoted ${kind}`.trim());
  made.textContent = shown(text);
  return made;
}

const icon = (name) => one(`#icon-${name}`).content.firstElementChild.cloneNode(true);
const LOOK = {
  VALID: "valid", STALE: "stale", TAMPERED: "tampered", "CANNOT CHECK": "none",
  VERIFIED: "valid", UNVERIFIED: "none", BLOCKED: "tampered",
};
const STATE_WORDS = { VERIFIED: "Verified", UNVERIFIED: "Not verified", BLOCKED: "Blocked: contradicted" };
const RULE_WORDS = {
  evidence: "evidence stands where it is quoted", entailed: "evidence entails the claim",
  not_contradicted: "nothing scored contradicts it", numbers: "numbers are in the evidence",
  well_formed: "one checkable statement", sound_measurement: "the measurement is whole and sound",
  isolated: "the verifier saw claim and evidence only", class_minimum: "enough evidence for its kind",
  load_bearing: "without the evidence it does not hold", uncontested: "no other document opposes it",
  planted_errors: "errors planted in it were caught",
};
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// ---- What was given ----

const given = { file: null, name: "", trust: null, trustName: "", sources: null };
let asked = 0;

const PEM = /^-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----$/;
const KEY_PREFIX = "302a300506032b6570032100"; // RFC 8410: an Ed25519 SubjectPublicKeyInfo

/** Read the pasted keys, PEM or hex, as hex digits. Refused `key` for anything else. */
function keysIn(text) {
  const parts = text.trim().match(/-----BEGIN[\s\S]*?-----END[^\n]*-----|\S+/g) ?? [];
  return parts.map((part) => {
    const pem = PEM.exec(part);
    if (pem === null) {
      if (/^[0-9a-fA-F]{64}$/.test(part)) return part.toLowerCase();
      throw new Refused("key", "This is no public key: 64 hex digits, or a PEM block that begins with BEGIN PUBLIC KEY.");
    }
    const bytes = fromBase64(pem[1].replace(/\s/g, ""));
    const hex = bytes === null ? "" : toHex(bytes);
    if (hex.length !== 88 || !hex.startsWith(KEY_PREFIX)) throw new Refused("key", "This PEM block is no Ed25519 public key.");
    return hex.slice(KEY_PREFIX.length);
  });
}

const underTrust = () => one("#by-trust").checked;

async function pinsGiven() {
  const keys = keysIn(one("#key").value);
  if (keys.length === 0) {
    throw new Refused("no-key", "No public key is given, so nothing can be checked. None is taken from the export.");
  }
  for (const hex of keys) await pinnedKey(hex);
  if (!underTrust()) return { keys };
  if (given.trust === null || keys.length !== 1) {
    throw new Refused("no-key", "Give the trust file and the one root key that signed it.");
  }
  return { trust: given.trust, root: keys[0] };
}

async function bytesOf(file, most = Infinity) {
  return new Uint8Array(await (file.size > most ? file.slice(0, most) : file).arrayBuffer());
}

const takes = {
  export: async ([file]) => {
    given.file = await bytesOf(file, MOST_BYTES + 1);
    given.name = file.name;
    one("#export-name").textContent = shown(file.name);
  },
  key: async ([file]) => {
    one("#key").value = new TextDecoder().decode(await bytesOf(file, 65536)).trim();
  },
  trust: async ([file]) => {
    given.trust = await bytesOf(file, MOST_BYTES + 1);
    one("#trust-name").textContent = shown(file.name);
  },
  sources: async (files) => {
    const read = [];
    for (const file of files) read.push(await sha256Hex(await bytesOf(file)));
    given.sources = [...(given.sources ?? []), ...read];
    one("#sources-name").textContent = `${plural(given.sources.length, "file")} read`;
    one("#sources-clear").hidden = false;
  },
};

async function take(what, files) {
  if (files.length === 0) return;
  try {
    await takes[what](files);
  } catch (stopped) {
    asked += 1;
    showVerdict({ verdict: "CANNOT CHECK", code: "file", reason: "A file could not be read. Choose it again." });
    return;
  }
  await check();
  if (what === "export") one("#verdict").scrollIntoView({ block: "nearest" });
}

async function check() {
  asked += 1;
  const mine = asked;
  await showPins();
  if (given.file === null) {
    if (mine === asked) showNothing();
    return;
  }
  let found;
  try {
    found = await checkExport(given.file, await pinsGiven(), given.sources);
  } catch (stopped) {
    found = refusal(stopped);
  }
  if (mine !== asked) return; // something else was given in the meantime
  try {
    showVerdict(found);
  } catch (stopped) {
    showVerdict(refusal(stopped));
  }
}

async function showPins() {
  const box = one("#pinned");
  const text = one("#key").value;
  const lines = [];
  if (text.trim() !== "") {
    try {
      for (const hex of keysIn(text)) {
        const key = await pinnedKey(hex);
        lines.push(node("p", "small", underTrust() ? "Root key, fingerprint:" : "Fingerprint of this key:"), fingerprint(key.keyid));
      }
    } catch (stopped) {
      lines.push(node("p", "small wrong", refusal(stopped).reason));
    }
  }
  box.replaceChildren(...lines);
}

/** 64 hex digits in groups, which are copied as one word. */
function fingerprint(hex) {
  const groups = hex.match(/.{1,8}/g).map((group) => node("span", "", group));
  return node("code", "fingerprint", ...groups);
}

// ---- What was found ----

function showNothing() {
  const box = one("#verdict");
  box.className = "verdict none";
  box.replaceChildren(icon("none"), node("div", "", node("h2", "", "No verdict yet"),
    node("p", "", "Choose an export, and a public key that you got from somewhere else than the export.")));
  one("#found").replaceChildren();
}

function showVerdict(found) {
  const box = one("#verdict");
  const look = LOOK[found.verdict];
  box.className = `verdict ${look}`;
  const word = found.verdict === "CANNOT CHECK" ? "Cannot check" : found.verdict;
  const said = node("div", "", node("h2", "", word), node("p", "", found.reason));
  if (found.quote) said.append(node("p", "small", "In the file: ", quoted(found.quote, "inline", "span")));
  if (found.code !== "") said.append(node("p", "small", "Code: ", node("code", "", found.code)));
  if (found.verdict === "TAMPERED") {
    said.append(node("p", "small", "Nothing that this file says is shown, because none of it can be trusted."));
  }
  box.replaceChildren(icon(look), said);
  const sound = found.verdict === "VALID" || found.verdict === "STALE";
  one("#found").replaceChildren(...(sound ? [facts(found), answer(found), ...claimsOf(found)] : []));
}

function facts(found) {
  const rows = node("dl", "facts");
  const row = (name, ...value) => rows.append(node("dt", "", name), node("dd", "", ...value));
  row("Signed by", fingerprint(found.keyid), node("p", "small", "Compare it with the fingerprint that the owner of the log gave you."));
  if (found.checkpoint.key.keyid !== found.keyid) row("Log signed by", fingerprint(found.checkpoint.key.keyid));
  row("Log", quoted(found.origin, "inline", "span"));
  row("Entry", `index ${found.index}, in a log of ${plural(Number(found.size), "entry").replace("entrys", "entries")}`);
  row("Logged at", quoted(found.at, "inline", "span"));
  row("Trace", quoted(found.record.trace_id, "inline", "span"));
  if (found.review !== null) {
    const done = found.review.decision === "release" ? "Let leave" : "Refused";
    row("Reviewed", `${done} by `, quoted(found.review.reviewer, "inline", "span"), " at ", quoted(found.review.at, "inline", "span"),
      node("p", "small", "Reason given: ", quoted(found.review.reason, "inline", "span")),
      node("p", "small", "A reviewer lets supported claims leave, or not, and gives none of them its state."));
  }
  if (found.verdict === "STALE") {
    const names = node("ul", "plain", ...[...found.stale.values()].map((name) => node("li", "", quoted(name, "inline", "span"))));
    row("Stale", "Not among today's files, or changed since:", names);
  } else {
    row("Sources", given.sources === null ? "Not compared: no source files were given."
      : "Every document that evidence stands in is among today's files, unchanged.");
  }
  return node("section", "card", node("h2", "", "Proof"), rows);
}

function answer(found) {
  const { record } = found;
  const { decision, verified, unverified, blocked } = record.answer;
  const counts = `Decision: ${decision}. ${verified} verified, ${unverified} not verified, ${blocked} blocked.`;
  return node("section", "card", node("h2", "", "Question"), quoted(record.question),
    node("p", "", counts), node("p", "small", "Policy: ", quoted(record.policy.name, "inline", "span")));
}

function claimsOf({ record, stale = new Map() }) {
  const chunks = new Map(record.retrieval.chunks.map((chunk) => [chunk.chunk_id, chunk]));
  const results = new Map(record.verification.map((result) => [result.claim_id, result]));
  return record.claim_ir.claims.map((claim, i) => {
    const decision = record.decisions[i];
    const state = decision.render_state;
    const refs = results.get(claim.id).best_evidence;
    const old = refs.some((ref) => stale.has(chunks.get(ref.chunk_id).doc_id));
    const look = old && state === "VERIFIED" ? "stale" : LOOK[state];
    const chip = node("p", `chip ${look}`, icon(look), old ? `${STATE_WORDS[state]} then, source changed since` : STATE_WORDS[state]);
    const card = node("section", `card claim ${look}`,
      node("div", "claim-head", node("h2", "", `Claim ${i + 1} of ${record.claim_ir.claims.length}`), chip),
      quoted(claim.text, "claim-text"));
    card.append(node("h3", "", refs.length === 0 ? "No evidence is attached" : "Evidence, quoted"));
    for (const ref of refs) card.append(evidence(chunks.get(ref.chunk_id), ref));
    card.append(findings(decision));
    return card;
  });
}

function evidence(chunk, ref) {
  const span = chunk.spans.find((each) => each.span_id === ref.span_id);
  const { title, section, page, url_or_path: path, sha256: digest } = chunk.source;
  const where = [title, section, page === null ? "" : `page ${page}`, path].filter((part) => part !== "").join(" · ");
  const place = node("figcaption", "small", quoted(where, "place", "span"), node("span", "digest", "SHA-256 ", quoted(digest.slice(0, 16), "place", "span"), "…"));
  return node("figure", "", quoted(span.sentence), place);
}

function findings(decision) {
  const passed = decision.findings.filter((finding) => finding.passed).length;
  const box = node("details", "", node("summary", "", `Rules: ${passed} of ${decision.findings.length} passed`));
  box.open = passed < decision.findings.length;
  const list = node("ul", "rules");
  for (const finding of decision.findings) {
    const look = finding.passed ? "yes" : "no";
    const how = DERIVED.has(finding.rule) ? "derived here" : "as recorded";
    list.append(node("li", look, icon(look), node("div", "",
      node("p", "", node("strong", "", finding.passed ? "Passed: " : "Failed: "), RULE_WORDS[finding.rule],
        " ", node("span", "how", how)),
      quoted(finding.reason, "small"))));
  }
  box.append(list, node("p", "small", "“Derived here” was computed again on this page from the record. “As recorded” is what the signer found. The framed reasons are the signer's words."));
  return box;
}

// ---- Wiring ----

function wire() {
  for (const zone of document.querySelectorAll("[data-takes]")) {
    const what = zone.dataset.takes;
    zone.querySelector("input[type=file]").addEventListener("change", (event) => {
      take(what, [...event.target.files]);
      event.target.value = "";
    });
    zone.addEventListener("dragover", (event) => {
      event.preventDefault();
      event.stopPropagation();
      zone.classList.add("over");
    });
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      event.stopPropagation();
      zone.classList.remove("over");
      take(what, [...event.dataTransfer.files]);
    });
  }
  // A file that misses its place must not replace this page.
  for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());
  one("#key").addEventListener("input", check);
  for (const choice of document.querySelectorAll("input[name=pins]")) {
    choice.addEventListener("change", () => {
      one("#trust-part").hidden = !underTrust();
      one("#key-label").textContent = underTrust() ? "Root key that signed the trust file" : "Public key";
      check();
    });
  }
  one("#sources-clear").addEventListener("click", () => {
    given.sources = null;
    one("#sources-name").textContent = "";
    one("#sources-clear").hidden = true;
    check();
  });
}

wire();
showNothing();
requireBrowser().catch((stopped) => showVerdict(refusal(stopped)));
