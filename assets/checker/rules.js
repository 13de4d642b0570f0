// ---- What follows from a record (§5 to §9) ----

const BASE_RULES = [
  "evidence", "entailed", "not_contradicted", "numbers", "well_formed", "sound_measurement",
  "isolated", "class_minimum",
];
const STRICT_RULES = ["load_bearing", "uncontested"];
const RISK_CLASSES = ["factual_lit_claim", "historical_claim", "comparative_claim", "scope_claim"];
const DERIVED = new Set([
  "evidence", "entailed", "not_contradicted", "sound_measurement", "isolated", "load_bearing",
  "uncontested",
]);
const ARROW = " \u203a ";
// A sentence of these alone is blank: Unicode's white space, and the separators U+001C to U+001F.
const BLANK = /^[\t-\r\u001c- \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

const isScore = (value) => typeof value === "number" && value >= 0 && value <= 1;
const isUnique = (values) => new Set(values).size === values.length;
const place = (ref) => JSON.stringify([ref.chunk_id, ref.span_id]);

/** A text whose offsets are code points, as the record counts them. */
class Points {
  constructor(text) {
    this.text = text;
    this.units = null; // UTF-16 offset of each code point, where they are not the same
    if (/[\ud800-\udfff]/.test(text)) {
      this.units = [0];
      for (const point of text) this.units.push(this.units.at(-1) + point.length);
    }
    this.length = this.units === null ? text.length : this.units.length - 1;
  }
  unit(offset) {
    return this.units === null ? offset : this.units[offset];
  }
  slice(start, end) {
    const from = Math.min(Math.max(start, 0), this.length);
    const to = Math.min(Math.max(end, from), this.length);
    return this.text.slice(this.unit(from), this.unit(to));
  }
}

const counted = (text) => `${new Points(text).length}:${text}`;
const digestOfTexts = (texts) => sha256Hex(texts.map(counted).join("\0"));

/** §7: is `digest` that of the pair alone, or with the text of the one chunk that holds it? */
async function isPairDigest(digest, claim, evidence, context, chunks) {
  const given = [claim, evidence, context];
  if (digest === (await digestOfTexts(given))) return true;
  const one = new Set(chunks.map((chunk) => chunk.chunk_id)).size === 1;
  return one && digest === (await digestOfTexts([...given, chunks[0].text]));
}

function byCodePoint(one, other) {
  const [left, right] = [Array.from(one), Array.from(other)];
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const by = left[i].codePointAt(0) - right[i].codePointAt(0);
    if (by !== 0) return by;
  }
  return left.length - right.length;
}

/** §1: the subject that a record has; null where two chunks of one document disagree on it. */
async function subjectOf(record) {
  const sources = new Map();
  for (const chunk of record.retrieval.chunks) {
    const known = sources.get(chunk.doc_id);
    if (known !== undefined && known !== chunk.source.sha256) return null;
    sources.set(chunk.doc_id, chunk.source.sha256);
  }
  const subject = [["answer", await digestOfTexts(record.claim_ir.claims.map((claim) => claim.text))]];
  for (const name of [...sources.keys()].sort(byCodePoint)) subject.push([`source/${name}`, sources.get(name)]);
  return subject.map(([name, digest]) => new Map([["name", name], ["digest", new Map([["sha256", digest]])]]));
}

function contextOf(chunk) {
  return [chunk.source.title, chunk.source.section].filter((part) => part !== "").join(ARROW);
}

function sharedContext(chunks) {
  const lists = chunks.map((chunk) => [chunk.doc_id, ...contextOf(chunk).split(ARROW)]);
  if (lists.length === 0) return "";
  const shared = [];
  for (let i = 0; lists.every((list) => i < list.length && list[i] === lists[0][i]); i += 1) shared.push(lists[0][i]);
  return shared.slice(1).filter((part) => part !== "").join(ARROW);
}

