"""The spot check on a page of its own, for `test_spot_check_keys.py`."""

from ui.frame import plain_errors
from ui.inert import draw_style
from ui.spot_check import draw_spot_check

draw_style()
with plain_errors():
    draw_spot_check()
