"""Scales, and the extreme points of the sets of private mechanisms, in exact arithmetic."""
