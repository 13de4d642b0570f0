"""Evaluation: what runs of `certirag eval` measured, down to each claim."""

from ui.evaluation import evaluation_page
from ui.frame import begin, plain_errors

begin("evaluation")
with plain_errors():
    evaluation_page()
