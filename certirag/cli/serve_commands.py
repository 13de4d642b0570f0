"""The commands of the gateway: serve it, and the keys by which it is asked."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import os
import socket
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from certirag.bootstrap import build_services
from certirag.cli.output import complain, note
from certirag.errors import InputError, MissingExtra
from certirag.gateway.access import KeyRecord, add_key, read_keys, revoke_key
from certirag.gateway.allowed import Corpora
from certirag.gateway.profiles import load_profile
from certirag.gateway.together import Together
from certirag.gateway.workers import MOST_ENDED, WITHIN, Workers, leave_when_told
from certirag.settings import Settings

if TYPE_CHECKING:
    from certirag.answers.services import Services
    from certirag.gateway.gated import Gate


def serve(options: argparse.Namespace, settings: Settings) -> int:
    """Serve the gateway until it is told to stop; requests under way are finished then."""
    keys = read_keys(settings.home)
    if keys is None and not _is_loopback(options.host):
        raise InputError(
            f"without keys the gateway listens on this machine alone, not on {options.host}: "
            "make one with certirag serve-key add NAME"
        )
    if options.workers > 1 and not hasattr(os, "fork"):
        raise InputError(f"--workers {options.workers}: this system cannot fork: give 1")
    profile = load_profile(options.profile)
    with TemporaryDirectory(prefix="certirag-gateway-") as folder:
        if options.workers > 1:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # read when the client is imported
        try:
            import uvicorn  # noqa: PLC0415  # the extra 'gateway'
            from prometheus_client import multiprocess  # noqa: PLC0415

            from certirag.gateway.app import gateway_app  # noqa: PLC0415
            from certirag.gateway.around import REQUESTS  # noqa: PLC0415
        except ImportError as error:
            raise _missing(error, "gateway") from error
        services = build_services(settings)
        REQUESTS.addHandler(logging.StreamHandler(sys.stdout))
        REQUESTS.setLevel(logging.INFO)
        REQUESTS.propagate = False
        leave_when_told()
        listener = _listener(options.host, options.port)

        def run() -> None:
            gate = _gate(options, services, settings, Together(Path(folder, "together.sqlite3")))
            config = uvicorn.Config(
                gateway_app(gate, keys, log_text=options.log_text),
                server_header=False,
                access_log=False,
                log_level="warning",
            )
            uvicorn.Server(config).run(sockets=[listener])

        def ended(worker: int, how: str) -> None:
            multiprocess.mark_process_dead(worker)  # type: ignore[no-untyped-call]
            note(f"worker {worker} ended by itself ({how}); another takes its place")

        shown = f"[{options.host}]" if ":" in options.host else options.host
        processes = f", {options.workers} workers" if options.workers > 1 else ""
        port = listener.getsockname()[1]  # 0 asked for any that is free
        note(f"gateway on http://{shown}:{port}, profile {profile.name}{processes}")
        if options.workers == 1:
            run()
        elif not Workers(listener, run, ended).run(options.workers):
            return complain(
                f"{MOST_ENDED} workers ended by themselves within {WITHIN:.0f} seconds, so the "
                "gateway has stopped: see the lines above, and the memory of the machine",
                2,
            )
    return 0


def serve_tools(options: argparse.Namespace, settings: Settings) -> int:
    """Serve the gateway's tools to the program that started this one, until it ends its input."""
    try:
        import anyio  # noqa: PLC0415  # the extra 'mcp'

        from certirag.gateway.mcp_tools import serve_standard_streams  # noqa: PLC0415
    except ImportError as error:
        raise _missing(error, "mcp") from error
    load_profile(options.profile)  # an unknown one is said before the networks are opened
    anyio.run(
        serve_standard_streams, _gate(options, build_services(settings), settings, Together())
    )
    return 0


def _missing(error: ImportError, extra: str) -> MissingExtra:
    return MissingExtra(f"the gateway needs {error.name}: pip install 'certirag[{extra}]'")


def _gate(
    options: argparse.Namespace, services: Services, settings: Settings, together: Together
) -> Gate:
    from certirag.gateway.gated import Gate  # noqa: PLC0415  # one of the extras
    from certirag.gateway.telemetry import export_traces  # noqa: PLC0415

    if line := export_traces():
        note(line)
    corpora = Corpora(settings.home / "indexes", services)
    return Gate(services, corpora, load_profile(options.profile), options.waiting, together)


def _listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; InputError where it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{host}, port {port}: {reason}: give another --host or --port") from error


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
