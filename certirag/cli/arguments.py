"""The command line's grammar: every command, its arguments, and the function that runs it.

A command's function is named here as ``module:function`` of this package, so that ``--help`` and a
wrong argument load none of the commands.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from certirag import __version__
from certirag.auditing.query import GROUPINGS, PERIOD_FORMS
from certirag.cli.measure_arguments import add_measuring
from certirag.cli.number_arguments import entry, whole
from certirag.cli.output import complain
from certirag.cli.serve_arguments import add_gateway
from certirag.proof.facets import DECISIONS, MAX_PAGE, RENDER_STATES
from certirag.settings import STRATEGIES

if TYPE_CHECKING:
    # What `argparse` gives for adding commands to; it has no public name for it.
    Commands = argparse._SubParsersAction[Any]  # noqa: SLF001

MODES: Final = ("strict", "mixed", "debug")  # those of `certirag.render.Mode`
_LIST: Final = 20
_EXAMPLES: Final = """examples:
  accepted with a low score, last quarter:
    certirag audit query --decision ACCEPT STRIP --score-below 0.80 --when last-quarter
  average score per topic and week:
    certirag audit query --by topic week
  all rejected answers of one corpus, last 30 days:
    certirag audit query --decision REJECT --corpus FINGERPRINT --when last-30-days
"""


class _Parser(argparse.ArgumentParser):
    """argparse with one line on standard error and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(complain(f"{message}; try '{self.prog} --help'", 2))


def command_line() -> argparse.ArgumentParser:
    """Return the parser; what it parses has ``run``, the ``module:function`` of the command."""
    parser = _Parser(prog="certirag", description="Answers whose every badge can be proved.")
    parser.add_argument("--version", action="version", version=f"certirag {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_answers(commands)
    corpus = commands.add_parser("corpus", help="the documents of an index: list, reread, remove")
    _add_corpus(corpus.add_subparsers(dest="act", required=True, metavar="COMMAND"))
    audit = commands.add_parser("audit", help="ask, verify, keep and erase what is logged")
    acts = audit.add_subparsers(dest="act", required=True, metavar="COMMAND")
    for add in (_add_queries, _add_log, _add_retention, _add_stale, _add_database):
        add(acts)
    keys = commands.add_parser("keys", help="the keys that sign certificates and the log")
    _add_keys(keys.add_subparsers(dest="act", required=True, metavar="COMMAND"))
    _add_replay(commands)
    add_measuring(commands)
    add_gateway(commands)
    return parser


def _add_answers(commands: Commands) -> None:
    ingest = commands.add_parser("ingest", help="read documents into an index")
    ingest.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    ingest.add_argument("--index", required=True, type=Path, metavar="DIR")
    ingest.add_argument("--json", action="store_true")
    ingest.set_defaults(run="corpus_commands:ingest")

    ask = commands.add_parser("ask", help="answer a question from an index")
    ask.add_argument("question")
    ask.add_argument("--index", required=True, type=Path, metavar="DIR")
    ask.add_argument(
        "--generator",
        metavar="NAME",
        help="extractive, openai:MODEL at CERTIRAG_LLM_URL, or llamacpp:FILE.gguf",
    )
    ask.add_argument(
        "--strategy", metavar="NAME", help=f"how a language model writes: {', '.join(STRATEGIES)}"
    )
    ask.add_argument(
        "--prose", action="store_true", help="a paragraph from the Verified claims, checked again"
    )
    _add_answer_options(ask, mode="strict")
    ask.set_defaults(run="answer_commands:ask")

    verify = commands.add_parser("verify", help="check an answer against documents")
    verify.add_argument("--draft", required=True, type=Path, metavar="FILE")
    verify.add_argument("--evidence", required=True, nargs="+", type=Path, metavar="PATH")
    _add_answer_options(verify, mode="mixed")
    verify.set_defaults(run="answer_commands:verify")

    check = commands.add_parser("check", help="derive every badge of an export again")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    check.add_argument("--public-key", type=Path, metavar="FILE")
    check.add_argument("--trust", type=Path, metavar="FILE", help="which keys are good for what")
    check.add_argument("--root", type=Path, metavar="FILE", help="the key that signed --trust")
    check.add_argument("--sources", nargs="+", type=Path, metavar="PATH", default=[])
    check.add_argument("--rescore", action="store_true", help="run the verifier again")
    check.add_argument(
        "--log", action="store_true", help="ask the log, where it is at hand, if it was revoked"
    )
    check.add_argument("--json", action="store_true")
    check.set_defaults(run="answer_commands:check")


def _add_corpus(commands: Commands) -> None:
    listed = commands.add_parser("list", help="what was read, and when it was read again")
    listed.set_defaults(run="corpus_commands:list_documents")
    again = commands.add_parser("reread", help="read again from where the documents came")
    again.add_argument(
        "document", nargs="?", default="", metavar="DOCUMENT", help="one, as list names it"
    )
    again.set_defaults(run="corpus_commands:reread")
    removed = commands.add_parser("remove", help="take a document out; its file stays")
    removed.add_argument("document", metavar="DOCUMENT", help="as list names it")
    removed.set_defaults(run="corpus_commands:remove")
    for parser in (listed, again, removed):
        parser.add_argument("--index", required=True, type=Path, metavar="DIR")
        parser.add_argument("--json", action="store_true")


def _add_answer_options(parser: argparse.ArgumentParser, *, mode: str) -> None:
    parser.add_argument("--mode", choices=MODES, default=mode)
    parser.add_argument("--profile", metavar="NAME", help="a policy; it can only tighten")
    parser.add_argument(
        "--probe", action="store_true", help="plant errors in the answer and say what was caught"
    )
    parser.add_argument("--export", type=Path, metavar="FILE", help="write the audit JSON")
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write it for reading: .md, .docx or .pdf"
    )
    parser.add_argument("--json", action="store_true", help="print the audit JSON")


