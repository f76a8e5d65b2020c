package parse

import "flag"

// rewriteCorpus rewrites the pinned errors of the oracle corpus.
var rewriteCorpus = flag.Bool("rewrite-corpus", false, "rewrite testdata/oracle_corpus.errors")
