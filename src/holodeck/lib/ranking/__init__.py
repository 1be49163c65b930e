"""How a text is relevant to a question, by words and by numbers; both engines may build on it."""
