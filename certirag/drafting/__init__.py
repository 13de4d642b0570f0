"""Evidence → a draft: quoted sentences, or what a language model wrote, read strictly; pure."""
