// ---- Shapes (§1): every object has exactly these fields ----
// s string, i integer, n number (or integer), b boolean; several letters: one of them.
// `*` a list, `?` or null, `%` an object with any keys, `=a|b` one of these words, a name: a shape.
// `field~` may be left out, and is never null.

const SHAPES = {
  Record: `question:s retrieval:RetrievalRecord claim_ir:ClaimIR verification:VerificationResult*
    decisions:RendererDecision* answer:AnswerSummary policy:Policy models:ModelIdentity*
    config:%sinb config_hash:s created_at:s trace_id:s probe~:Probe generation~:GenerationRecord
    citations~:CitationsRecord`,
  RetrievalRecord: "query:s chunks:EvidenceChunk* settings:%sin dropped:s*",
  EvidenceChunk: `chunk_id:s doc_id:s text:s sha256:s source:ChunkSource spans:SentenceSpan*
    retrieval:RetrievalScores`,
  ChunkSource: "title:s url_or_path:s section:s sha256:s page:i? start:i",
  SentenceSpan: "span_id:s start:i end:i sentence:s visible:b boxes:Box* selector~:Selector",
  Box: "page:i left:n bottom:n right:n top:n",
  Selector: `quote:TextQuoteSelector position:TextPositionSelector fragment:FragmentSelector?
    section:s sha256:s utf8_start:i utf8_end:i utf16_start:i utf16_end:i`,
  TextQuoteSelector: "exact:s prefix:s suffix:s type:=TextQuoteSelector",
  TextPositionSelector: "start:i end:i type:=TextPositionSelector",
  FragmentSelector: "value:s conformsTo:s type:=FragmentSelector",
  RetrievalScores: `bm25:n? dense:n? fused:n? rerank:n? bm25_rank:i? dense_rank:i? fused_rank:i?
    rank:i?`,
  ClaimIR: "question:s claims:Claim* generator:s draft:s dropped:s* parts~:s*",
  Claim: `id:s text:s
    type:=fact|numeric_fact|temporal_fact|attribution|comparison|scope|definition|procedure
    risk_class:=factual_lit_claim|historical_claim|comparative_claim|scope_claim
    fields:%si evidence_candidates:SpanRef* draft_start:i draft_end:i hedges:s* supplied:s*
    quantities:Quantity* problems:s* relevance~:n by_part~:n*`,
  Quantity: `kind:=number|percent|percentage_point|currency|measure|duration|date|year|period|ordinal
    text:s start:i end:i value:s unit:s high:s qualifier:s`,
  SpanRef: "chunk_id:s span_id:s",
  VerificationResult: `claim_id:s label:=entailed|contradicted|not_enough_info|error score:n?
    best_evidence:SpanRef* all_scores:SpanScore*
    verdict:=SUPPORTED|PARTIAL|UNSUPPORTED|CONTRADICTED|NEI set_input_sha256:s score_without:n?
    truncated:b pairs_dropped:i needed_dropped:i error:s depth:=|HIGH|MEDIUM|LOW
    questions:QuestionRecord* missing_part:s opposing:SpanRef*`,
  SpanScore: `chunk_id:s span_id:s label:=entailed|contradicted|not_enough_info|error score:n?
    entailed:n? not_enough_info:n? contradicted:n? input_sha256:s truncated:b error:s note:s`,
  QuestionRecord: `kind:=amount|when|name|polarity|modality|quantifier|roles|written
    question:s said:s answer:s outcome:=agree|differ|not_found`,
  RendererDecision: `claim_id:s render_state:=VERIFIED|UNVERIFIED|BLOCKED policy:%sn reason:s
    findings:FindingRecord*`,
  FindingRecord: "rule:s passed:b reason:s",
  AnswerSummary: `decision:=ACCEPT|STRIP|REJECT reason_code:s
    confidence:=high|medium|low|insufficient_evidence verified:i unverified:i blocked:i
    limitations:s* query_refinements:s* reason:s basis:ConfidenceBasis? left_out:LeftOut*
    closest_references:Reference* suggestions:Suggestions?`,
  ConfidenceBasis: `checkable:i verified:i pass_rate:n high_risk_unresolved:i contradicted:i
    contested:i retrieval:n? specificity:n? caveats:s* relevance~:n
    open_parts~:i`,
  LeftOut: "rule:s claims:s*",
  Reference: "chunk_id:s span_id:s title:s section:s page:i? quote:s why:s",
  Suggestions: "refinements:Suggestion* filters:Filter*",
  Suggestion: "kind:=spelling|period|question|heading query:s because:s",
  Filter: "field:=document|section|period value:s passages:i",
  Policy: `name:s rules:s* tau_entail:n tau_contradict:n tau_contest:n max_claim_tokens:i
    class_minimum:%i`,
  ModelIdentity: "role:s name:s version:s sha256:s",
  Probe: `planted:PlantedError* verification:VerificationResult* policy:Policy planter:s
    left_out:i`,
  PlantedError: `id:s claim_id:s kind:=number|date|negation|entity|unit text:s start:i end:i
    becomes:s`,
  GenerationRecord: `strategy:=interleaved|generate-then-cite|strict-quote|prose
    prompts:PromptIdentity* stream:s part:i
    end:=under_way|complete|abstained|unreachable|timed_out|rate_limited|rejected|server_error|${""
    }refused|truncated|malformed|wrong_schema|empty|invented_source|altered_quote|${""
    }misplaced_quote|short_quote|no_quote|no_citation|unreadable
    note:s quoted~:s*`,
  PromptIdentity: "name:s version:s sha256:s",
  CitationsRecord: "citations:Citation* judgements:CitationJudgement* corrections:Correction* dropped:s*",
  Citation: "claim_id:s doc_id:s raw:s place:s quote:s spans:SpanRef* start:i end:i",
  CitationJudgement: `citation:Citation verdict:=VALID|WEAK|INVALID|HALLUCINATED reason:s
    failed:=source|place|quote|entailment? entailed:n? evidence:SpanRef* together:b error:s`,
  Correction: `claim_id:s kind:=KEEP|REPLACE|REMOVE|ADD_ALTERNATE old:Citation? new:Citation?
    reason:s entailed:n?`,
  Envelope: "payloadType:s payload:s signatures:Signature*",
  Signature: "keyid:s sig:s",
  LogProof: "leaf:s salt:s path:s* checkpoint:s",
  Leaf: `v:1 origin:s index:i
    kind:=genesis|received|answer|failed|revoke|archive|erase|hold|release|rotate|retire|escalate|review
    at:s trace_id:s retention:s keyid:s commit:s detail:%`,
  Countersigned: "certificate:Envelope log:LogProof",
  Review: `v:1 trace_id:s certificate_sha256:s decision:=release|refuse reviewer:s reason:s
    at:s`,
  Trust: "v:1 version:i origin:s keys:TrustedKey*",
  TrustedKey: "keyid:s public_key:s from_index:i until_index:i? reason:s",
};

