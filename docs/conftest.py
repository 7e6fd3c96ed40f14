"""Pages are run by ``tests/docs/test_pages.py``, which knows more than doctest; hooks need what builds the site."""

collect_ignore_glob = ["*.md", "*/hooks.py"]
