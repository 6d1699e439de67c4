"""Statistics over scores that are already computed: tests, effect sizes, power, robustness, size and agreement.

The arithmetic is scipy's and statsmodels'; what stands here is which test is used, on what, and what is undefined.
"""

from verisim_leaderboard.statistics.paired import PairedTest, bootstrap_interval, holm, paired_test
from verisim_leaderboard.statistics.power import detectable_difference
from verisim_leaderboard.statistics.robustness import level_area
from verisim_leaderboard.statistics.size import Regression, SizeEffect, SizePoint, degradation_by_size

__all__ = [
    "PairedTest",
    "Regression",
    "SizeEffect",
    "SizePoint",
    "bootstrap_interval",
    "degradation_by_size",
    "detectable_difference",
    "holm",
    "level_area",
    "paired_test",
]
