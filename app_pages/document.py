"""Document: one document of a corpus as it was read, opened from an answer or from Corpus."""

from ui.frame import begin, plain_errors
from ui.reader import document_page

begin("document")
with plain_errors():
    document_page()
