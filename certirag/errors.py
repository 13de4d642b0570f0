"""Every error that CertiRAG raises on purpose, one tree.

* CertiRAGError           exit code 2 at the command line unless a subclass says otherwise
  - InputError            what the user gave cannot be used (file, argument, JSON)
  - IngestError           a document could not be read; the others go on
  - CorpusError           an index is missing, broken or of another version
  - ModelError            a model file is missing, changed or unusable
  - MissingExtra          an optional package is not installed (says the command)
  - PolicyError           a policy cannot be built, or is unknown
  - VerifierError         the verifier did not answer
  - AuditError            the audit log refused or is broken: no answer is shown
  - CertificateError      signature, digest or structure of a certificate does not hold; exit 4
"""

from __future__ import annotations


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


class AuditError(CertiRAGError):
    """The audit log refused an entry or is broken; no answer may be shown."""


class CertificateError(CertiRAGError):
    """A certificate does not hold: signature, digest, structure or derivation."""

    exit_code = 4
