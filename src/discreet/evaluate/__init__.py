"""How good a release is: distances, simulation, reference shapes. For the data's keeper: it looks at true counts."""
