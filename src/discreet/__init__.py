"""discreet: tables of counts, published with exact differential privacy."""
