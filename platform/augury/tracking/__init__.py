"""Records of runs in MLflow; the run folder holds them until they are sent."""

from augury.tracking.settings import Tracking
from augury.tracking.tracker import File, Tracker, send_pending

__all__ = ["File", "Tracker", "Tracking", "send_pending"]
