"""Check a draft: somebody else's answer, claim by claim."""

from ui.ask import draft_page
from ui.frame import begin, plain_errors

begin("draft")
with plain_errors():
    draft_page()
