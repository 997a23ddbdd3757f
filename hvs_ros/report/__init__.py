"""What a person sees of an episode: one HTML file that needs nothing else, and an index over the episodes of a run."""

from hvs_ros.report.index import INDEX_NAME, IndexEntry, IndexRun, write_index, write_runs
from hvs_ros.report.page import REPORT_NAME, knows_more, write_report

__all__ = [
    "INDEX_NAME",
    "REPORT_NAME",
    "IndexEntry",
    "IndexRun",
    "knows_more",
    "write_index",
    "write_report",
    "write_runs",
]
