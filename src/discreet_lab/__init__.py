"""The published experiments, again, beside discreet: what each paper printed, what we find, and what we do better.

`experiments` holds a file for each group of them, run by `run` on the tables of `data` and shown by `page`; `samplers`,
`baselines` and `theory` hold what the papers made, for comparison: nothing that any of it draws is for release. The lab
lives in the repository only, imports `discreet`, and is never imported by it but for the command `discreet reproduce`.
"""
