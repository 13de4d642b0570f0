"""The arguments of the gateway's commands: what they serve, under what, and to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from certirag.cli.number_arguments import whole

if TYPE_CHECKING:
    import argparse

    Commands = argparse._SubParsersAction[Any]  # noqa: SLF001


def add_gateway(commands: Commands) -> None:
    """Add ``serve``, ``mcp``, ``serve-key`` and ``review``."""
    serving = commands.add_parser("serve", help="serve the HTTP gateway")
    serving.add_argument("--host", default="127.0.0.1", metavar="H")
    serving.add_argument("--port", type=whole(0, 65535), default=3000, metavar="P")
    serving.add_argument(
        "--log-text",
        action="store_true",
        help="log what is asked and answered with each request, not its codes alone",
    )
    serving.add_argument(
        "--workers", type=whole(1, 64), default=1, metavar="N", help="processes that answer"
    )
    serving.set_defaults(run="serve_commands:serve")
    tools = commands.add_parser(
        "mcp", help="serve the gateway's tools over standard input and output (MCP)"
    )
    tools.set_defaults(run="serve_commands:serve_tools")
    for parser in (serving, tools):
        parser.add_argument(
            "--profile", default="casual", metavar="NAME", help="every request's floor"
        )
        parser.add_argument("--waiting", type=whole(0, 1000), default=16, metavar="N")
    keys = commands.add_parser("serve-key", help="keys by which the gateway is asked")
    acts = keys.add_subparsers(required=True, metavar="COMMAND")
    new = acts.add_parser("add", help="make a key and print it, once")
    new.add_argument("name")
    new.add_argument("--profile", default="casual", metavar="NAME", help="its floor")
    new.add_argument("--corpus", action="append", default=[], metavar="NAME")
    new.add_argument("--source", action="append", default=[], metavar="FILE")
    new.add_argument("--per-minute", type=whole(1, 100_000), default=120, metavar="N")
    new.add_argument("--review", action="store_true", help="of a reviewer, who asks nothing")
    new.set_defaults(run="serve_commands:add_serve_key")
    listed = acts.add_parser("list", help="the keys, without their secrets")
    listed.set_defaults(run="serve_commands:list_serve_keys")
    gone = acts.add_parser("revoke", help="forget a key")
    gone.add_argument("name")
    gone.set_defaults(run="serve_commands:revoke_serve_key")
    _add_reviews(commands.add_parser("review", help="answers that wait for a person"))


def _add_reviews(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_subparsers(required=True, metavar="COMMAND")
    listed = acts.add_parser("list", help="what waits, the longest first")
    listed.add_argument("--json", action="store_true")
    listed.set_defaults(run="review_commands:list_reviews")
    made = acts.add_parser("decide", help="let the supported statements leave, or nothing")
    made.add_argument("trace_id", metavar="TRACE")
    made.add_argument("decision", choices=("release", "refuse"))
    made.add_argument("--reviewer", required=True, metavar="NAME", help="whose key signs")
    made.add_argument("--reason", required=True, metavar="TEXT")
    made.set_defaults(run="review_commands:decide")