def _add_queries(commands: Commands) -> None:
    newest = commands.add_parser("list", help="the newest answers, in short")
    _add_page_options(newest)
    newest.set_defaults(run="query_commands:list_answers")
    query = commands.add_parser(
        "query",
        help="answers by time, score, decision, document and more, or their trend",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_query_options(query)
    query.add_argument(
        "--by", nargs="+", default=[], metavar="GROUP", help=f"a trend: {', '.join(GROUPINGS)}"
    )
    _add_page_options(query)
    query.set_defaults(run="query_commands:query_answers")
    export = commands.add_parser(
        "export",
        help="write what a query finds as JSON Lines or CSV",
        epilog="Question texts are written as they are; in CSV, what a spreadsheet would compute "
        "gets an apostrophe.",
    )
    export.add_argument("--out", required=True, type=Path, metavar="FILE")
    export.add_argument("--format", choices=["jsonl", "csv"], default="jsonl")
    _add_query_options(export)
    export.set_defaults(run="query_commands:export_answers")


def _add_page_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit",
        type=whole(1, MAX_PAGE),
        default=_LIST,
        metavar="N",
        help=f"answers on a page, at most {MAX_PAGE} ({_LIST} unless told)",
    )
    parser.add_argument(
        "--after", type=whole(0, 2**62), metavar="ENTRY", help="the page below this entry"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def _add_query_options(parser: argparse.ArgumentParser) -> None:
    """Add all that an answer can be asked for by."""
    for name, metavar, help_text in (
        ("--when", "PERIOD", PERIOD_FORMS),
        ("--since", "TIME", "from where this period begins"),
        ("--until", "TIME", "before where this period begins"),
        ("--trace-id", "ID", "the answer's 32 hex digits"),
        ("--corpus", "FINGERPRINT", "answers over this corpus"),
        ("--score-from", "SCORE", "grounding score of at least this, 0 to 1"),
        ("--score-below", "SCORE", "grounding score below this, 0 to 1"),
        ("--policy", "NAME", "the policy they were decided under"),
        ("--model", "NAME", "the verifier or the generator"),
        ("--state", "STATE", f"at least one claim is {', '.join(RENDER_STATES)}"),
        ("--document", "NAME", "cites the document of this id, title or SHA-256"),
        ("--about", "WORDS", "the question holds these words; give a period with it"),
    ):
        parser.add_argument(name, default="", metavar=metavar, help=help_text)
    parser.add_argument(
        "--decision", nargs="+", default=[], metavar="DECISION", help=", ".join(DECISIONS)
    )
    parser.add_argument(
        "--reason", nargs="+", default=[], metavar="CODE", help="as INSUFFICIENT_EVIDENCE"
    )
    parser.add_argument(
        "--parts", action="store_true", help="unfinished parts of streamed answers too"
    )


def _add_log(commands: Commands) -> None:
    verify = commands.add_parser("verify", help="verify the whole log, exit code 4 if it is broken")
    verify.add_argument(
        "--checkpoint",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="one or more checkpoints that you kept (may be given again)",
    )
    verify.add_argument("--public-key", type=Path, metavar="FILE", help="the log's public key")
    verify.add_argument("--trust", type=Path, metavar="FILE", help="the log's trust file")
    verify.add_argument("--root", type=Path, metavar="FILE", help="the root key that signed it")
    verify.add_argument(
        "--grace",
        type=float,
        default=15.0,
        metavar="MINUTES",
        help="requests this close to the newest entry may be under way still",
    )
    verify.add_argument(
        "--entries-only",
        action="store_true",
        help="do not compare what queries read with the entries (faster)",
    )
    verify.add_argument("--json", action="store_true", help="print the report as JSON")
    verify.set_defaults(run="log_commands:verify_log")
    checkpoint = commands.add_parser("checkpoint", help="print the newest checkpoint, to be kept")
    checkpoint.add_argument(
        "--out", type=Path, metavar="FILE", help="add it to a file of checkpoints instead"
    )
    checkpoint.set_defaults(run="log_commands:print_checkpoint")


def _add_retention(commands: Commands) -> None:
    retain = commands.add_parser("retain", help="archive and erase what is due")
    retain.add_argument("--dry-run", action="store_true", help="say what is due and do nothing")
    retain.add_argument("--now", metavar="TIME", help="with --dry-run: as if it were then")
    retain.add_argument("--rule", default="", metavar="POLICY", help="what --authoriser is for")
    _add_authorisation(retain)
    retain.set_defaults(run="retention_commands:retain_due")

    hold = commands.add_parser("hold", help="keep answers from being erased")
    hold.add_argument("name", metavar="NAME")
    hold.add_argument(
        "--trace", nargs="+", default=[], metavar="ID", help="answers or requests, by their ids"
    )
    hold.add_argument(
        "--entries", nargs="+", default=[], metavar="FIRST-LAST", help="entries of the log"
    )
    _add_query_options(hold)
    hold.add_argument("--authoriser", default="", metavar="NAME")
    hold.add_argument("--json", action="store_true")
    hold.set_defaults(run="retention_commands:hold_answers")

    release = commands.add_parser("release", help="end a hold")
    release.add_argument("name", metavar="NAME")
    release.add_argument("--authoriser", default="", metavar="NAME")
    release.add_argument("--json", action="store_true")
    release.set_defaults(run="retention_commands:release_hold")

    erase = commands.add_parser("erase", help="erase an answer and its request, as a person asks")
    erase.add_argument("trace_id", metavar="TRACE_ID")
    _add_authorisation(erase)
    erase.set_defaults(run="retention_commands:erase_answer")


def _add_authorisation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--authoriser", default="", metavar="NAME", help="who answers for it")
    parser.add_argument("--justification", default="", metavar="TEXT", help="why")
    parser.add_argument("--json", action="store_true")


def _add_stale(commands: Commands) -> None:
    parser = commands.add_parser("stale", help="answers whose documents have changed since")
    today = parser.add_mutually_exclusive_group(required=True)
    today.add_argument("--index", type=Path, metavar="DIR", help="today's documents, as ingested")
    today.add_argument(
        "--sources", nargs="+", type=Path, metavar="PATH", help="today's documents, as files"
    )
    parser.add_argument(
        "--gone", action="store_true", help="also those whose documents are not among them at all"
    )
    parser.add_argument(
        "--recheck",
        action="store_true",
        help="measure their claims on today's documents; revoke what fails",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run="replay_commands:list_stale")


def _add_database(commands: Commands) -> None:
    grant = commands.add_parser(
        "grant",
        help="let a role of PostgreSQL use the log, and no more",
        description="CERTIRAG_AUDIT_URL connects as the owner of the tables, which are made if "
        "they are missing. The role may read and append from then on, and nothing else.",
    )
    grant.add_argument("role", metavar="ROLE", help="a role that may log in and owns nothing")
    grant.add_argument(
        "--retention", action="store_true", help="it may also erase contents, for audit retain"
    )
    grant.set_defaults(run="log_commands:grant")
    scrub = commands.add_parser(
        "scrub",
        help="take the bytes of what was erased out of the database's files",
        description="After an erasure under another role than the owner's, or one that was cut "
        "off. The log cannot be used meanwhile.",
    )
    scrub.set_defaults(run="log_commands:scrub")


def _add_keys(commands: Commands) -> None:
    listed = commands.add_parser("list", help="the keys of the log and what each signs for")
    listed.set_defaults(run="log_commands:list_keys")
    rotated = commands.add_parser("rotate", help="make a new signing key and hand over to it")
    rotated.set_defaults(run="log_commands:rotate_key")
    retired = commands.add_parser("retire", help="end what an old key signs for")
    retired.add_argument("key", metavar="KEYID", help="the beginning of its key id")
    retired.add_argument(
        "--from-index",
        type=entry,
        metavar="N",
        help="the first entry that it may have forged (default: the next one); from there on "
        "nothing that it signed holds any more, its own hand-over included",
    )
    retired.add_argument("--reason", default="retired", metavar="TEXT", help="why")
    retired.set_defaults(run="log_commands:retire_key")
    for parser in (listed, rotated, retired):
        parser.add_argument("--json", action="store_true", help="print one JSON document")


def _add_replay(commands: Commands) -> None:
    parser = commands.add_parser(
        "replay",
        help="what another policy would have shown",
        description="Derive every badge again under another policy. Nothing is measured again.",
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="audit exports")
    parser.add_argument("--log", action="store_true", help="the answers of the audit log")
    parser.add_argument("--profile", required=True, metavar="NAME", help="the other policy")
    parser.add_argument("--json", action="store_true", help="the sum, and those that differ")
    _add_query_options(parser)
    parser.set_defaults(run="replay_commands:replay_answers")
