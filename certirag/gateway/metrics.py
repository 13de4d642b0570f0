"""What is counted for Prometheus: names that are ours and numbers, and no word of anybody else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from certirag.gateway.refusals import CODES, Code

if TYPE_CHECKING:
    from certirag.answers.services import Stage
    from certirag.render import Presentation

# Where workers keep their counts, so that each of them can tell the sum; prometheus-client reads it
# when it is imported, which is why it is set before.
FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
_BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32)
# What is a failure of the service and not an answer to the caller: alerts count these.
FAILURES: Final[tuple[Code, ...]] = (
    "INTERNAL",
    "AUDIT_UNAVAILABLE",
    "VERIFIER_UNAVAILABLE",
    "MODEL_UNAVAILABLE",
    "OVERLOADED",
)


class Measures:
    """The counters of one gateway; of all its workers together where it has several."""

    def __init__(self) -> None:
        self._registry = own = CollectorRegistry()
        self.requests = Counter(
            "certirag_requests_total",
            "Requests by path, status and refusal code.",
            ("path", "status", "code"),
            registry=own,
        )
        self.seconds = Histogram(
            "certirag_request_seconds",
            "Seconds from request to response.",
            ("path",),
            buckets=_BUCKETS,
            registry=own,
        )
        self._stages = Histogram(
            "certirag_stage_seconds",
            "Seconds of each stage of an answer; 'turn' is the wait for the models.",
            ("stage",),
            buckets=_BUCKETS,
            registry=own,
        )
        self._answers = Counter(
            "certirag_answers_total",
            "Answers that were decided and logged, by decision and reason, refused ones too.",
            ("decision", "reason"),
            registry=own,
        )
        self._claims = Counter(
            "certirag_claims_total", "Claims of these answers by state.", ("state",), registry=own
        )
        self._pairs = Counter(
            "certirag_verifier_pairs_total",
            "Pairs of claim and sentence that the verifier scored for these answers.",
            registry=own,
        )
        self._indexes = Counter(
            "certirag_indexes_total",
            "Indexes asked for, by whether one was open already.",
            ("found",),
            registry=own,
        )
        self.places = Gauge(
            "certirag_places_taken",
            "Requests that are worked on or wait.",
            registry=own,
            multiprocess_mode="livesum",
        )
        self.room = Gauge(
            "certirag_places",
            "Requests that may be worked on or wait before more are refused.",
            registry=own,
            multiprocess_mode="livesum",
        )

    def begin(self, paths: Iterable[str]) -> None:
        """Count no failure of ours yet on each of *paths*, where the tools' failures are 200.

        Of a count that is first seen as 1, `increase` is 0 (Prometheus, "Avoid missing metrics"): the
        first fault of all would raise no alert.
        """
        for path in paths:
            for code in FAILURES:
                status = 200 if path == "/mcp" else CODES[code].status
                self.requests.labels(path, str(status), code)
        for state in ("verified", "unverified", "contradicted"):
            self._claims.labels(state)

    def page(self) -> bytes:
        """Return what Prometheus reads."""
        if FOLDER not in os.environ:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]  # it has no types
        return generate_latest(together)

    def around(self, stage: Stage) -> Stage:
        """Return *stage*, with the seconds of each counted."""

        @contextmanager
        def counted(name: str) -> Iterator[None]:
            with stage(name), self._stages.labels(name).time():
                yield

        return counted

    def answered(self, shown: Presentation) -> None:
        """Count an answer by what the gate says of it."""
        summary = shown.summary
        self._answers.labels(summary.decision, summary.reason_code).inc()
        for state, number in (
            ("verified", summary.verified),
            ("unverified", summary.unverified),
            ("contradicted", summary.blocked),
        ):
            self._claims.labels(state).inc(number)
        self._pairs.inc(sum(len(result.all_scores) for result in shown.record.verification))

    def index_found(self, kept: bool) -> None:
        """Count that an index was asked for, and whether it was *kept* open."""
        self._indexes.labels("open" if kept else "opened").inc()
