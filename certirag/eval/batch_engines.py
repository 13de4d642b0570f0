"""What a batch is spread over: processes of this machine, or the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, cast

from certirag.errors import CertiRAGError, InputError
from certirag.eval.resumable import processes

ENGINES: Final = ("processes", "ray")
# A `map` of two arguments: what measures, and the parts to be measured; it yields in their order.
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


def spread_over(engine: str, jobs: int) -> AbstractContextManager[Map]:
    """Return a context that gives a `map` over *jobs* workers of *engine*; they end with it.

    InputError where Ray is asked for and not there, or has fewer CPUs than *jobs*.
    """
    if engine == "processes":
        return cast("AbstractContextManager[Map]", processes(jobs))
    if engine == "ray":
        return on_ray(jobs)
    raise InputError(f"unknown engine {engine!r}: choose {' or '.join(ENGINES)}")


@contextmanager
def on_ray(jobs: int) -> Iterator[Map]:
    """Give a `map` over *jobs* actors, spread over the machines of the Ray cluster.

    The cluster is the one that this process has joined or RAY_ADDRESS names, else one of this machine
    alone. A worker keeps what it has loaded. A machine of it needs this version of the package, and
    every path that the work names.
    """
    try:
        import ray  # noqa: PLC0415  # an extra
        from ray.util import ActorPool  # noqa: PLC0415
    except ImportError as error:
        message = "--engine ray needs the package ray: pip install 'certirag[ray]'"
        raise InputError(message) from error
    joined = ray.is_initialized()
    if not joined:
        ray.init(log_to_driver=False, configure_logging=False)
    actors: list[Any] = []
    try:
        there = int(ray.cluster_resources().get("CPU", 0))
        if jobs > there:  # they would wait for a CPU for ever
            raise InputError(f"--jobs {jobs}: the Ray cluster has {there} CPUs: give so many")
        worker = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(_Worker)
        actors += [worker.remote() for _ in range(jobs)]
        pool = ActorPool(actors)

        def over_actors(measure: Callable[[Any], Any], parts: Iterable[Any]) -> Iterator[Any]:
            try:
                yield from pool.map(lambda actor, part: actor.measure.remote(measure, part), parts)
            except ray.exceptions.RayError as error:
                raise _told(error) from None

        yield over_actors
    finally:
        for actor in actors:
            ray.kill(actor)
        if not joined:
            ray.shutdown()


def _told(error: Exception) -> CertiRAGError:
    """Return what happened on another machine as one of the package's own errors, without its traceback."""
    cause = getattr(error, "cause", error)
    if isinstance(cause, CertiRAGError):
        return cause
    return CertiRAGError(f"a Ray worker failed ({type(cause).__name__}): run again, it goes on")


class _Worker:
    """One process of a cluster."""

    def measure(self, measure: Callable[[Any], Any], part: Any) -> Any:
        """Return *measure* of *part*, as if it ran here."""
        return measure(part)
