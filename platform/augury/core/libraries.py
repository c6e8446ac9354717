"""NumPy, Arrow, pandas and functions of SciPy, imported when something of them is first used.

Many commands read no table and draw no numbers: for them, importing these would take most of their
time. Type checkers see the libraries themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from augury.core.lazy import LazyModule

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq
    from scipy import special
else:
    np, npt = LazyModule("numpy"), LazyModule("numpy.typing")
    pa, pq = LazyModule("pyarrow"), LazyModule("pyarrow.parquet")
    pd, special = LazyModule("pandas"), LazyModule("scipy.special")

__all__ = ["np", "npt", "pa", "pd", "pq", "special"]
