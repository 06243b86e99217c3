"""The prover. It takes mechanisms and matrices from anywhere and knows nothing of how they were made."""

from discreet.certify.prove import Certificate, Witness, certify

__all__ = ["Certificate", "Witness", "certify"]