const FIELDS = new Map(Object.entries(SHAPES).map(([name, fields]) => [
  name,
  new Map(fields.trim().split(/\s+/).map((field) => {
    const [key, spelled] = field.split(/:(.*)/s);
    const optional = key.endsWith("~");
    return [optional ? key.slice(0, -1) : key, { optional, kind: kindOf(spelled) }];
  })),
]));

/** Compile the notation above to a test: value -> "" or the place of the first misfit. */
function kindOf(spelled) {
  if (spelled.endsWith("?")) {
    const inner = kindOf(spelled.slice(0, -1));
    return (value) => (value === null ? "" : inner(value));
  }
  if (spelled.endsWith("*")) {
    const inner = kindOf(spelled.slice(0, -1));
    return (value) => {
      if (!Array.isArray(value)) return "(a list is missing)";
      return misfitIn(value.entries(), inner);
    };
  }
  if (spelled.startsWith("%")) {
    const inner = spelled === "%" ? () => "" : kindOf(spelled.slice(1));
    return (value) => (value instanceof Map ? misfitIn(value, inner) : "(an object is missing)");
  }
  if (spelled.startsWith("=")) {
    const words = new Set(spelled.slice(1).split("|"));
    return (value) => (typeof value === "string" && words.has(value) ? "" : "(unknown word)");
  }
  if (spelled === "1") {
    return (value) => (value instanceof Numeral && value.whole && value.value === 1 ? "" : "(not 1)");
  }
  if (/^[A-Z]/.test(spelled)) return (value) => misfit(spelled, value);
  return (value) => (isOneOf(spelled, value) ? "" : "(of another type)");
}

function isOneOf(letters, value) {
  if (typeof value === "string") return letters.includes("s");
  if (typeof value === "boolean") return letters.includes("b");
  if (value instanceof Numeral) {
    return letters.includes("n") || (letters.includes("i") && value.whole);
  }
  return false;
}

function misfitIn(entries, inner) {
  for (const [key, part] of entries) {
    const found = inner(part);
    if (found !== "") return `${key}.${found}`;
  }
  return "";
}

/** Say where `value` does not have the shape `name`; "" where it has. */
function misfit(name, value) {
  const fields = FIELDS.get(name);
  if (!(value instanceof Map)) return "(an object is missing)";
  for (const key of value.keys()) {
    if (!fields.has(key)) return `${key} (unknown field)`;
  }
  for (const [key, { optional, kind }] of fields) {
    if (!value.has(key)) {
      if (optional) continue;
      return `${key} (missing)`;
    }
    const found = kind(value.get(key));
    if (found !== "") return `${key}.${found}`;
  }
  return "";
}
