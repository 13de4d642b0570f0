"""Corpus: documents, passages, and what was not read."""

from ui.corpus import corpus_page
from ui.frame import begin, plain_errors

begin("corpus")
with plain_errors():
    corpus_page()
