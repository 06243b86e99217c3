// Guides before names of the library, and before records of what was decided, changed and reproduced.
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) =>
    score - (kind === "object" ? 12 : 0) - (/decisions|CHANGELOG|reproduction|errata|proofs/.test(docname) ? 12 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
