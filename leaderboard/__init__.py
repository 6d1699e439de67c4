"""Leaderboard entries: results in, one strict JSON record out."""
