"""Every error that CertiRAG raises on purpose, one tree.

* CertiRAGError           exit code 2 at the command line unless a subclass says otherwise
  - InputError            what the user gave cannot be used (file, argument, JSON)
  - IngestError           a document could not be read; the others go on
  - CorpusError           an index is missing, broken or of another version
  - ModelError            a model file is missing, changed or unusable
  - MissingExtra          an optional package is not installed (says the command)
  - PolicyError           a policy cannot be built, or is unknown
  - VerifierError         the verifier did not answer
  - LanguageModelError    the language model gave no usable answer; its outcome says how
  - GroundingError        an answer cites or quotes what its sources do not hold; exit code 3
  - AuditError            the audit log refused or is broken: no answer is shown
  - CertificateError      signature, digest or structure of a certificate does not hold; exit 4
"""

from __future__ import annotations

from typing import Literal

# How a language model can fail: no connection, too late, too many requests, request refused by
# the server (4xx), failure in the server (5xx), the model declined, the answer was cut off, is
# no JSON, is JSON of another shape, or is empty.
ModelOutcome = Literal[
    "unreachable",
    "timed_out",
    "rate_limited",
    "rejected",
    "server_error",
    "refused",
    "truncated",
    "malformed",
    "wrong_schema",
    "empty",
]

# What is wrong with an answer that must quote its sources (second seed): a source that was not
# given, words that the source does not hold or that another one holds, a quote too short to point
# anywhere, a citation without a quote, a sentence without a citation, or marks that do not parse.
GroundingFault = Literal[
    "invented_source",
    "altered_quote",
    "misplaced_quote",
    "short_quote",
    "no_quote",
    "no_citation",
    "unreadable",
]


class CertiRAGError(Exception):
    """Root of the tree; ``str(error)`` is one line that names the input and the mend."""

    exit_code = 2


class InputError(CertiRAGError):
    """What the user gave cannot be used."""


class IngestError(CertiRAGError):
    """One document could not be read; its message says which and why."""


class CorpusError(CertiRAGError):
    """An index directory is missing, broken, or written by another version."""


class ModelError(CertiRAGError):
    """A model file is missing, differs from its recorded digest, or does not run."""


class MissingExtra(CertiRAGError):
    """An optional package is not installed; the message holds the install command."""


class PolicyError(CertiRAGError):
    """A policy is unknown or could not be built, so nothing may be verified under it."""


class VerifierError(CertiRAGError):
    """The verifier failed as a whole; single pairs that fail become the label ``error``."""


class LanguageModelError(CertiRAGError):
    """The language model gave no usable answer; the message is ours and quotes nothing of theirs."""

    def __init__(self, outcome: ModelOutcome, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome


class GroundingError(CertiRAGError):
    """An answer is refused as a whole; *offender* is the source, quote or sentence as written.

    The message quotes it, cut short: like *offender* it is text from outside, to be drawn inert.
    """

    exit_code = 3

    def __init__(self, fault: GroundingFault, offender: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault
        self.offender = offender


class AuditError(CertiRAGError):
    """The audit log refused an entry or is broken; no answer may be shown."""


class CertificateError(CertiRAGError):
    """A certificate does not hold: signature, digest, structure or derivation."""

    exit_code = 4
