"""The index: local files, exact cosine and BM25."""
