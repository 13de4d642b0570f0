"""What was answered before: asked for, verified, kept, erased, checked and replayed."""
