"""What routing saves and what it costs: the same drafts at routed depths and at the closest look."""

from __future__ import annotations

import pytest
from integration_fixtures import WHOLE, Bench, drafts

from certirag.claims.compile import claims_from_draft
from certirag.core.selector import with_selectors
from certirag.eval.workload import CountingVerifier
from certirag.render import certify
from certirag.verification.candidates import choose_candidates
from certirag.verification.depth import verify_at_depths
from certirag.verification.routing import UNROUTED, route_claims

pytestmark = pytest.mark.slow


def test_routing_saves_work_and_costs_no_error(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fewer pairs are asked, and one claim is Verified that the closest look refuses."""
    services = bench.services
    settings = services.settings
    counts = {"routed": [0, 0], "closest": [0, 0]}
    depths: dict[str, int] = {}
    saved = []
    asked = drafts()[:: 3 if WHOLE else 9]
    for draft in asked:
        chunks = bench.index(draft["corpus"]).chunks()
        ir = claims_from_draft("", draft["text"], services.split, max_claims=settings.max_claims)
        candidates = choose_candidates(
            ir.claims,
            chunks,
            max_spans=settings.max_spans_per_claim,
            max_pairs=settings.max_pairs,
        )
        badges = {}
        routes = route_claims(candidates)
        for name, own in (("routed", routes), ("closest", [UNROUTED] * len(candidates))):
            verifier = CountingVerifier(services.verifier)
            found = verify_at_depths(candidates, own, verifier)
            located = with_selectors(chunks, found)
            decisions, _ = certify(ir.claims, found, located, services.policy)
            badges[name] = {d.claim_id for d in decisions if d.render_state == "VERIFIED"}
            counts[name][0] += verifier.pairs
            counts[name][1] += len(badges[name])
        for route in routes:
            depths[route.routing] = depths.get(route.routing, 0) + 1
        saved.append((draft["id"], badges["routed"] - badges["closest"]))
    share = 1 - counts["routed"][0] / counts["closest"][0]
    with capsys.disabled():
        print(f"\nclaims by depth: {depths}; pairs asked, badges: {counts}; saved {share:.1%}")
    # One true claim: "… may perhaps delay …" for "may delay", of which the closest look asks how sure.
    known = [("finance-08", {"c6"})] if any(draft["id"] == "finance-08" for draft in asked) else []
    assert [(name, more) for name, more in saved if more] == known
    assert counts["routed"][0] <= counts["closest"][0]
    assert counts["routed"][1] > 0
