"""The manual: every page is short and found within two clicks from README.md, and every link leads somewhere."""
import re
import shutil
import subprocess
import unittest

import field

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages():
    """The Markdown files that git knows, and new ones that it does not ignore; without git or its history, all in the
    folders that have pages."""
    listed = None
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", field.SOURCE, "ls-files", "--cached", "--others", "--exclude-standard",
                                 "*.md"], capture_output=True, text=True, check=False)
    if listed and listed.returncode == 0:
        found = [field.SOURCE / name for name in listed.stdout.splitlines()]
    else:
        found = [*field.SOURCE.glob("*.md")]
        for folder in ("input", "jobs", "src", "tests", "tools"):
            found += (field.SOURCE / folder).rglob("*.md")
    return [page.resolve() for page in found if page.exists()]


def text_without_code(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def links(page):
    """(file, heading or empty) of each link to a file of the project."""
    for target in LINK.findall(text_without_code(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, heading = target.partition("#")
        yield (page.parent / path).resolve() if path else page, heading


def headings(page):
    """As links name them."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Pages(unittest.TestCase):
    def test_every_link_leads_to_a_file_and_a_heading(self):
        wrong = []
        for page in pages():
            for target, heading in links(page):
                if not target.exists() or (heading and heading not in headings(target)):
                    wrong.append(f"{page.relative_to(field.SOURCE)}: {target} {heading}")
        self.assertEqual(wrong, [])

    def test_no_page_is_long(self):
        lengths = {str(page.relative_to(field.SOURCE.resolve())): len(page.read_text().splitlines()) for page in pages()}
        self.assertLessEqual(lengths["README.md"], 170)
        generated = ("input/keys.md", "CHANGELOG.md")
        self.assertEqual({name for name, lines in lengths.items() if lines > 400 and name not in generated}, set())

    def test_every_page_is_found_within_two_clicks(self):
        readme = (field.SOURCE / "README.md").resolve()
        found = {readme}
        for _ in range(2):
            found |= {target for page in found if page.suffix == ".md" and page.exists() for target, _ in links(page)}
        self.assertEqual({str(page) for page in pages()} - {str(page) for page in found}, set())


if __name__ == "__main__":
    field.main()
