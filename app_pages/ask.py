"""Ask: a question over a corpus, answered from its sentences alone."""

from ui.ask import ask_page
from ui.frame import begin, plain_errors

begin("ask")
with plain_errors():
    ask_page()
