"""The steps, in the order of their numbers; a step that was released is never changed."""
