"""Tables larger than memory, and many machines: parts, the manifest that commits them, engines that run over them."""

from __future__ import annotations
