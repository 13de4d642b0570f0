"""From files to documents, chunks and sentence spans with exact offsets."""
