"""What a browser would make of a report."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path


class Page(HTMLParser):
    """What a browser would make of a page."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.stack: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))
        assert self.stack == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] != "style":
            self.text += f"{data} "

    def boxes(self, name: str) -> list[tuple[float, float, float, float]]:
        return [
            tuple(float(attributes[key] or 0) for key in ("x", "y", "width", "height"))  # type: ignore[misc]
            for tag, attributes in self.tags
            if tag == "rect" and attributes.get("class") == name
        ]

    def lines(self, name: str) -> list[dict[str, str | None]]:
        return [a for tag, a in self.tags if tag == "polyline" and a.get("class") == name]
