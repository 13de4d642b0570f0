// ---- Strict JSON (docs/certificate.md §1): one text, one reading ----

/** Why a check stopped: the step's code, a sentence of ours, and what the file says there, if it helps. */
class Refused {
  constructor(code, reason, quote = "") {
    this.code = code;
    this.reason = reason;
    this.quote = quote.length > 120 ? `${quote.slice(0, 120)}…` : quote;
  }
}

/** A number as it was spelled; whole if it has neither point nor exponent. */
class Numeral {
  constructor(spelled, whole) {
    this.spelled = spelled;
    this.whole = whole;
    this.value = Number(spelled);
  }
}

const MOST_BYTES = 16 * 1024 * 1024;
const MOST_DEEP = 32; // lists and objects around a value
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const NUMERAL = /-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)/y;
const SPACE = /[ \t\n\r]*/y;
const ESCAPED = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const LOWER_HEX_4 = /^[0-9a-f]{4}$/;
const HALF_PAIR = /[\ud800-\udfff]/u; // with the flag u a whole pair does not match

function decodeText(bytes) {
  if (bytes.length > MOST_BYTES) throw new SyntaxError("it is larger than 16 MiB");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SyntaxError("it is not UTF-8");
  }
}

/**
 * Read one JSON value: objects become Map, numbers Numeral. SyntaxError for whatever §1 refuses.
 * `known` (a `Known`, below) lets a text that differs in one character reuse what is unchanged.
 */
function readJson(text, known = null) {
  let at = 0;

  function fail(what) {
    throw new SyntaxError(`${what} (character ${at + 1})`);
  }

  function space() {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x09 && code !== 0x0d) return;
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
  }

  function string() {
    let read = "";
    let escapes = false;
    at += 1;
    for (;;) {
      PLAIN.lastIndex = at;
      PLAIN.test(text);
      const end = PLAIN.lastIndex;
      const piece = text.slice(at, end);
      at = end;
      const next = text[at];
      read = read === "" ? piece : read + piece;
      if (next === '"') break;
      if (next !== "\\") fail("a string does not end, or holds a control character");
      escapes = true;
      const kind = text[at + 1];
      if (kind === "u") {
        const digits = text.slice(at + 2, at + 6);
        if (!LOWER_HEX_4.test(digits)) fail("an escape is not four lower-case hex digits");
        read += String.fromCharCode(parseInt(digits, 16));
        at += 6;
      } else {
        if (kind === undefined || !Object.hasOwn(ESCAPED, kind)) fail("an unknown escape");
        read += ESCAPED[kind];
        at += 2;
      }
    }
    at += 1;
    if (escapes && HALF_PAIR.test(read)) fail("half of a surrogate pair");
    return read;
  }

  function numeral() {
    NUMERAL.lastIndex = at;
    const found = NUMERAL.exec(text);
    if (found === null) fail("no value that JSON knows");
    const read = new Numeral(found[0], found[1] === "");
    if (!Number.isFinite(read.value)) fail("a number overflows");
    if (read.whole && Math.abs(read.value) >= 2 ** 53) fail("an integer of 2^53 or beyond");
    at += found[0].length;
    return read;
  }

  function word(spelled, value) {
    if (!text.startsWith(spelled, at)) fail("no value that JSON knows");
    at += spelled.length;
    return value;
  }

  function list(depth) {
    const read = [];
    at += 1;
    space();
    if (text[at] === "]") {
      at += 1;
      return read;
    }
    for (;;) {
      read.push(value(depth + 1));
      space();
      const next = text[at];
      if (next !== "," && next !== "]") fail("a list does not end");
      at += 1;
      if (next === "]") return read;
      space();
    }
  }

  function object(depth) {
    const read = new Map();
    at += 1;
    space();
    if (text[at] === "}") {
      at += 1;
      return read;
    }
    for (;;) {
      if (text[at] !== '"') fail("a key is not a string");
      const key = string();
      if (read.has(key)) fail("a key appears twice");
      space();
      if (text[at] !== ":") fail("a key has no value");
      at += 1;
      space();
      read.set(key, value(depth + 1));
      space();
      const next = text[at];
      if (next !== "," && next !== "}") fail("an object does not end");
      at += 1;
      if (next === "}") return read;
      space();
    }
  }

  function value(depth) {
    if (known !== null) {
      const same = known.at(at, depth);
      if (same !== null) {
        at = same.end;
        return same.value;
      }
    }
    if (depth > MOST_DEEP) fail(`nested more than ${MOST_DEEP} deep`);
    const start = at;
    let read;
    switch (text[at]) {
      case "{": read = object(depth); break;
      case "[": read = list(depth); break;
      case '"': read = string(); break;
      case "t": return word("true", true);
      case "f": return word("false", false);
      case "n": return word("null", null);
      default: return numeral();
    }
    if (known !== null) known.keep(start, depth, at, read);
    return read;
  }

  space();
  const read = value(0);
  space();
  if (at !== text.length) fail("something stands behind the end");
  return read;
}

