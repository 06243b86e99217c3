"""Other ways to the same end, in floats and simulated: the published pipelines, constructors and corrections."""
