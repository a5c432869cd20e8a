"""Puts the project's documents where mkdocs wants them: README as the first page, links between pages adjusted, notebooks
as pages with their outputs."""

import base64
import json
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Title and file of every page, in the order of the menu.
PAGES = [
    ("Start", "README.md"),
    ("Your own task", "docs/own-task.md"),
    ("Gallery", "docs/gallery.md"),
    ("Seeing what a run found", "docs/seeing.md"),
    ("Measuring", "docs/measuring.md"),
    ("Python", "docs/python.md"),
    ("Notebook: first run", "docs/notebooks/first-run.ipynb"),
    ("Notebook: coming from pyribs", "docs/notebooks/coming-from-pyribs.ipynb"),
    ("Notebook: your own environment", "docs/notebooks/your-own-environment.ipynb"),
    ("Notebook: an SB3 policy on fast tasks", "docs/notebooks/sb3-on-fast-tasks.ipynb"),
    ("Notebook: embedding policies you have", "docs/notebooks/embedding-policies.ipynb"),
    ("Descriptors", "docs/descriptors.md"),
    ("Methods", "docs/methods.md"),
    ("Settings", "docs/config-reference.md"),
    ("Racing", "docs/racing.md"),
    ("Run folders", "docs/run-folder.md"),
    ("Physics", "docs/physics.md"),
    ("Performance", "docs/performance.md"),
    ("Coming from pyribs", "docs/coming-from-pyribs.md"),
    ("Results", "docs/results.md"),
    ("Architecture", "ARCHITECTURE.md"),
    ("Contributing", "CONTRIBUTING.md"),
    ("Changes", "CHANGELOG.md"),
]
CONFIG = """site_name: autoqd
docs_dir: pages
use_directory_urls: false
theme:
  name: material
  font: false
  palette:
    - media: "(prefers-color-scheme: light)"
      scheme: default
      primary: indigo
    - media: "(prefers-color-scheme: dark)"
      scheme: slate
      primary: indigo
  features: [navigation.top, search.highlight, content.code.copy]
plugins: [search, offline]
markdown_extensions: [tables, fenced_code, toc]
validation:
  links:
    anchors: ignore
nav:
"""


def page_name(path: Path) -> str:
    if path.suffix == ".ipynb":
        return f"notebook-{path.stem}.md"
    return "index.md" if path == Path("README.md") else path.name.lower()


def known_pages() -> dict[Path, str]:
    """Every document: those of the menu, and others below docs/ that they may link to."""
    pages = {Path(file): page_name(Path(file)) for _, file in PAGES}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        relative = path.relative_to(ROOT)
        pages.setdefault(relative, "-".join(relative.parts[1:]).lower())
    return pages


def adjust(text: str, path: Path, pages: dict[Path, str]) -> str:
    """Links to other documents and pictures as the site has them; links to code become plain names."""

    def link(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return match.group(0)
        file, _, anchor = target.partition("#")
        place = Path(*(ROOT / path.parent / file).resolve().relative_to(ROOT).parts)
        if place in pages:
            return f"{mark}[{words}]({pages[place]}{'#' + anchor if anchor else ''})"
        if place.parts[:2] == ("docs", "images"):
            return f"{mark}[{words}](images/{place.name})"
        return words

    return re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", link, text)


def page_of_notebook(path: Path, images: Path) -> str:
    """A notebook as a page: its text, its code, and what the code printed and drew when it was last run."""
    parts = []
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for place, output in enumerate(cell["outputs"]):
            name = f"{path.stem}-{number}-{place}.png"
            parts.append(shown(output, images / name))
    parts.append(f"*This page is the notebook docs/notebooks/{path.name}, which the tests run.*")
    return "\n\n".join(parts) + "\n"


def shown(output: dict, picture: Path) -> str:
    """An output of a cell: a picture, markup, or text."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/png" in data:
        picture.write_bytes(base64.b64decode(data["image/png"]))
        return f"![what the code above draws](images/{picture.name})"
    if "text/html" in data:
        # Without empty lines, which would end the markup.
        return "\n".join(line for line in "".join(data["text/html"]).splitlines() if line.strip())
    return "```text\n" + "".join(data["text/plain"]).rstrip() + "\n```"


def main() -> None:
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    (target / "pages").mkdir(parents=True)
    shutil.copytree(ROOT / "docs/images", target / "pages/images")
    pages = known_pages()
    for path, name in pages.items():
        notebook = path.suffix == ".ipynb"
        images = target / "pages/images"
        text = page_of_notebook(ROOT / path, images) if notebook else (ROOT / path).read_text(encoding="utf-8")
        (target / "pages" / name).write_text(adjust(text, path, pages), encoding="utf-8")
    menu = "".join(f"  - {title!r}: {page_name(Path(file))}\n" for title, file in PAGES)
    (target / "mkdocs.yml").write_text(CONFIG + menu, encoding="utf-8")


if __name__ == "__main__":
    main()
