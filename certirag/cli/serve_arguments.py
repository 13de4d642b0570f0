"""The arguments of the gateway's commands: what they serve, under what, and to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from certirag.cli.number_arguments import whole

if TYPE_CHECKING:
    import argparse

    Commands = argparse._SubParsersAction[Any]  # noqa: SLF001


def add_gateway(commands: Commands) -> None:
    """Add ``serve`` and ``serve-key``."""
    serving = commands.add_parser("serve", help="serve the HTTP gateway")
    serving.add_argument("--host", default="127.0.0.1", metavar="H")
    serving.add_argument("--port", type=whole(0, 65535), default=3000, metavar="P")
    serving.add_argument(
        "--profile", default="casual", metavar="NAME", help="every request's floor"
    )
    serving.add_argument("--waiting", type=whole(0, 1000), default=16, metavar="N")
    serving.add_argument(
        "--workers", type=whole(1, 64), default=1, metavar="N", help="processes that answer"
    )
    serving.set_defaults(run="serve_commands:serve")
    keys = commands.add_parser("serve-key", help="keys by which the gateway is asked")
    acts = keys.add_subparsers(required=True, metavar="COMMAND")
    new = acts.add_parser("add", help="make a key and print it, once")
    new.add_argument("name")
    new.add_argument("--profile", default="casual", metavar="NAME", help="its floor")
    new.add_argument("--corpus", action="append", default=[], metavar="NAME")
    new.add_argument("--source", action="append", default=[], metavar="FILE")
    new.add_argument("--per-minute", type=whole(1, 100_000), default=120, metavar="N")
    new.set_defaults(run="serve_commands:add_serve_key")
    listed = acts.add_parser("list", help="the keys, without their secrets")
    listed.set_defaults(run="serve_commands:list_serve_keys")
    gone = acts.add_parser("revoke", help="forget a key")
    gone.add_argument("name")
    gone.set_defaults(run="serve_commands:revoke_serve_key")
