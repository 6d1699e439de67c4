"""The leaderboard as a static site that works from a file and offline."""

from verisim_leaderboard.site.build import Built, build_site

__all__ = ["Built", "build_site"]
