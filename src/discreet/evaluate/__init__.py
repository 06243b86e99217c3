"""How good a release is: distances, studies, reference shapes. For the data's keeper: it looks at true counts."""
