"""Audit: what was answered before, whether the log holds, and what has changed since."""

from ui.audit import audit_page
from ui.frame import begin, plain_errors

begin("audit")
with plain_errors():
    audit_page()