const BLOCK = 2048;

/**
 * What the text of `bytes` was read as, for reading it again with one byte changed: `checkMany`.
 * A list, object or string ends with its own last character, so one that does not contain the
 * changed place reads the same. The bytes are decoded in blocks that begin and end between
 * characters: they are UTF-8 if each block is.
 */
class Known {
  constructor(bytes) {
    this.values = new Map();
    this.changed = null; // place of the change in the text
    this.text = decodeText(bytes);
    this.blocks = []; // [first byte, first place]
    this.places = new Uint32Array(bytes.length + 1); // UTF-16 offset of each byte's character
    let place = -1;
    let wide = 0;
    for (let i = 0; i < bytes.length; i += 1) {
      if ((bytes[i] & 0xc0) !== 0x80) {
        place += 1 + wide;
        wide = bytes[i] >= 0xf0 ? 1 : 0;
        if (this.blocks.length === 0 || i - this.blocks.at(-1)[0] >= BLOCK) this.blocks.push([i, place]);
      }
      this.places[i] = place;
    }
    this.blocks.push([bytes.length, this.text.length]);
    readJson(this.text, this);
  }
  /** Return the text of `bytes`, which differ from the known ones in the byte `at` alone. */
  textWith(bytes, at) {
    const next = this.blocks.findIndex(([first]) => first > at);
    const [[first, from], [last, to]] = this.blocks.slice(next - 1, next + 1);
    const block = decodeText(bytes.subarray(first, last));
    if (block.length !== to - from) throw new SyntaxError("it is not the text that was known");
    this.changed = this.places[at];
    return this.text.slice(0, from) + block + this.text.slice(to);
  }
  keep(start, depth, end, value) {
    if (this.changed === null) this.values.set(start, { depth, end, value });
  }
  at(start, depth) {
    if (this.changed === null) return null;
    const found = this.values.get(start);
    if (found === undefined || found.depth !== depth) return null;
    return this.changed >= start && this.changed < found.end ? null : found;
  }
}

/** Equal in type, keys, strings and the spelling of every number (§4, `readable`). */
function alike(one, other) {
  if (typeof one === "string" || one === null || typeof one === "boolean") return one === other;
  if (one instanceof Numeral) return other instanceof Numeral && one.spelled === other.spelled;
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length
      && one.every((part, i) => alike(part, other[i]));
  }
  if (!(one instanceof Map) || !(other instanceof Map) || one.size !== other.size) return false;
  for (const [key, part] of one) {
    if (!other.has(key) || !alike(part, other.get(key))) return false;
  }
  return true;
}

/** Read values whose shape is known as plain objects and numbers; objects have no prototype. */
function plain(value) {
  if (value instanceof Numeral) return value.value;
  if (Array.isArray(value)) return value.map(plain);
  if (!(value instanceof Map)) return value;
  const read = Object.create(null);
  for (const [key, part] of value) read[key] = plain(part);
  return read;
}
