"""Lessons: made from analyses, written as documents, kept up to date, put away."""
