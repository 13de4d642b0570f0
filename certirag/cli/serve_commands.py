"""The commands of the gateway: serve it, and the keys by which it is asked."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import sys
from typing import TYPE_CHECKING

from certirag.bootstrap import build_services
from certirag.cli.output import note
from certirag.errors import InputError, MissingExtra
from certirag.gateway.access import KeyRecord, add_key, read_keys, revoke_key
from certirag.gateway.allowed import Corpora
from certirag.gateway.profiles import load_profile
from certirag.settings import Settings

if TYPE_CHECKING:
    from certirag.gateway.gated import Gate


def serve(options: argparse.Namespace, settings: Settings) -> int:
    """Serve the gateway until it is told to stop; requests under way are finished then."""
    try:
        import uvicorn  # noqa: PLC0415  # the extra 'gateway'

        from certirag.gateway.app import gateway_app  # noqa: PLC0415
        from certirag.gateway.around import REQUESTS  # noqa: PLC0415
    except ImportError as error:
        raise _missing(error, "gateway") from error
    keys = read_keys(settings.home)
    if keys is None and not _is_loopback(options.host):
        raise InputError(
            f"without keys the gateway listens on this machine alone, not on {options.host}: "
            "make one with certirag serve-key add NAME"
        )
    gate = _gate(options, settings)
    shown = f"[{options.host}]" if ":" in options.host else options.host
    note(f"gateway on http://{shown}:{options.port}, profile {gate.profile.name}")
    REQUESTS.addHandler(logging.StreamHandler(sys.stdout))
    REQUESTS.setLevel(logging.INFO)
    REQUESTS.propagate = False
    uvicorn.run(
        gateway_app(gate, keys, log_text=options.log_text),
        host=options.host,
        port=options.port,
        server_header=False,
        access_log=False,
        log_level="warning",
    )
    return 0


def serve_tools(options: argparse.Namespace, settings: Settings) -> int:
    """Serve the gateway's tools to the program that started this one, until it ends its input."""
    try:
        import anyio  # noqa: PLC0415  # the extra 'mcp'

        from certirag.gateway.mcp_tools import serve_standard_streams  # noqa: PLC0415
    except ImportError as error:
        raise _missing(error, "mcp") from error
    anyio.run(serve_standard_streams, _gate(options, settings))
    return 0


def _missing(error: ImportError, extra: str) -> MissingExtra:
    return MissingExtra(f"the gateway needs {error.name}: pip install 'certirag[{extra}]'")


def _gate(options: argparse.Namespace, settings: Settings) -> Gate:
    from certirag.gateway.gated import Gate  # noqa: PLC0415  # one of the extras
    from certirag.gateway.telemetry import export_traces  # noqa: PLC0415

    profile = load_profile(options.profile)
    if line := export_traces():
        note(line)
    services = build_services(settings)
    corpora = Corpora(settings.home / "indexes", services)
    return Gate(services, corpora, profile, options.waiting)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def add_serve_key(options: argparse.Namespace, settings: Settings) -> int:
    """Make a key and print it, once: only its digest is kept."""
    record = KeyRecord(
        name=options.name,
        sha256="",
        profile=options.profile,
        corpora=tuple(options.corpus),
        sources=tuple(options.source),
        per_minute=options.per_minute,
        use="review" if options.review else "ask",
    )
    print(add_key(settings.home, record))
    note("keep it now: it is not shown again; a running gateway takes it when it is started anew")
    return 0


def list_serve_keys(_options: argparse.Namespace, settings: Settings) -> int:
    """Print the keys by name with what each may do, never a secret."""
    for key in read_keys(settings.home) or ():
        of = ", ".join(key.corpora) or "every corpus"
        may = ", ".join(key.sources) or "every source"
        does = "decides on what waits" if key.use == "review" else f"{key.profile}, {of}, {may}"
        print(f"{key.name}: {does}, {key.per_minute} a minute")
    return 0


def revoke_serve_key(options: argparse.Namespace, settings: Settings) -> int:
    """Forget a key; the gateway has to be started anew."""
    revoke_key(settings.home, options.name)
    note("forgotten: a running gateway takes it until it is started anew")
    return 0
