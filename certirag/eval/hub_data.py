"""Data sets of the Hugging Face hub, fetched where a user names one: `--data hub:OWNER/NAME[/FILE]`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from certirag.errors import InputError, MissingExtra

_PREFIX: Final = "hub:"


def local_data(data: Path) -> Path:
    """Return *data*, or where the file or the whole data set lies that ``hub:OWNER/NAME[/FILE]`` names.

    What was fetched stays in the hub's own cache, and is not fetched again. Nothing goes out but for
    such a name. Raises InputError for a name of another form, and where the hub does not give it;
    MissingExtra where huggingface_hub is not installed.
    """
    name = data.as_posix()
    if not name.startswith(_PREFIX):
        return data
    owner, _, rest = name.removeprefix(_PREFIX).partition("/")
    repository, _, file = rest.partition("/")
    if not owner or not repository:
        raise InputError(f"{name}: is no data set of the hub: name it as hub:OWNER/NAME[/FILE]")
    try:
        import huggingface_hub  # noqa: PLC0415  # heavy, and needed for such a name alone
        from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415
    except ImportError as error:
        message = f"{name}: needs huggingface_hub: pip install 'certirag[models]'"
        raise MissingExtra(message) from error
    whole = f"{owner}/{repository}"
    try:
        if file:
            return Path(huggingface_hub.hf_hub_download(whole, file, repo_type="dataset"))
        return Path(huggingface_hub.snapshot_download(whole, repo_type="dataset"))
    except (HfHubHTTPError, OSError, ValueError) as error:
        told = " ".join(str(error).split())[:200]
        message = f"{name}: the hub did not give it ({told}): check name, network and consent"
        raise InputError(message) from error