/** §9: the selector of a span of a chunk whose text is `points`; its place must be sound. */
async function selectorOf(chunk, points, span) {
  const before = points.slice(0, span.start);
  const within = points.slice(span.start, span.end);
  const bytes = utf8(before).length;
  const { page, section, start } = chunk.source;
  return {
    quote: {
      exact: span.sentence,
      prefix: points.slice(span.start - 32, span.start),
      suffix: points.slice(span.end, span.end + 32),
      type: "TextQuoteSelector",
    },
    position: { start: span.start + start, end: span.end + start, type: "TextPositionSelector" },
    fragment: page === null ? null : {
      value: `page=${page}`, conformsTo: "http://tools.ietf.org/rfc/rfc8118", type: "FragmentSelector",
    },
    section,
    sha256: await sha256Hex(span.sentence),
    utf8_start: bytes,
    utf8_end: bytes + utf8(within).length,
    utf16_start: before.length,
    utf16_end: before.length + within.length,
  };
}

/** Equal as plain values, whatever the order of keys. */
function equal(one, other) {
  if (typeof one !== "object" || one === null) return one === other;
  if (typeof other !== "object" || other === null) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length
    && keys.every((key) => Object.hasOwn(other, key) && equal(one[key], other[key]));
}

/** §5: index a record's parts by their names. Refused `integrity` where a name is not one. */
function indexed(record) {
  const need = (sound, why) => {
    if (!sound) throw new Refused("integrity", why);
  };
  const { claims } = record.claim_ir;
  const claimIds = new Set(claims.map((claim) => claim.id));
  need(claimIds.size === claims.length, "Two claims have one id.");
  const spans = new Map();
  const chunkIds = record.retrieval.chunks.map((chunk) => chunk.chunk_id);
  need(isUnique(chunkIds), "Two chunks have one id.");
  for (const chunk of record.retrieval.chunks) {
    need(isUnique(chunk.spans.map((span) => span.span_id)), "Two spans of a chunk have one id.");
    const points = new Points(chunk.text);
    for (const span of chunk.spans) {
      spans.set(place({ chunk_id: chunk.chunk_id, span_id: span.span_id }), { chunk, span, points });
    }
  }
  const probed = record.probe === undefined ? [] : record.probe.verification;
  const planted = record.probe === undefined ? [] : record.probe.planted;
  for (const results of [record.verification, probed]) {
    need(isUnique(results.map((result) => result.claim_id)), "Two results speak of one claim.");
    for (const result of results) {
      for (const ref of [...result.best_evidence, ...result.all_scores, ...result.opposing]) {
        need(spans.has(place(ref)), "A result names a span that the record does not hold.");
      }
    }
  }
  const results = new Map(record.verification.map((result) => [result.claim_id, result]));
  need(results.size === claims.length && claims.every((claim) => results.has(claim.id)),
    "There is not exactly one result per claim.");
  need(record.decisions.length === claims.length
    && record.decisions.every((decision, i) => decision.claim_id === claims[i].id),
  "There is not exactly one decision per claim, in their order.");
  const ids = planted.map((error) => error.id);
  need(isUnique(ids) && !ids.some((id) => claimIds.has(id)), "A planted error's id is not its own.");
  need(planted.every((error) => claimIds.has(error.claim_id)), "An error is planted in an unknown claim.");
  const probedIds = new Set(probed.map((result) => result.claim_id));
  need(probedIds.size === ids.length && ids.every((id) => probedIds.has(id)),
    "There is not exactly one result per planted error.");
  return { spans, results, plantedIn: new Set(planted.map((error) => error.claim_id)) };
}

