"""A batch over two nodes of a Ray cluster on this machine: spread, in order, and the same answers."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from integration_fixtures import FIXTURES

from certirag.cli.main import main
from certirag.errors import CertiRAGError, InputError
from certirag.eval.batch_engines import spread_over

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None and not os.environ.get("CERTIRAG_REQUIRE_ALL"),
    reason="Ray is not installed (pip install 'certirag[ray]', 80 MB)",
)


def test_without_ray_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line says what to install."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'certirag\[ray\]'"), spread_over("ray", 1):
        pass
    with pytest.raises(InputError, match="unknown engine 'dask': choose processes or ray"):
        spread_over("dask", 1)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start a cluster of two nodes with one CPU each, and join it."""
    import ray
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        nodes.add_node(num_cpus=1)
        ray.init(address=nodes.address, log_to_driver=False, configure_logging=False)
        nodes.wait_for_nodes()
        yield nodes
    finally:
        ray.shutdown()
        nodes.shutdown()


@needs_ray
@pytest.mark.slow
def test_work_is_spread_over_both_nodes_in_order(cluster) -> None:
    """Each node takes a part, and the results come as the parts stand; more workers than CPUs are refused."""
    import ray

    def where(part: int) -> tuple[int, str]:  # in here, so that it travels by value
        time.sleep(0.05)
        return part, ray.get_runtime_context().get_node_id()

    def failing(part: int) -> int:
        raise (InputError("this part is bad: mend it") if part else KeyError("inside"))

    with spread_over("ray", 2) as each:
        found = list(each(where, range(12)))
    assert [part for part, _ in found] == list(range(12))
    assert len({node for _, node in found}) == 2
    for part, said in ((1, r"\Athis part is bad: mend it\Z"), (0, r"worker failed \(KeyError\)")):
        with pytest.raises(CertiRAGError, match=said), spread_over("ray", 1) as each:
            list(each(failing, [part]))
    with (
        pytest.raises(InputError, match="--jobs 3: the Ray cluster has 2 CPUs"),
        spread_over("ray", 3),
    ):
        pass


@needs_ray
@pytest.mark.slow
def test_two_nodes_give_the_answers_of_one_process(cluster, tmp_path, monkeypatch) -> None:
    """Bit for bit, apart from times and names; every certificate checks, and the log is whole."""
    monkeypatch.setenv("CERTIRAG_HOME", str(tmp_path / "home"))
    index, questions = tmp_path / "index", tmp_path / "questions.jsonl"
    assert main(["ingest", str(FIXTURES / "corpora" / "policy"), "--index", str(index)]) == 0
    rows = (FIXTURES / "questions" / "policy.jsonl").read_text("utf-8").splitlines()[:6]
    questions.write_text("\n".join(rows) + "\n", "utf-8")
    given = ["--questions", str(questions), "--index", str(index)]
    said = {}
    for engine, jobs in (("processes", "1"), ("ray", "2")):
        out = tmp_path / engine
        more = ["--out", str(out), "--engine", engine, "--jobs", jobs]
        assert main(["eval", "batch", *given, *more]) == 0
        lines = map(json.loads, (out / "answers.jsonl").read_text("utf-8").splitlines())
        said[engine] = [(line["number"], line["said"]) for line in lines]
        exports = sorted((out / "answers").glob("*.json"))
        assert len(exports) == len(rows)
        assert main(["check", *map(str, exports)]) == 0
    assert said["ray"] == said["processes"]
    assert main(["audit", "verify"]) == 0
