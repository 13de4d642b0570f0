"""From a question to ranked chunks: BM25 and vectors, fused and reranked."""
