"""Trust contract: what a badge says, and the rules in force."""

from ui.contract import contract_page
from ui.frame import begin, plain_errors

begin("contract")
with plain_errors():
    contract_page()
