"""Write assets/schemas/ from the types; run it when a type has changed."""

from __future__ import annotations

import json
from pathlib import Path

from certirag.proof.schemas import published_schemas

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "schemas"


def main() -> None:
    """Write one file per schema."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, schema in published_schemas().items():
        path = FOLDER / f"{name}.json"
        path.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", "utf-8")
        print(f"wrote {path.relative_to(FOLDER.parent.parent)}")


if __name__ == "__main__":
    main()
