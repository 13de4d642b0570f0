"""From a draft or a sentence to atomic claims that stand alone; pure."""
