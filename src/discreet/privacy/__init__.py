"""Privacy as values: what is lost, between which tables, how firmly it is known; and how losses convert and add up."""

from __future__ import annotations

from discreet.privacy.parse import loss_of
from discreet.privacy.price import whole_price
from discreet.privacy.values import (
    GRADES,
    Approximate,
    Change,
    Concentrated,
    Grade,
    Guarantee,
    Loss,
    Neighbours,
    Pure,
    Remark,
    gaussian_only,
    pure_only,
)

__all__ = [
    "GRADES", "Approximate", "Change", "Concentrated", "Grade", "Guarantee", "Loss", "Neighbours", "Pure", "Remark",
    "gaussian_only", "loss_of", "pure_only", "whole_price",
]  # fmt: skip