/** §6: is the policy one that may grant anything, and does the record's refine the probe's? */
function requirePolicy(record) {
  const need = (sound, why) => {
    if (!sound) throw new Refused("policy", why);
  };
  const sound = (policy) => {
    need(isUnique(policy.rules), "The policy names a rule twice.");
    need(BASE_RULES.every((rule) => policy.rules.includes(rule)), "The policy lacks a rule.");
    need(policy.rules.every((rule) => BASE_RULES.includes(rule) || STRICT_RULES.includes(rule)),
      "The policy names an unknown rule.");
    need(policy.tau_entail >= 0.5 && policy.tau_entail <= 1, "The policy's tau_entail is out of range.");
    need(policy.tau_contradict > 0 && policy.tau_contradict <= 1, "The policy's tau_contradict is out of range.");
    need(policy.tau_contest > 0 && policy.tau_contest <= 1, "The policy's tau_contest is out of range.");
    need(policy.max_claim_tokens >= 1 && policy.max_claim_tokens <= 400, "The policy's max_claim_tokens is out of range.");
    need(Object.keys(policy.class_minimum).length === RISK_CLASSES.length
      && RISK_CLASSES.every((risk) => Object.hasOwn(policy.class_minimum, risk) && policy.class_minimum[risk] >= 1),
    "The policy's class_minimum is not one of at least 1 for each risk class.");
  };
  const own = record.policy;
  sound(own);
  if (record.probe !== undefined) {
    const other = record.probe.policy;
    sound(other);
    need(other.rules.every((rule) => own.rules.includes(rule))
      && own.tau_entail >= other.tau_entail
      && own.tau_contradict <= other.tau_contradict
      && (!other.rules.includes("uncontested") || own.tau_contest <= other.tau_contest)
      && own.max_claim_tokens <= other.max_claim_tokens
      && RISK_CLASSES.every((risk) => own.class_minimum[risk] >= other.class_minimum[risk]),
    "Planted errors were judged under a stricter policy than the claims.");
  }
  const stated = { name: own.name, tau_entail: own.tau_entail, tau_contradict: own.tau_contradict };
  need(record.decisions.every((decision) => equal(decision.policy, stated)), "A decision names another policy.");
}

/** §7: what each derived rule says of one claim; `known` is what `indexed` returned. */
async function derive(claim, result, policy, known) {
  const attached = result.best_evidence.map((ref) => known.spans.get(place(ref)));
  const scores = new Map(result.all_scores.map((score) => [place(score), score])); // the last, if twice
  const own = result.best_evidence.map((ref) => scores.get(place(ref)));
  const documents = new Set(attached.map(({ chunk }) => chunk.doc_id));
  const of = {};
  of.evidence = attached.length > 0 && isUnique(result.best_evidence.map(place));
  for (const found of attached) of.evidence = of.evidence && (await stands(found));
  of.entailed = isScore(result.score) && result.score >= policy.tau_entail
    && own.length > 0 && own.every((score) => score !== undefined)
    && (own.length !== 1 || own[0].entailed === result.score)
    && result.label === "entailed";
  of.not_contradicted = result.label !== "contradicted" && result.all_scores.every(
    ({ contradicted }) => isScore(contradicted) && contradicted < policy.tau_contradict);
  of.sound_measurement = result.claim_id === claim.id
    && result.error === "" && result.label !== "error"
    && result.all_scores.length > 0 && !result.truncated
    && result.all_scores.every((score) => !score.truncated && score.error === "" && score.label !== "error"
      && isScore(score.entailed) && isScore(score.not_enough_info) && isScore(score.contradicted))
    && isScore(result.score) && isUnique(result.all_scores.map(place)) && result.needed_dropped === 0;
  of.isolated = await wasIsolated(claim, result, attached, known);
  of.load_bearing = isScore(result.score_without) && result.score_without < 0.5;
  of.uncontested = result.all_scores.every((score) => isScore(score.contradicted)
    && (documents.has(known.spans.get(place(score)).chunk.doc_id) || score.contradicted < policy.tau_contest));
  return of;
}

async function stands({ chunk, span, points }) {
  return chunk.sha256 === (await sha256Hex(chunk.text))
    && HEX_32.test(chunk.source.sha256)
    && span.start >= 0 && span.start < span.end && span.end <= points.length
    && points.slice(span.start, span.end) === span.sentence
    && !BLANK.test(span.sentence)
    && span.visible
    && span.selector !== undefined
    && equal(span.selector, await selectorOf(chunk, points, span));
}

async function wasIsolated(claim, result, attached, known) {
  for (const score of result.all_scores) {
    const { chunk, span } = known.spans.get(place(score));
    const context = contextOf(chunk);
    if (!(await isPairDigest(score.input_sha256, claim.text, span.sentence, context, [chunk]))) return false;
  }
  const evidence = attached.map(({ span }) => span.sentence).join("\n");
  const chunks = attached.map(({ chunk }) => chunk);
  return isPairDigest(result.set_input_sha256, claim.text, evidence, sharedContext(chunks), chunks);
}

