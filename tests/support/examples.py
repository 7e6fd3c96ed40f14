"""How many examples Hypothesis tries: as many as a test asks for, fewer under the sanitizers, more in a search."""

from hypothesis import settings


def examples(n, **options):
    """Settings with n examples where the profile has Hypothesis's own hundred, and in proportion where it has not."""
    return settings(max_examples=max(1, n * settings.default.max_examples // 100), **options)
