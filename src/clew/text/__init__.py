"""Rules about text: terms, dates, sentences, frames. Pure."""