/** May a finding that is read from the record say "passed"? (§7) */
function mayPass(rule, claim, result, policy, known) {
  if (rule === "well_formed") return claim.problems.length === 0;
  if (rule !== "class_minimum") return true;
  const sentences = new Set(result.best_evidence.map((ref) => known.spans.get(place(ref)).span.sentence));
  const least = policy.class_minimum[claim.risk_class];
  const hedged = claim.risk_class === "comparative_claim" && claim.hedges.length > 0;
  return sentences.size >= (hedged ? Math.min(least, 1) : least);
}

/** §5 to §8: Refused with the code of the first step that fails. */
async function requireDerivable(record) {
  const known = indexed(record);
  requirePolicy(record);
  const { claims } = record.claim_ir;
  const { policy } = record;
  for (const [i, claim] of claims.entries()) {
    const result = known.results.get(claim.id);
    const derived = await derive(claim, result, policy, known);
    const { findings } = record.decisions[i];
    const rules = known.plantedIn.has(claim.id) ? [...policy.rules, "planted_errors"] : policy.rules;
    if (!equal(findings.map((finding) => finding.rule), rules)) {
      throw new Refused("finding", "A claim's findings are not those of the policy.", claim.id);
    }
    for (const { rule, passed } of findings) {
      const sound = DERIVED.has(rule) ? passed === derived[rule]
        : !passed || mayPass(rule, claim, result, policy, known);
      if (!sound) {
        throw new Refused("finding",
          `The record says that the rule ${rule} ${passed ? "passed" : "failed"}; its own figures say otherwise.`, claim.id);
      }
    }
  }
  const states = record.decisions.map((decision) => stateOf(decision, known, policy));
  record.decisions.forEach((decision, i) => {
    if (decision.render_state !== states[i]) {
      throw new Refused("state", `A claim is recorded as ${decision.render_state}, but it is ${states[i]}.`, decision.claim_id);
    }
  });
  requireSummary(record, states);
  return states;
}

function stateOf(decision, known, policy) {
  if (decision.findings.every((finding) => finding.passed)) return "VERIFIED";
  const scores = known.results.get(decision.claim_id).all_scores;
  return scores.some(({ contradicted }) => isScore(contradicted) && contradicted >= policy.tau_contradict)
    ? "BLOCKED" : "UNVERIFIED";
}

const ANSWERS = 0.5; // at this relevance a claim counts as an answer
const OPEN = 0.1; // below it a claim says nothing on a part of the question

/** §8. */
function requireSummary(record, states) {
  const count = (state) => states.filter((one) => one === state).length;
  const { claims } = record.claim_ir;
  const checkable = claims.map((claim) => !claim.problems.some((problem) => problem.startsWith("not_checkable")));
  const many = checkable.filter(Boolean).length;
  const verified = count("VERIFIED");
  let decision = "STRIP";
  if (many === 0 || verified === 0) decision = "REJECT";
  else if (verified === many && states.every((state, i) => !checkable[i] || state === "VERIFIED")) decision = "ACCEPT";
  const { answer } = record;
  if (answer.verified !== verified || answer.unverified !== count("UNVERIFIED")
    || answer.blocked !== count("BLOCKED") || answer.decision !== decision) {
    throw new Refused("summary", "The answer's counts or its decision do not follow from its claims.");
  }
  const asked = (record.claim_ir.parts ?? []).length;
  for (const { relevance, by_part: byPart = [] } of claims) {
    if (byPart.length !== asked || ![relevance ?? 0, ...byPart].every(isScore)
      || (asked > 0 && Math.max(...byPart) !== relevance)) {
      throw new Refused("summary", "A claim's relevance to the parts of the question is unsound.");
    }
  }
  const own = claims.filter(({ relevance }, i) => states[i] === "VERIFIED" && relevance !== undefined);
  const relatedOnly = own.length > 0 && own.every(({ relevance }) => relevance < ANSWERS);
  const open = Array.from({ length: asked }, (_, part) => own.length > 0 && own.every((claim) => claim.by_part[part] < OPEN));
  const partly = !relatedOnly && open.includes(true);
  if ((answer.reason_code === "RELATED_ONLY") !== relatedOnly || (answer.reason_code === "PARTLY_ANSWERED") !== partly) {
    throw new Refused("summary", "Whether the claims answer does not follow from their relevance.");
  }
}
